/** The dashboard: what works, the banks, and the requests of this process. */
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import { z } from "zod";
import { Fact } from "../../../pages/fact.tsx";
import { formatInstant } from "../../../pages/formats.ts";
import { type Language, LOCALES } from "../../../pages/language.ts";
import {
  type BankFacts,
  bankRow,
  BankState,
  busyBanks,
  OrderCount,
  readBankFacts,
  readMetrics,
} from "./bank_state.tsx";
import { Instant, Read, State } from "../../../console/parts.tsx";
import { Table } from "./parts.tsx";
import { phrase, type PlainKey } from "./phrase.ts";
import { readScrape, type Scrape, sumBy } from "./scrape.ts";
import { processesSchema } from "../process_routes.ts";
import type { Visit } from "../../../console/visit.ts";

const readinessSchema = z.object({
  ready: z.boolean(),
  parts: z.record(z.string(), z.object({ ok: z.boolean(), detail: z.string().optional() })),
});
type Readiness = z.infer<typeof readinessSchema>;

/** Its body has the same members as that of 200. */
const NOT_READY = 503;

export async function dashboard(visit: Visit, now: number): Promise<JSX.Element> {
  const { language } = visit;
  const reading = readMetrics(visit);
  const [ready, processes, metrics, facts] = await Promise.all([
    visit.read("/health/ready", readinessSchema, NOT_READY),
    visit.read("/operations/processes", processesSchema),
    reading,
    readBankFacts(visit, now, reading),
  ]);
  return (
    <>
      <h1>{phrase(language, "dashboard.title")}</h1>
      <p class="lead">{phrase(language, "dashboard.at", { time: formatInstant(language, now) })}</p>
      <div class="cards">
        <Card title={phrase(language, "dashboard.parts")}>
          <Read visit={visit} answer={ready}>
            {({ parts }) => <Parts language={language} parts={parts} />}
          </Read>
        </Card>
        <Card title={phrase(language, "dashboard.traffic")}>
          <Read visit={visit} answer={metrics}>
            {(text) => <Traffic language={language} scrape={readScrape(text)} />}
          </Read>
        </Card>
        <Card title={phrase(language, "dashboard.processes")} wide>
          <Read visit={visit} answer={processes}>
            {({ Data: { Process: found } }) => <Processes visit={visit} found={found} />}
          </Read>
        </Card>
        <Card title={phrase(language, "dashboard.banks")} wide>
          <Read visit={visit} answer={facts}>
            {(found) => <Banks visit={visit} facts={found} />}
          </Read>
        </Card>
      </div>
    </>
  );
}

function Card(
  { title, wide = false, children }: {
    readonly title: Child;
    readonly wide?: boolean;
    readonly children?: Child;
  },
): JSX.Element {
  return (
    <section class={wide ? "card wide-card" : "card"}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

function Processes(
  { visit, found }: {
    readonly visit: Visit;
    readonly found: z.infer<typeof processesSchema>["Data"]["Process"];
  },
): JSX.Element {
  const { language } = visit;
  if (found.length === 0) return <p>{phrase(language, "dashboard.noProcesses")}</p>;
  return (
    <Table
      language={language}
      name="dashboard.processes"
      heads={[
        "column.process",
        "column.state",
        "column.serves",
        "column.started",
        "column.noted",
        "column.inWork",
      ]}
      rows={found.map(({ Name, State: state, Fault: faults, Serves, ...one }) => [
        <bdi>{Name}</bdi>,
        <>
          <State is={state === "works" ? "good" : "bad"} words={phrase(language, STATE_NAMES[state])} />
          {faults.map((fault) => <span class="detail" lang="en" dir="ltr">{fault}</span>)}
        </>,
        phrase(language, SERVED_NAMES[Serves]),
        <Instant visit={visit} at={one.StartDateTime} />,
        <Instant visit={visit} at={one.NotedDateTime} />,
        <span class="number">{one.RequestsInWork}</span>,
      ])}
    />
  );
}

const STATE_NAMES = { works: "state.works", fails: "state.fails", lost: "state.lost" } as const;
const SERVED_NAMES = {
  all: "serves.all",
  api: "serves.api",
  browser: "serves.browser",
  console: "serves.console",
} as const;

const PART_NAMES: Readonly<Record<string, PlainKey>> = {
  store: "part.store",
  directory: "part.directory",
  clock: "part.clock",
  log: "part.log",
  connections: "part.connections",
};

function Parts(
  { language, parts }: { readonly language: Language; readonly parts: Readiness["parts"] },
): JSX.Element {
  return (
    <dl class="facts">
      {Object.entries(parts).map(([name, { ok, detail }]) => {
        const known = PART_NAMES[name];
        return (
          <Fact name={known === undefined ? name : phrase(language, known)}>
            <State is={ok ? "good" : "bad"} words={phrase(language, ok ? "state.works" : "state.fails")} />
            {detail === undefined ? null : <span class="detail" lang="en" dir="ltr">{detail}</span>}
          </Fact>
        );
      })}
    </dl>
  );
}

function Traffic(
  { language, scrape }: { readonly language: Language; readonly scrape: Scrape },
): JSX.Element {
  const byStatus = sumBy(scrape, "platform_requests_total", "status");
  const sum = (first: string): number =>
    [...byStatus].reduce((all, [status, value]) => status.startsWith(first) ? all + value : all, 0);
  const count = new Intl.NumberFormat(LOCALES[language]);
  const shed = [...sumBy(scrape, "platform_shed_requests_total", "lane").values()].reduce((a, b) => a + b, 0);
  const rows: readonly (readonly [PlainKey, number])[] = [
    ["traffic.answered", sum("2") + sum("3")],
    ["traffic.rejected", sum("4")],
    ["traffic.failed", sum("5")],
    ["traffic.shed", shed],
  ];
  return (
    <>
      <p class="lead">{phrase(language, "dashboard.sinceStart")}</p>
      <dl class="facts">
        {rows.map(([name, value]) => (
          <div>
            <dt>{phrase(language, name)}</dt>
            <dd class="number">{count.format(value)}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

function Banks(
  { visit: { language }, facts }: { readonly visit: Visit; readonly facts: BankFacts },
): JSX.Element {
  const rows = busyBanks(facts).map((bank) => bankRow(bank, facts));
  if (rows.length === 0) return <p>{phrase(language, "dashboard.noBanks")}</p>;
  return (
    <Table
      language={language}
      name="dashboard.banks"
      heads={["column.bank", "column.state", "column.waiting", "column.dead"]}
      rows={rows.map((row) => [
        <bdi>{row.bank}</bdi>,
        <BankState language={language} row={row} />,
        <OrderCount language={language} row={row} state="waiting" />,
        <OrderCount language={language} row={row} state="dead" />,
      ])}
    />
  );
}
