/** The first page of the directory's console: every participant, by a part of a name or id. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { type Language, LOCALES } from "../../pages/language.ts";
import { Instant, NamedTable, SearchForm, type SortHead, State } from "../../console/parts.tsx";
import type { Visit } from "../../console/visit.ts";
import type { Participant } from "../participants/participant.ts";
import { dateTime } from "../http/participant_representation.ts";
import { Done, Status } from "./parts.tsx";
import { phrase, words } from "./phrase.ts";

/** More would make a page too long to read. */
const MAX_SHOWN = 100;
const DAY_MS = 86_400_000;
/** A statement that ends within this time is marked, as certificates are. */
const SOON_MS = 30 * DAY_MS;

export interface ParticipantsView {
  readonly all: readonly Participant[];
  readonly search: string;
  /** By the name of the organisation, or by the end of the statement. */
  readonly sort: "name" | "end";
  /** How long a statement is valid, days. */
  readonly statementDays: number;
  /** Milliseconds. */
  readonly now: number;
  /** When the copy was taken, if the database is a restored one that is not confirmed. Milliseconds. */
  readonly restoredAt: number | undefined;
}

export function ParticipantsPage(
  { visit, view }: { readonly visit: Visit; readonly view: ParticipantsView },
): JSX.Element {
  const { language } = visit;
  const { search, restoredAt } = view;
  const found = view.all.filter((one) => matches(one, search.toLowerCase())).toSorted(
    orderOf(view, language),
  );
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
        : <Found visit={visit} view={view} found={found.slice(0, MAX_SHOWN)} />}
      {found.length > MAX_SHOWN ? <p>{phrase(language, "participants.more")}</p> : null}
    </>
  );
}

function orderOf(
  view: ParticipantsView,
  language: Language,
): (one: Participant, other: Participant) => number {
  const byName = (one: Participant, other: Participant): number =>
    one.orgName.localeCompare(other.orgName, LOCALES[language]) || one.orgId.localeCompare(other.orgId);
  if (view.sort === "name") return byName;
  return (one, other) =>
    (endOf(view, one) ?? Infinity) - (endOf(view, other) ?? Infinity) || byName(one, other);
}

/** When the statement of active software ends, milliseconds. */
function endOf({ statementDays }: ParticipantsView, { software }: Participant): number | undefined {
  if (software.statementIat === 0 || software.status !== "Active") return undefined;
  return software.statementIat * 1000 + statementDays * DAY_MS;
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
  readonly view: ParticipantsView;
  readonly found: readonly Participant[];
}

function Found({ visit, view, found }: FoundProps): JSX.Element {
  const { language } = visit;
  const sorted = (name: "column.organisation" | "column.statementEnd", sort: "name" | "end"): SortHead => ({
    name: words(language, name),
    href: `/console?${new URLSearchParams({ ...(view.search === "" ? {} : { search: view.search }), sort })}`,
    isSorted: view.sort === sort,
  });
  return (
    <div class="card">
      <NamedTable
        name={words(language, "participants.title")}
        rows={found}
        columns={[
          [sorted("column.organisation", "name"), (one) => <Name one={one} />],
          [words(language, "column.role"), ({ role }) => phrase(language, `role.${role}`)],
          [words(language, "column.status"), ({ status }) => <Status language={language} is={status} />],
          [
            words(language, "column.software"),
            (one) => <Status language={language} is={one.software.status} />,
          ],
          [
            sorted("column.statementEnd", "end"),
            (one) => <End visit={visit} at={endOf(view, one)} now={view.now} />,
          ],
        ]}
      />
    </div>
  );
}

function End(
  { visit, at, now }: { readonly visit: Visit; readonly at: number | undefined; readonly now: number },
): JSX.Element {
  if (at === undefined) return <>{phrase(visit.language, "participant.noStatement")}</>;
  return (
    <>
      <Instant visit={visit} at={dateTime(at)} />
      {at - now < SOON_MS ? <State is="warn" words={phrase(visit.language, "status.soon")} /> : null}
    </>
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
