/** Who did what: the history of one subject, or every entry for auditors. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { z } from "zod";
import { historySchema } from "../history_routes.ts";
import { eventWords } from "./event_words.ts";
import { Instant, More, Read } from "../../../console/parts.tsx";
import { Table } from "./parts.tsx";
import { phrase as commonPhrase } from "../../../console/phrase.ts";
import { phrase } from "./phrase.ts";
import type { Visit } from "../../../console/visit.ts";

type Entry = z.infer<typeof historySchema>["Data"]["Entry"][number];

export interface HistoryQuery {
  readonly subject: string;
  readonly actor: string;
  readonly event: string;
  readonly after: string | undefined;
}

export async function historyPage(visit: Visit, query: HistoryQuery): Promise<JSX.Element> {
  const { language } = visit;
  const readsAll = visit.may("GET /operations/audit");
  return (
    <>
      <h1>{phrase(language, "audit.title")}</h1>
      <p class="lead">
        {readsAll
          ? phrase(language, "audit.lead", { command: <code dir="ltr">deno task ops audit</code> })
          : phrase(language, "audit.leadSubject")}
      </p>
      <form class="search" role="search" method="get" action="/console/audit">
        <Filter visit={visit} name="subject" value={query.subject} isRequired={!readsAll} />
        <Filter visit={visit} name="actor" value={query.actor} />
        <Filter visit={visit} name="event" value={query.event} />
        <button type="submit">{commonPhrase(language, "list.search")}</button>
      </form>
      {query.subject !== "" || readsAll ? await results(visit, query) : null}
    </>
  );
}

function Filter(
  { visit: { language }, name, value, isRequired = false }: {
    readonly visit: Visit;
    readonly name: "subject" | "actor" | "event";
    readonly value: string;
    readonly isRequired?: boolean;
  },
): JSX.Element {
  return (
    <div class="field">
      <label for={name}>{phrase(language, `audit.${name}`)}</label>
      <p class="hint" id={`${name}-hint`}>
        {name === "subject"
          ? phrase(language, "audit.subject.hint", { example: <code dir="ltr">bank BANKA</code> })
          : phrase(language, `audit.${name}.hint`)}
      </p>
      <input
        id={name}
        name={name}
        type="text"
        value={value}
        maxlength={200}
        dir="auto"
        required={isRequired}
        aria-describedby={`${name}-hint`}
      />
    </div>
  );
}

async function results(visit: Visit, { subject, actor, event, after }: HistoryQuery): Promise<JSX.Element> {
  const { language } = visit;
  const query = after === undefined ? "" : `?${new URLSearchParams({ after })}`;
  const path = subject === "" ? "/operations/audit" : `/operations/histories/${encodeURIComponent(subject)}`;
  const answer = await visit.read(`${path}${query}`, historySchema);
  return (
    <Read visit={visit} answer={answer}>
      {({ Data: { Entry: all, After } }) => {
        const entries = all.filter((one) => one.Actor.includes(actor) && one.Event.includes(event));
        return (
          <>
            {entries.length === 0
              ? <p class="card">{phrase(language, "audit.none")}</p>
              : <Entries visit={visit} entries={entries} />}
            <More visit={visit} path="/console/audit" query={{ subject, actor, event, after: After }} />
          </>
        );
      }}
    </Read>
  );
}

function Entries(
  { visit, entries }: { readonly visit: Visit; readonly entries: readonly Entry[] },
): JSX.Element {
  const { language } = visit;
  const rows = entries.map((entry) => [
    <Instant visit={visit} at={entry.DateTime} />,
    <bdi>{entry.Actor}</bdi>,
    <EventName visit={visit} event={entry.Event} />,
    <SubjectLink entry={entry} />,
    entry.Reason === undefined ? null : <span dir="auto">{entry.Reason}</span>,
  ]);
  return (
    <div class="card">
      <Table
        language={language}
        name="audit.title"
        heads={["column.time", "column.by", "column.event", "column.subject", "column.reason"]}
        rows={rows}
      />
    </div>
  );
}

export function EventName({ visit, event }: { readonly visit: Visit; readonly event: string }): JSX.Element {
  const known = eventWords(event);
  return (
    <>
      {known === undefined ? null : phrase(visit.language, known)}
      <span class="detail">
        <code dir="ltr">{event}</code>
      </span>
    </>
  );
}

function SubjectLink({ entry: { Subject: subject } }: { readonly entry: Entry }): JSX.Element {
  return (
    <a href={`/console/audit?${new URLSearchParams({ subject })}`}>
      <bdi>{subject}</bdi>
    </a>
  );
}
