/** Participants: search, their state in the directory and here, and what can be done about them. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { z } from "zod";
import { formatDay } from "../../../pages/formats.ts";
import { participantsSchema } from "../participant_routes.ts";
import { More, Read, SearchForm, State } from "../../../console/parts.tsx";
import { Changes, Done, Table } from "./parts.tsx";
import { phrase, type PlainKey } from "./phrase.ts";
import type { Visit } from "../../../console/visit.ts";

type Participant = z.infer<typeof participantsSchema>["Data"]["Participant"][number];

export async function participantsPage(
  visit: Visit,
  search: string,
  after: string | undefined,
): Promise<JSX.Element> {
  const { language } = visit;
  const query = new URLSearchParams({
    ...(search === "" ? {} : { search }),
    ...(after === undefined ? {} : { after }),
  });
  const answer = await visit.read(`/operations/participants?${query}`, participantsSchema);
  return (
    <>
      <h1>{phrase(language, "participants.title")}</h1>
      <Done visit={visit} />
      <SearchForm
        language={language}
        action="/console/participants"
        label={phrase(language, "participants.search")}
        value={search}
      />
      <Read visit={visit} answer={answer}>
        {({ Data: { Participant: found, After } }) => (
          <>
            {found.length === 0
              ? <p class="card">{phrase(language, "participants.none")}</p>
              : <Found visit={visit} found={found} />}
            <More visit={visit} path="/console/participants" query={{ search, after: After }} />
          </>
        )}
      </Read>
    </>
  );
}

function Found(
  { visit, found }: { readonly visit: Visit; readonly found: readonly Participant[] },
): JSX.Element {
  const { language } = visit;
  return (
    <div class="card">
      <Table
        language={language}
        name="participants.title"
        heads={["column.participant", "column.role", "column.state", "column.updated", "column.changes"]}
        rows={found.map((one) => [
          <Name one={one} />,
          phrase(language, one.Role === "PISP" ? "role.tpp" : "role.bank"),
          <States visit={visit} one={one} />,
          <time datetime={one.UpdateDateTime}>{formatDay(language, Date.parse(one.UpdateDateTime))}</time>,
          <ParticipantChanges visit={visit} one={one} />,
        ])}
      />
    </div>
  );
}

function Name({ one }: { readonly one: Participant }): JSX.Element {
  return (
    <>
      <a href={`/console/participants/${encodeURIComponent(one.ClientId)}`}>
        <bdi>{one.OrganisationName}</bdi> · <bdi>{one.SoftwareName}</bdi>
      </a>
      <code class="detail" dir="ltr">{one.OrganisationId}</code>
      <code class="detail" dir="ltr">{one.ClientId}</code>
    </>
  );
}

const DIRECTORY_STATES: Readonly<Record<string, PlainKey>> = {
  active: "directory.active",
  suspended: "directory.suspended",
  withdrawn: "directory.withdrawn",
  unlisted: "directory.unlisted",
  unknown: "directory.unknown",
};

interface RowProps {
  readonly visit: Visit;
  readonly one: Participant;
}

export function States({ visit: { language }, one }: RowProps): JSX.Element {
  const known = DIRECTORY_STATES[one.DirectoryStatus];
  const blocks: readonly (readonly [boolean, PlainKey])[] = [
    [one.OrganisationBlocked, "state.organisationBlocked"],
    [one.SoftwareBlocked, "state.softwareBlocked"],
  ];
  return (
    <>
      <State
        is={one.DirectoryStatus === "active" ? "good" : "bad"}
        words={known === undefined ? one.DirectoryStatus : phrase(language, known)}
      />
      {blocks.filter(([is]) => is).map(([, name]) => <State is="bad" words={phrase(language, name)} />)}
    </>
  );
}

export function ParticipantChanges({ visit, one }: RowProps): JSX.Element | null {
  const organisation = `/organisations/${encodeURIComponent(one.OrganisationId)}`;
  const software = `/software/${encodeURIComponent(one.ClientId)}`;
  return (
    <Changes
      visit={visit}
      links={[
        one.OrganisationBlocked
          ? [`${organisation}/unblock`, "link.unblockOrganisation"]
          : [`${organisation}/block`, "link.blockOrganisation"],
        one.SoftwareBlocked
          ? [`${software}/unblock`, "link.unblockSoftware"]
          : [`${software}/block`, "link.blockSoftware"],
        [`${software}/revoke-tokens`, "link.revoke"],
      ]}
    />
  );
}
