/** The dashboard: the last hour, the banks, the processes, and what works. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { z } from "zod";
import { Fact } from "../../../pages/fact.tsx";
import { formatSecond } from "../../../pages/formats.ts";
import { type Language, LOCALES } from "../../../pages/language.ts";
import { type BankFacts, type BankRow, BankState, OrderCount, readBankFacts } from "./bank_state.tsx";
import { Instant, type PartProps, Read, State } from "../../../console/parts.tsx";
import { Card, Named, Table } from "./parts.tsx";
import { alarmsCard, endingsCard, peopleCard } from "./dashboard_cards.tsx";
import { phrase, type PlainKey } from "./phrase.ts";
import { LastHour } from "./last_hour_card.tsx";
import { readPages } from "./reports_page.tsx";
import { SearchForm } from "./search_page.tsx";
import { dayOf } from "../../observed/figures/figures.ts";
import { percentOf } from "../../../pages/service_levels_page.tsx";
import { lastHourSchema } from "../last_hour_representation.ts";
import { reportsSchema, type ShownReport } from "../reports/report_representation.ts";
import { processesSchema } from "../process_routes.ts";
import type { Visit } from "../../../console/visit.ts";

const readinessSchema = z.object({
  ready: z.boolean(),
  parts: z.record(z.string(), z.object({ ok: z.boolean(), detail: z.string().optional() })),
});
type Readiness = z.infer<typeof readinessSchema>;

/** Its body has the same members as that of 200. */
const NOT_READY = 503;

export async function dashboard(visit: Visit, now: number, isLive: boolean): Promise<JSX.Element> {
  const { language } = visit;
  const [hour, banks, processes, ready, endings, people, alarms] = await Promise.all([
    readHour(visit, now),
    readBanks(visit, now),
    readProcesses(visit),
    visit.read("/health/ready", readinessSchema, NOT_READY),
    endingsCard(visit, now),
    peopleCard(visit),
    alarmsCard(visit),
  ]);
  const isReady = ready.ok && ready.value.ready;
  const parts = (
    <Card title={phrase(language, "dashboard.parts")}>
      <Read visit={visit} answer={ready}>
        {({ parts }) => drawParts(language, parts)}
      </Read>
    </Card>
  );
  return (
    <>
      {drawFreshness(language, now, isLive)}
      {alarms}
      {visit.may("GET /console/search") ? <Find visit={visit} isLive={isLive} /> : null}
      {isReady ? null : parts}
      {hour}
      <Card title={phrase(language, "dashboard.banks")}>{banks}</Card>
      {people}
      {endings}
      {isReady ? parts : null}
      {processes}
    </>
  );
}

/** A page that is loaded again loses what was typed, so one that refreshes itself leads to the field. */
function Find({ visit, isLive }: { readonly visit: Visit; readonly isLive: boolean }): JSX.Element {
  if (!isLive) return <SearchForm visit={visit} action="/console/search" sent="" />;
  return (
    <p>
      <a class="button" href="/console/search">
        <span>{phrase(visit.language, "search.title")}</span>
      </a>
    </p>
  );
}

async function readHour(visit: Visit, now: number): Promise<JSX.Element> {
  const { language } = visit;
  const hour = await visit.read("/operations/last-hour", lastHourSchema);
  return (
    <Card title={phrase(language, "dashboard.lastHour")}>
      <Read visit={visit} answer={hour}>
        {({ Data }) => <LastHour language={language} hour={Data} day={dayOf(now)} />}
      </Read>
    </Card>
  );
}

async function readBanks(visit: Visit, now: number): Promise<JSX.Element> {
  const [facts, reports] = await Promise.all([readBankFacts(visit, now), readReports(visit, dayOf(now))]);
  return (
    <Read visit={visit} answer={facts}>
      {(known) => drawBanks(visit, known, reports)}
    </Read>
  );
}

/** The reports of all banks, page by page: any of them may be the one that needs a look. */
async function readReports(visit: Visit, day: string): Promise<readonly ShownReport[]> {
  const found: ShownReport[] = [];
  const pages = readPages(visit, "/operations/reports/banks", reportsSchema, { from: day, until: day });
  for await (const answer of pages) if (answer.ok) found.push(...answer.value.Data.Report);
  return found;
}

