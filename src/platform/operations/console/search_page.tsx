/** Search by any id, and by amount and days: the cases that it names, and what the platform did with a request. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { z } from "zod";
import { searchSchema } from "../search/routes.ts";
import { MAX_SEARCH_CHARACTERS } from "../search/search.ts";
import { Instant, Read } from "../../../console/parts.tsx";
import { Table } from "./parts.tsx";
import { phrase as commonPhrase } from "../../../console/phrase.ts";
import { Cases } from "./cases_table.tsx";
import { AmountSearch, askedAmount } from "./amount_search.tsx";
import { phrase, type PlainKey } from "./phrase.ts";
import type { Visit } from "../../../console/visit.ts";

type Found = z.infer<typeof searchSchema>["Data"];

export async function searchPage(
  visit: Visit,
  query: Readonly<Record<string, string>>,
): Promise<JSX.Element> {
  const sent = query["q"]?.trim() ?? "";
  return (
    <>
      <h1>{phrase(visit.language, "search.title")}</h1>
      <SearchForm visit={visit} action="/console/search" sent={sent} />
      {sent === "" ? null : await results(visit, sent)}
      {await AmountSearch(visit, askedAmount(query))}
    </>
  );
}

export function SearchForm(
  { visit: { language }, action, sent }: {
    readonly visit: Visit;
    readonly action: string;
    readonly sent: string;
  },
): JSX.Element {
  return (
    <form class="search" role="search" method="get" action={action}>
      <div class="field">
        <label for="q">{phrase(language, "search.field")}</label>
        <input
          id="q"
          name="q"
          type="search"
          value={sent}
          maxlength={MAX_SEARCH_CHARACTERS}
          dir="auto"
          required
        />
      </div>
      <button type="submit">{commonPhrase(language, "list.search")}</button>
    </form>
  );
}

async function results(visit: Visit, sent: string): Promise<JSX.Element> {
  const answer = await visit.read(`/operations/search?${new URLSearchParams({ q: sent })}`, searchSchema);
  return (
    <Read visit={visit} answer={answer}>
      {({ Data }) => <SearchResults visit={visit} found={Data} />}
    </Read>
  );
}

export function SearchResults(
  { visit, found }: { readonly visit: Visit; readonly found: Found },
): JSX.Element {
  if (found.Case.length + found.Trace.length === 0) {
    return <p class="notice" role="status">{phrase(visit.language, "search.none")}</p>;
  }
  return (
    <>
      <Cases visit={visit} found={found.Case} />
      <Traces visit={visit} name="search.traces" found={found.Trace} />
      {found.IsComplete ? null : <p class="notice" role="status">{phrase(visit.language, "search.more")}</p>}
    </>
  );
}

export function Traces(
  { visit, name, found }: {
    readonly visit: Visit;
    readonly name: PlainKey;
    readonly found: Found["Trace"];
  },
): JSX.Element | null {
  const { language } = visit;
  if (found.length === 0) return null;
  const rows = found.map(({ DateTime, Endpoint, Status, Rejection }) => [
    <Instant visit={visit} at={DateTime} />,
    <code dir="ltr">{Endpoint}</code>,
    <span class="number">{Status}</span>,
    Rejection === undefined ? null : (
      <>
        <code dir="ltr">{Rejection.Reason}</code>
        {Rejection.Detail === undefined ? null : <p class="detail" lang="en" dir="ltr">{Rejection.Detail}</p>}
      </>
    ),
  ]);
  return (
    <section class="card">
      <h2>{phrase(language, name)}</h2>
      <Table
        language={language}
        name={name}
        heads={["column.time", "column.endpoint", "column.status", "column.rejection"]}
        rows={rows}
      />
    </section>
  );
}
