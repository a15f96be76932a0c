/** The first page of the directory's console: every participant, by a part of a name or id. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { Instant, NamedTable, SearchForm, State } from "../../console/parts.tsx";
import type { Visit } from "../../console/visit.ts";
import type { Participant } from "../participants/participant.ts";
import { dateTime } from "../http/participant_representation.ts";
import { Done } from "./done.tsx";
import { phrase, words } from "./phrase.ts";

/** More would make a page too long to read. */
const MAX_SHOWN = 100;

export interface ParticipantsView {
  readonly all: readonly Participant[];
  readonly search: string;
  /** When the copy was taken, if the database is a restored one that is not confirmed. Milliseconds. */
  readonly restoredAt: number | undefined;
}

export function ParticipantsPage(
  { visit, view }: { readonly visit: Visit; readonly view: ParticipantsView },
): JSX.Element {
  const { language } = visit;
  const { search, restoredAt } = view;
  const found = view.all.filter((one) => matches(one, search.toLowerCase()));
  return (
    <>
      <h1>{phrase(language, "participants.title")}</h1>
      <Done visit={visit} />
      {restoredAt === undefined ? null : <Restored visit={visit} at={restoredAt} />}
      <SearchForm
        language={language}
        action="/console"
        label={phrase(language, "participants.search")}
        value={search}
      />
      {found.length === 0
        ? <p class="card">{phrase(language, "participants.none")}</p>
        : <Found visit={visit} found={found.slice(0, MAX_SHOWN)} />}
      {found.length > MAX_SHOWN ? <p>{phrase(language, "participants.more")}</p> : null}
    </>
  );
}

function matches({ orgId, orgName, software }: Participant, search: string): boolean {
  return [orgId, orgName, software.clientId, software.clientName].some((text) =>
    text.toLowerCase().includes(search)
  );
}

function Restored({ visit: { language }, at }: { readonly visit: Visit; readonly at: number }): JSX.Element {
  const time = <Instant visit={{ language }} at={dateTime(at)} />;
  return (
    <div class="notice" role="alert">
      <p>{phrase(language, "restored.lead", { time })}</p>
      <p>
        <a href="/console/restored/confirm">{phrase(language, "change.restored")}</a>
      </p>
    </div>
  );
}

interface FoundProps {
  readonly visit: Visit;
  readonly found: readonly Participant[];
}

function Found({ visit, found }: FoundProps): JSX.Element {
  const { language } = visit;
  return (
    <div class="card">
      <NamedTable
        name={words(language, "participants.title")}
        heads={[
          words(language, "column.organisation"),
          words(language, "column.role"),
          words(language, "column.status"),
          words(language, "column.software"),
          words(language, "column.statement"),
        ]}
        rows={found.map((one) => [
          <Name one={one} />,
          phrase(language, `role.${one.role}`),
          <State
            is={one.status === "Active" ? "good" : "bad"}
            words={phrase(language, `status.${one.status}`)}
          />,
          <State
            is={one.software.status === "Active" ? "good" : "bad"}
            words={phrase(language, `status.${one.software.status}`)}
          />,
          one.software.statementIat === 0
            ? phrase(language, "participant.noStatement")
            : <Instant visit={visit} at={dateTime(one.software.statementIat * 1000)} />,
        ])}
      />
    </div>
  );
}

function Name({ one: { orgId, orgName, software } }: { readonly one: Participant }): JSX.Element {
  return (
    <>
      <a href={`/console/participants/${orgId}`}>
        <bdi>{orgName}</bdi>
      </a>
      <span class="detail">
        <code dir="ltr">{orgId}</code> · <bdi>{software.clientName}</bdi>
      </span>
    </>
  );
}