async function readProcesses(visit: Visit): Promise<JSX.Element> {
  const processes = await visit.read("/operations/processes", processesSchema);
  return (
    <Card id="processes" title={phrase(visit.language, "dashboard.processes")}>
      <Read visit={visit} answer={processes}>
        {({ Data: { Process: found } }) => <Processes visit={visit} one={found} />}
      </Read>
    </Card>
  );
}

type Process = z.infer<typeof processesSchema>["Data"]["Process"][number];

function Processes({ visit, one: found }: PartProps<readonly Process[]>): JSX.Element {
  const { language } = visit;
  return (
    <Table
      language={language}
      name="dashboard.processes"
      none="dashboard.noProcesses"
      rows={found}
      columns={{
        "column.process": ({ Name }) => <bdi>{Name}</bdi>,
        "column.state": (one) => <ProcessState visit={visit} one={one} />,
        "column.serves": ({ Serves }) => phrase(language, SERVED_NAMES[Serves]),
        "column.started": (one) => <Instant visit={visit} at={one.StartDateTime} />,
        "column.noted": (one) => <Instant visit={visit} at={one.NotedDateTime} />,
        "column.inWork": (one) => <span class="number">{one.RequestsInWork}</span>,
      }}
    />
  );
}

function ProcessState(
  { visit: { language }, one: { State: state, Fault } }: PartProps<Process>,
): JSX.Element {
  return (
    <>
      <State is={state === "works" ? "good" : "bad"} words={phrase(language, STATE_NAMES[state])} />
      {Fault.map((fault) => <span class="detail" lang="en" dir="ltr">{fault}</span>)}
    </>
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

function drawParts(language: Language, parts: Readiness["parts"]): JSX.Element {
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

const BANKS_SHOWN = 20;

/** How much of a bank needs a look: its state first, then its orders. */
function troubles({ isHeld, isRestored, inOutage, isBlocked, ...bank }: BankRow): number {
  const isBad = bank.State === "failing" ? 4 : bank.Dead > 0 ? 3 : bank.State === "slow" ? 2 : 0;
  return isBad + Number(isHeld || isRestored || inOutage || isBlocked || bank.Waiting + bank.Held > 0);
}

/** @param reports of today */
function drawBanks({ language }: Visit, facts: BankFacts, reports: readonly ShownReport[]): JSX.Element {
  const rows = facts.rows.toSorted((one, other) => troubles(other) - troubles(one)).slice(0, BANKS_SHOWN);
  if (rows.length === 0) return <p>{phrase(language, "banks.none")}</p>;
  const [percent, { format }] = [percentOf(language), new Intl.NumberFormat(LOCALES[language])];
  const today = (bank: string): ShownReport["Total"] | undefined =>
    reports.find(({ Id }) => Id === bank)?.Total;
  return (
    <>
      <Table
        language={language}
        name="dashboard.banks"
        rows={rows}
        columns={{
          "column.bank": ({ BankId, Name }) => <Named id={BankId} name={Name} />,
          "column.state": (row) => <BankState language={language} row={row} />,
          "column.waiting": (row) => <OrderCount language={language} row={row} state="Waiting" />,
          "column.dead": (row) => <OrderCount language={language} row={row} state="Dead" />,
          "column.answeredToday": ({ BankId: bank }) =>
            drawBankToday(bank, today(bank)?.Orders?.AnswerRate, percent),
          "column.paymentsToday": ({ BankId: bank }) => drawBankToday(bank, today(bank)?.Payments, format),
        }}
      />
      {rows.length === facts.rows.length ? null : (
        <p>
          <a href="/console/banks">{phrase(language, "dashboard.allBanks", { count: facts.rows.length })}</a>
        </p>
      )}
    </>
  );
}

/** A value of today, which leads to the report of the bank. */
function drawBankToday(bank: string, of: number | undefined, format: (value: number) => string): JSX.Element {
  const report = `/console/reports?kind=banks&id=${encodeURIComponent(bank)}`;
  return <a class="number" href={report}>{of === undefined ? "–" : format(of)}</a>;
}

/** When the page was made, and the link that has it made again and again no more, or anew. */
function drawFreshness(language: Language, now: number, isLive: boolean): JSX.Element {
  return (
    <p class="lead">
      {phrase(language, "dashboard.at", { time: formatSecond(language, now) })}{" "}
      <a href={isLive ? "/console?live=0" : "/console"}>
        {phrase(language, isLive ? "dashboard.stop" : "dashboard.refresh")}
      </a>
    </p>
  );
}
