/** A participant: its registration, addresses, keys and certificates, and its last use. */
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import type { z } from "zod";
import { Fact } from "../../../pages/fact.tsx";
import { Day, Instant, Read, State } from "../../../console/parts.tsx";
import type { Visit } from "../../../console/visit.ts";
import { controlsSchema } from "../control_representation.ts";
import { historySchema } from "../history_routes.ts";
import { participantDetailSchema } from "../participant_detail_routes.ts";
import { ParticipantChanges, States } from "./participants_page.tsx";
import { Actor, Table } from "./parts.tsx";
import { phrase } from "./phrase.ts";
import { readPages } from "./reports_page.tsx";

type Detail = z.infer<typeof participantDetailSchema>["Data"];

const DAY_MS = 86_400_000;
/** An end is shown as near in these last days. */
const NEAR_DAYS = 30;

export async function participantPage(visit: Visit, id: string, now: number): Promise<JSX.Element> {
  const path = `/operations/participants/${encodeURIComponent(id)}`;
  const answer = await visit.read(path, participantDetailSchema);
  const blocks = answer.ok ? await blocksOf(visit, answer.value.Data) : [];
  return (
    <Read visit={visit} answer={answer}>
      {({ Data: one }) => (
        <>
          {blocks}
          <Facts visit={visit} one={one} now={now} />
          <Keys visit={visit} one={one} now={now} />
        </>
      )}
    </Read>
  );
}

/** Who blocked the participant, when and, for who may read histories, why. */
async function blocksOf(visit: Visit, one: Detail): Promise<readonly JSX.Element[]> {
  if (!one.OrganisationBlocked && !one.SoftwareBlocked) return [];
  const answer = await visit.read("/operations/controls", controlsSchema);
  const found = answer.ok ? answer.value.Data.Block : [];
  const own = found.filter(({ Kind, Id }) =>
    Id === (Kind === "organisation" ? one.OrganisationId : one.ClientId)
  );
  return await Promise.all(own.map(async ({ Kind, Id, SinceDateTime, By }) => {
    const subject = `${Kind} ${Id}`;
    const mayRead = visit.may("GET /operations/histories/{subject}");
    const reason = mayRead ? await reasonOf(visit, subject) : undefined;
    const name = Kind === "organisation" ? "state.organisationBlocked" : "state.softwareBlocked";
    return (
      <div class="notice">
        <p>
          <strong>{phrase(visit.language, name)}</strong> · <Actor language={visit.language} actor={By} /> ·
          {" "}
          <Instant visit={visit} at={SinceDateTime} />
        </p>
        {reason === undefined ? null : <p dir="auto">{reason}</p>}
        {mayRead
          ? (
            <p>
              <a href={`/console/audit?${new URLSearchParams({ subject })}`}>
                {phrase(visit.language, "participant.history")}
              </a>
            </p>
          )
          : null}
      </div>
    );
  }));
}

/** The reason of the newest block. The history begins with the oldest entry. */
async function reasonOf(visit: Visit, subject: string): Promise<string | undefined> {
  let reason: string | undefined;
  for await (
    const answer of readPages(visit, `/operations/histories/${encodeURIComponent(subject)}`, historySchema)
  ) {
    if (!answer.ok) return undefined; // an older block may have another reason
    const { Entry } = answer.value.Data;
    reason = Entry.findLast(({ Event }) => Event === "participant.blocked")?.Reason ?? reason;
  }
  return reason;
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
          {used ? <Day language={language} at={used} /> : phrase(language, "participant.unused")}
        </Fact>
        <Fact name={phrase(language, "participant.registered")}>
          <Instant visit={visit} at={one.RegistrationDateTime} />
        </Fact>
        <Fact name={phrase(language, "column.updated")}>
          <Instant visit={visit} at={one.UpdateDateTime} />
        </Fact>
        <Fact name={phrase(language, "participant.statementUntil")}>
          {until === undefined ? "–" : drawEnd(visit, until, now)}
        </Fact>
        <Fact name={phrase(language, "column.redirects")}>{addresses(one.RedirectUri)}</Fact>
        <Fact name={phrase(language, "participant.addresses")}>
          {addresses([one.JwksUri, one.PaymentOrdersUri, one.EventNotificationUri])}
        </Fact>
      </dl>
      <Further visit={visit} one={one} />
      <ParticipantChanges visit={visit} one={one} />
    </section>
  );
}

/** What it did here, and what was done about it. */
function Further({ visit, one }: Pick<Props, "visit" | "one">): JSX.Element {
  const [kind, id] = one.Role === "PISP" ? ["tpps", one.ClientId] : ["banks", one.OrganisationId];
  const subject = one.Role === "PISP" ? `software ${id}` : `bank ${id}`;
  return (
    <ul class="changes">
      <li>
        <a href={`/console/reports?${new URLSearchParams({ kind, id })}`}>
          {phrase(visit.language, "reports.title")}
        </a>
      </li>
      {visit.may("GET /console/audit")
        ? (
          <li>
            <a href={`/console/audit?${new URLSearchParams({ subject })}`}>
              {phrase(visit.language, "participant.history")}
            </a>
          </li>
        )
        : null}
    </ul>
  );
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
          rows={keys}
          columns={{
            "column.key": ({ KeyId }) => <code dir="ltr">{KeyId}</code>,
            "column.use": ({ Use }) => phrase(language, Use === "tls" ? "participant.tls" : `keys.${Use}`),
            "column.certificate": (key) => drawEnd(visit, key.CertificateUntilDateTime, now),
          }}
        />
      )}
    </section>
  );
}

/** An end that is near or past is marked. */
function drawEnd(visit: Visit, at: string, now: number): JSX.Element {
  const left = Date.parse(at) - now;
  const name = left <= 0 ? "participant.expired" : "participant.expiresSoon";
  return (
    <>
      <Instant visit={visit} at={at} />{" "}
      {left > NEAR_DAYS * DAY_MS ? null : <State is="bad" words={phrase(visit.language, name)} />}
    </>
  );
}
