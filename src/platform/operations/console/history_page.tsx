/** Who did what: what operators did, newest first, or the history of one subject. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { z } from "zod";
import { historySchema } from "../history_routes.ts";
import { dayOf } from "../../observed/figures/figures.ts";
import { Days } from "./reports_page.tsx";
import { More, queryOf, Read, stamps } from "../../../console/parts.tsx";
import { idIn, type Names, readNames } from "./names.ts";
import { Actor, Because, Coded, TableCard } from "./parts.tsx";
import { messageNamed, phrase } from "./phrase.ts";
import type { Language } from "../../../pages/language.ts";
import type { Visit } from "../../../console/visit.ts";

type Entry = z.infer<typeof historySchema>["Data"]["Entry"][number];

const PATH = "/console/audit";

export interface AskedHistory {
  readonly subject?: string;
  /** A part of the name. */
  readonly operator?: string;
  readonly deed?: string;
  readonly from?: string;
  readonly until?: string;
  readonly after?: string;
}

export async function historyPage(visit: Visit, asked: AskedHistory, now: number): Promise<JSX.Element> {
  const { language } = visit;
  const subject = asked.subject?.trim() ?? "";
  return (
    <>
      <p class="lead">
        {subject === ""
          ? phrase(language, "audit.lead", { command: <code dir="ltr">deno task ops audit</code> })
          : phrase(language, "audit.leadSubject")}
      </p>
      <Days language={language} action={PATH} from={asked.from} until={asked.until}>
        {drawFilter(visit, "subject", subject)}
        {drawFilter(visit, "operator", asked.operator ?? "")}
        {drawDeeds(visit, asked.deed)}
      </Days>
      <p>
        <a href={`${PATH}${queryOf({ from: dayOf(now), until: dayOf(now) })}`}>
          {phrase(language, "audit.today")}
        </a>
      </p>
      {await results(visit, { ...asked, subject })}
    </>
  );
}

function drawFilter({ language }: Visit, name: "subject" | "operator", value: string): JSX.Element {
  return (
    <div class="field">
      <label for={name}>{phrase(language, name === "subject" ? "audit.subject" : "audit.actor")}</label>
      <p class="hint" id={`${name}-hint`}>
        {name === "subject"
          ? phrase(language, "audit.subject.hint", { example: <code dir="ltr">bank BANKA</code> })
          : phrase(language, "audit.actor.hint")}
      </p>
      <input
        id={name}
        name={name}
        type="text"
        value={value}
        maxlength={200}
        dir="auto"
        aria-describedby={`${name}-hint`}
      />
    </div>
  );
}

function drawDeeds({ language }: Visit, deed: string | undefined = "change"): JSX.Element {
  return (
    <div class="field">
      <label for="deed">{phrase(language, "audit.deed")}</label>
      <select id="deed" name="deed">
        {(["change", "read"] as const).map((one) => (
          <option value={one} selected={one === deed}>{phrase(language, `audit.${one}`)}</option>
        ))}
      </select>
    </div>
  );
}

async function results(visit: Visit, { subject, ...asked }: AskedHistory): Promise<JSX.Element> {
  const path = subject === "" || subject === undefined
    ? `/operations/audit/people${queryOf({ ...asked })}`
    : `/operations/histories/${encodeURIComponent(subject)}${queryOf({ after: asked.after })}`;
  const answer = await visit.read(path, historySchema);
  const entries = answer.ok ? answer.value.Data.Entry : [];
  const names = await readNames(
    visit,
    entries.flatMap(({ Subject, Actor: actor }) => [idIn(Subject), idIn(actor)]),
    entries.flatMap(({ Subject }) => Subject.startsWith("organisation ") ? idIn(Subject) : []),
  );
  return (
    <Read visit={visit} answer={answer}>
      {({ Data: { Entry: entries, After } }) => (
        <>
          {drawEntries(visit, entries, names)}
          <More visit={visit} path={PATH} query={{ ...asked, subject, after: After }} />
        </>
      )}
    </Read>
  );
}

function drawEntries(visit: Visit, entries: readonly Entry[], names: Names): JSX.Element {
  const { language } = visit;
  const times = stamps(visit, entries.map(({ DateTime }) => DateTime));
  return (
    <TableCard
      language={language}
      name="audit.title"
      none="audit.none"
      rows={entries}
      columns={{
        "column.time": (_, row) => times[row],
        "column.by": ({ Actor: actor }) => (
          <Actor language={language} actor={actor} name={names.get(idIn(actor))} />
        ),
        "column.event": ({ Event }) => <Coded language={language} kind="event" code={Event} />,
        "column.subject": (entry) => drawSubjectLink(language, entry, names),
        "column.reason": ({ Reason: why }) => why && <Because language={language} text={why} />,
      }}
    />
  );
}

function drawSubjectLink(language: Language, { Subject: subject }: Entry, names: Names): JSX.Element {
  const id = idIn(subject);
  const name = names.get(id);
  const kind = messageNamed(`subject.${subject.slice(0, -id.length - 1)}`);
  return (
    <a href={`${PATH}?${new URLSearchParams({ subject })}`}>
      {kind === undefined ? <bdi>{name ?? subject}</bdi> : (
        <>
          {phrase(language, kind)} <bdi>{name ?? id}</bdi>
        </>
      )}
      {name === undefined ? null : <code class="detail" dir="ltr">{id}</code>}
    </a>
  );
}
