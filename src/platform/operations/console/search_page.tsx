/** Search by any id, and by amount and days: the cases that it names, and what the platform did with a request. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { z } from "zod";
import type { Language } from "../../../pages/language.ts";
import { caseSummarySchema } from "../cases/case_representation.ts";
import { CaseHead } from "./case_head.tsx";
import { searchSchema } from "../search/routes.ts";
import { MAX_SEARCH_CHARACTERS } from "../search/search.ts";
import { Read, stamps, State } from "../../../console/parts.tsx";
import { type Names, readNames } from "./names.ts";
import { Coded, Table } from "./parts.tsx";
import { phrase as commonPhrase } from "../../../console/phrase.ts";
import { Cases } from "./cases_table.tsx";
import { AmountSearch, askedAmount } from "./amount_search.tsx";
import { phrase, type PlainKey } from "./phrase.ts";
import type { Visit } from "../../../console/visit.ts";

/** Cases with a card of their own. The others are rows of the table. */
const MAX_HEADS = 5;

type Found = z.infer<typeof searchSchema>["Data"];

export async function searchPage(
  visit: Visit,
  query: Readonly<Record<string, string>>,
): Promise<JSX.Element> {
  const sent = query["q"]?.trim() ?? "";
  return (
    <>
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
  const found = answer.ok ? answer.value.Data.Case : [];
  const cases = found.slice(0, MAX_HEADS);
  const names = await readNames(visit, found.map(({ Bank }) => Bank));
  const heads = await Promise.all(cases.map(({ ConsentId }) => headOf(visit, ConsentId)));
  return (
    <Read visit={visit} answer={answer}>
      {({ Data }) => (
        <>
          {heads}
          <SearchResults visit={visit} found={Data} names={names} />
        </>
      )}
    </Read>
  );
}

/** What a case is and where it stands, for who may open it. */
async function headOf(visit: Visit, id: string): Promise<JSX.Element | null> {
  if (!visit.may("GET /console/cases/{id}")) return null;
  const answer = await visit.read(`/operations/cases/${id}/summary`, caseSummarySchema);
  if (!answer.ok || answer.value.Data.Case === undefined) return null;
  const { Case: one, PaymentOrder: order } = answer.value.Data;
  return <CaseHead visit={visit} one={one} order={order} />;
}

export function SearchResults(
  { visit, found, names = new Map() }: {
    readonly visit: Visit;
    readonly found: Found;
    readonly names?: Names;
  },
): JSX.Element {
  if (found.Case.length + found.Trace.length === 0) {
    return <p class="notice" role="status">{phrase(visit.language, "search.none")}</p>;
  }
  return (
    <>
      <Cases visit={visit} found={found.Case} names={names} />
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
  const times = stamps(visit, found.map(({ DateTime }) => DateTime));
  return (
    <section class="card">
      <h2>{phrase(language, name)}</h2>
      <Table
        language={language}
        name={name}
        rows={found}
        columns={{
          "column.time": (_, row) => times[row],
          "column.endpoint": (trace) => <Endpoint language={language} trace={trace} />,
          "column.status": (trace) => <Outcome language={language} trace={trace} />,
          "column.duration": (one) => <span class="number">{`${Math.round(one.Milliseconds)} ms`}</span>,
          "column.rejection": (trace) => <Rejection language={language} trace={trace} />,
        }}
      />
    </section>
  );
}

type Trace = Found["Trace"][number];

interface TraceProps {
  readonly language: Language;
  readonly trace: Trace;
}

/** How a request was answered, with the status of HTTP. */
function Outcome({ language, trace: { Status: status } }: TraceProps): JSX.Element {
  const is = status === 0 ? "unanswered" : status < 400 ? "succeeded" : status < 500 ? "rejected" : "failed";
  return (
    <>
      <State is={is === "succeeded" ? "good" : "bad"} words={phrase(language, `trace.${is}`)} />
      {status === 0 ? null : <code class="detail" dir="ltr">{status}</code>}
    </>
  );
}

/** The endpoint, and the checks of a request with their results, folded. */
function Endpoint({ language, trace: { Method, Endpoint: path, Check: checks } }: TraceProps): JSX.Element {
  return (
    <>
      <code dir="ltr">{`${Method} ${path}`}</code>
      {checks.length === 0 ? null : (
        <details>
          <summary>{phrase(language, "trace.checks")}</summary>
          <ol class="checks">
            {checks.map(({ Name, Result }) => (
              <li class={Result}>
                {phrase(language, `trace.${Result}`)}: <Coded language={language} kind="check" code={Name} />
              </li>
            ))}
          </ol>
        </details>
      )}
    </>
  );
}

function Rejection({ language, trace: { Rejection: rejection } }: TraceProps): JSX.Element | null {
  if (rejection === undefined) return null;
  const { Reason, Message, Detail = Message, Url } = rejection;
  const named = <Coded language={language} kind="reason" code={Reason} />;
  return (
    <>
      {Url === undefined ? named : <a href={Url}>{named}</a>}
      {Detail === undefined ? null : <p class="detail" lang="en" dir="ltr">{Detail}</p>}
    </>
  );
}
