/** The case of a consent and its payment: what it is, its timeline in words with its evidence, and its newest requests. */
import type { Context } from "hono";
import { answerFile } from "./console_page.ts";
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import { Fact } from "../../../pages/fact.tsx";
import { formatDay, formatMoment, formatSpan } from "../../../pages/formats.ts";
import { caseSummarySchema } from "../cases/case_representation.ts";
import { CaseHead, type Summary } from "./case_head.tsx";
import { Read } from "../../../console/parts.tsx";
import { Actor, Because, Coded } from "./parts.tsx";
import { messageNamed, phrase } from "./phrase.ts";
import { Traces } from "./search_page.tsx";
import type { Visit } from "../../../console/visit.ts";

type Entry = Summary["Entry"][number];

const DAY_MS = 86_400_000;

export async function casePage(visit: Visit, id: string): Promise<JSX.Element> {
  const { language } = visit;
  const path = `/cases/${encodeURIComponent(id)}`;
  const answer = await visit.read(
    `/operations${path}/summary`,
    caseSummarySchema.transform(({ Data }) => Data),
  );
  return (
    <Read visit={visit} answer={answer}>
      {(found) => (
        <>
          {found.Case === undefined
            ? null
            : <CaseHead visit={visit} one={found.Case} order={found.PaymentOrder} />}
          <section class="card">
            <h2>{phrase(language, "case.timeline")}</h2>
            <p class="lead">{phrase(language, "case.lead")}</p>
            {drawTimeline(visit, id, found.Entry)}
            <p>
              <a class="button" href={`/console${path}/bundle`}>
                <span>{phrase(language, "case.bundle")}</span>
              </a>
            </p>
          </section>
          <Traces visit={visit} name="search.traces" found={found.Trace} />
        </>
      )}
    </Read>
  );
}

function drawTimeline(visit: Visit, id: string, entries: readonly Entry[]): JSX.Element {
  return (
    <ol class="timeline">
      {entries.map((entry, index) => (
        <Step visit={visit} entry={entry} before={entries[index - 1]} place={[id, index]} />
      ))}
    </ol>
  );
}

interface StepProps {
  readonly visit: Visit;
  readonly entry: Entry;
  /** The entry before it. */
  readonly before: Entry | undefined;
  /** Id of the case, and index of the entry. */
  readonly place: readonly [id: string, index: number];
}

function Step({ visit, entry, before, place }: StepProps): JSX.Element {
  const { language } = visit;
  const { Event: event, Reason: reason, InteractionId: request } = entry;
  return (
    <li>
      {drawWhen(language, Date.parse(entry.DateTime), before && Date.parse(before.DateTime))}
      <p class="what">
        <Coded language={language} kind="event" code={event} />
      </p>
      <dl>
        <Fact name={phrase(language, "column.by")}>
          <Actor language={language} actor={entry.Actor} name={entry.ActorName} />
        </Fact>
        {reason === undefined ? null : (
          <Fact name={phrase(language, "column.reason")}>
            <Because language={language} text={reason} />
          </Fact>
        )}
        <Evidence visit={visit} entry={entry} place={place} />
        {request === undefined ? null : (
          <Fact name={phrase(language, "case.request")}>
            <a href={`/console/search?q=${request}`}>
              <code dir="ltr">{request}</code>
            </a>
          </Fact>
        )}
      </dl>
    </li>
  );
}

/** The time with milliseconds and the distance from the entry before; the day where it begins. */
function drawWhen(language: Visit["language"], at: number, before: number | undefined): JSX.Element {
  const isNewDay = before === undefined || Math.floor(before / DAY_MS) !== Math.floor(at / DAY_MS);
  return (
    <p class="when">
      <time datetime={new Date(at).toISOString()}>
        {isNewDay ? <span class="day">{formatDay(language, at)}</span> : null}
        <span class="number">{formatMoment(language, at)}</span>
      </time>
      {before === undefined ? null : <span class="distance">+{formatSpan(language, at - before)}</span>}
    </p>
  );
}

function Evidence(
  { visit: { language }, entry: { Evidence: items }, place: [id, index] }: Pick<
    StepProps,
    "visit" | "entry" | "place"
  >,
): JSX.Element | null {
  if (items.length === 0) return null;
  return (
    <Fact name={phrase(language, "case.evidence")}>
      {items.map(({ Kind, IsDeleted }, item) => (
        <span class="piece">
          {IsDeleted
            ? [proofName(language, Kind), " ", phrase(language, "case.deleted")]
            : (
              <a href={`/console/cases/${encodeURIComponent(id)}/evidence/${index}/${item}`}>
                {proofName(language, Kind)}
              </a>
            )}
        </span>
      ))}
    </Fact>
  );
}

function proofName(language: Visit["language"], kind: string): Child {
  const known = messageNamed(`proof.${kind}`);
  return known === undefined ? <code dir="ltr">{kind}</code> : phrase(language, known);
}

/** Answers with the bundle of a case as a file. */
export async function downloadBundle(visit: Visit, c: Context): Promise<Response> {
  const id = c.req.param("id") ?? "";
  const [path, name] = [`/operations/cases/${encodeURIComponent(id)}`, `case-${encodeURIComponent(id)}.json`];
  return await answerFile(visit, c, path, name);
}
