/** A participant: its registration, addresses, keys and certificates, and its last use. */
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import type { z } from "zod";
import { Fact } from "../../../pages/fact.tsx";
import { formatDay } from "../../../pages/formats.ts";
import { Instant, Read, State } from "../../../console/parts.tsx";
import type { Visit } from "../../../console/visit.ts";
import { participantDetailSchema } from "../participant_detail_routes.ts";
import { ParticipantChanges, States } from "./participants_page.tsx";
import { Table } from "./parts.tsx";
import { phrase } from "./phrase.ts";

type Detail = z.infer<typeof participantDetailSchema>["Data"];

const DAY_MS = 86_400_000;
/** An end is shown as near in these last days. */
const NEAR_DAYS = 30;

export async function participantPage(visit: Visit, id: string, now: number): Promise<JSX.Element> {
  const path = `/operations/participants/${encodeURIComponent(id)}`;
  return (
    <>
      <h1>{phrase(visit.language, "participant.title")}</h1>
      <Read visit={visit} answer={await visit.read(path, participantDetailSchema)}>
        {({ Data: one }) => (
          <>
            <Facts visit={visit} one={one} now={now} />
            <Keys visit={visit} one={one} now={now} />
          </>
        )}
      </Read>
    </>
  );
}

interface Props {
  readonly visit: Visit;
  readonly one: Detail;
  readonly now: number;
}

function Facts({ visit, one, now }: Props): JSX.Element {
  const { language } = visit;
  const { StatementUntilDateTime: until, LastUseDate: used } = one;
  return (
    <section class="card">
      <h2>
        <bdi>{one.OrganisationName}</bdi> · <bdi>{one.SoftwareName}</bdi>
      </h2>
      <dl class="facts">
        <Fact name={phrase(language, "column.state")}>
          <States visit={visit} one={one} />
        </Fact>
        <Fact name={phrase(language, "column.role")}>
          {phrase(language, one.Role === "PISP" ? "role.tpp" : "role.bank")}
        </Fact>
        <Fact name={phrase(language, "participant.ids")}>
          <code dir="ltr">{one.OrganisationId}</code> <code dir="ltr">{one.ClientId}</code>
        </Fact>
        <Fact name={phrase(language, "participant.lastUse")}>
          {used === undefined ? phrase(language, "participant.unused") : dayOf(visit, used)}
        </Fact>
        <Fact name={phrase(language, "participant.registered")}>
          <Instant visit={visit} at={one.RegistrationDateTime} />
        </Fact>
        <Fact name={phrase(language, "column.updated")}>
          <Instant visit={visit} at={one.UpdateDateTime} />
        </Fact>
        <Fact name={phrase(language, "participant.statementUntil")}>
          {until === undefined ? "–" : <End visit={visit} at={until} now={now} />}
        </Fact>
        <Fact name={phrase(language, "column.redirects")}>{addresses(one.RedirectUri)}</Fact>
        <Fact name={phrase(language, "participant.addresses")}>
          {addresses([one.JwksUri, one.PaymentOrdersUri, one.EventNotificationUri])}
        </Fact>
      </dl>
      <ParticipantChanges visit={visit} one={one} />
    </section>
  );
}

function dayOf({ language }: Visit, day: string): Child {
  return <time datetime={day}>{formatDay(language, Date.parse(day))}</time>;
}

function addresses(all: readonly (string | undefined)[]): Child {
  return all.filter((one) => one !== undefined).map((one) => <span class="detail" dir="ltr">{one}</span>);
}

function Keys({ visit, one: { Key: keys }, now }: Props): JSX.Element {
  const { language } = visit;
  return (
    <section class="card">
      <h2>{phrase(language, "participant.keys")}</h2>
      {keys === undefined ? <p>{phrase(language, "participant.keysUnread")}</p> : (
        <Table
          language={language}
          name="participant.keys"
          heads={["column.key", "column.use", "column.certificate"]}
          rows={keys.map(({ KeyId, Use, CertificateUntilDateTime }) => [
            <code dir="ltr">{KeyId}</code>,
            phrase(language, Use === "tls" ? "participant.tls" : `keys.${Use}`),
            <End visit={visit} at={CertificateUntilDateTime} now={now} />,
          ])}
        />
      )}
    </section>
  );
}

/** An end that is near or past is marked. */
function End(
  { visit, at, now }: { readonly visit: Visit; readonly at: string; readonly now: number },
): JSX.Element {
  const left = Date.parse(at) - now;
  const name = left <= 0 ? "participant.expired" : "participant.expiresSoon";
  return (
    <>
      <Instant visit={visit} at={at} />{" "}
      {left > NEAR_DAYS * DAY_MS ? null : <State is="bad" words={phrase(visit.language, name)} />}
    </>
  );
}
