/** Participants: search, their state in the directory and here, and what can be done about them. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { z } from "zod";
import { participantsSchema } from "../participant_routes.ts";
import { Day, More, type PartProps, queryOf, Read, SearchForm, State } from "../../../console/parts.tsx";
import { Changes, TableCard } from "./parts.tsx";
import { phrase, type PlainKey } from "./phrase.ts";
import type { Visit } from "../../../console/visit.ts";

type Participant = z.infer<typeof participantsSchema>["Data"]["Participant"][number];

export async function participantsPage(
  visit: Visit,
  search: string,
  after: string | undefined,
): Promise<JSX.Element> {
  const { language } = visit;
  const path = `/operations/participants${queryOf({ search, after })}`;
  const answer = await visit.read(path, participantsSchema);
  return (
    <>
      <SearchForm
        language={language}
        action="/console/participants"
        label={phrase(language, "participants.search")}
        value={search}
      />
      <Read visit={visit} answer={answer}>
        {({ Data: { Participant: found, After } }) => (
          <>
            <Found visit={visit} one={found} />
            <More visit={visit} path="/console/participants" query={{ search, after: After }} />
          </>
        )}
      </Read>
    </>
  );
}

function Found({ visit, one: found }: PartProps<readonly Participant[]>): JSX.Element {
  const { language } = visit;
  return (
    <TableCard
      language={language}
      name="participants.title"
      none="participants.none"
      rows={found}
      columns={{
        "column.participant": (one) => <Name one={one} />,
        "column.role": ({ Role }) => phrase(language, Role === "PISP" ? "role.tpp" : "role.bank"),
        "column.state": (one) => <States visit={visit} one={one} />,
        "column.updated": ({ UpdateDateTime: at }) => <Day language={language} at={at} />,
        "column.changes": (one) => <ParticipantChanges visit={visit} one={one} />,
      }}
    />
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

export function States({ visit: { language }, one }: PartProps<Participant>): JSX.Element {
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

export function ParticipantChanges({ visit, one }: PartProps<Participant>): JSX.Element | null {
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
