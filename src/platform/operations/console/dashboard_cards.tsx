/** Cards of the dashboard: what needs attention, what ends soon, and what operators did today. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { z } from "zod";
import { Instant, type PartProps, Read, State } from "../../../console/parts.tsx";
import type { Visit } from "../../../console/visit.ts";
import { type Alarm, type AlarmName, alarmsSchema } from "../alarm_routes.ts";
import { endingsSchema } from "../ending_routes.ts";
import { peopleTodaySchema } from "../history_routes.ts";
import { ordersPath } from "./orders_page.tsx";
import { type Names, readNames } from "./names.ts";
import { Actor as Who, Card, Table } from "./parts.tsx";
import type { Language } from "../../../pages/language.ts";
import { phrase } from "./phrase.ts";

type Endings = z.infer<typeof endingsSchema>["Data"];
type Ending = Endings["Ending"][number];

export async function alarmsCard(visit: Visit): Promise<JSX.Element> {
  const answer = await visit.read("/operations/alarms", alarmsSchema);
  const names = await readNames(visit, answer.ok ? answer.value.Data.Alarm.map(({ Of }) => Of) : []);
  return (
    <Card title={phrase(visit.language, "alarms.title")}>
      <Read visit={visit} answer={answer}>
        {({ Data: { Alarm: alarms } }) => drawAlarms(visit, alarms, names)}
      </Read>
    </Card>
  );
}

function drawAlarms(visit: Visit, alarms: readonly Alarm[], names: Names): JSX.Element {
  const { language } = visit;
  return (
    <Table
      language={language}
      name="alarms.title"
      none="alarms.none"
      rows={[...Map.groupBy(alarms, ({ Name, Severity }) => `${Severity} ${Name}`).values()]}
      columns={{
        "column.alarm": ([first]) => phrase(language, `alarm.${first?.Name ?? "ProcessLost"}`),
        "column.state": ([first]) => drawSeverity(language, first?.Severity),
        "column.whose": (alike) => (
          <ul class="whose">{alike.map((alarm) => drawWhose(alarm, names.get(alarm.Of)))}</ul>
        ),
      }}
    />
  );
}

function drawSeverity(language: Language, is: Alarm["Severity"] | undefined = "warning"): JSX.Element {
  return <State is={is === "critical" ? "bad" : "warn"} words={phrase(language, `alarms.${is}`)} />;
}

/** What an alarm is about, with its number or time, and where that is shown. */
function drawWhose(alarm: Alarm, name: string | undefined = alarm.Of): JSX.Element {
  return (
    <li>
      <a href={pathOf(alarm)}>
        <bdi>{name}</bdi>
        {alarm.Value === undefined
          ? null
          : <span class="number count">{valueOf(alarm.Name, alarm.Value)}</span>}
      </a>
    </li>
  );
}

const IN_SECONDS: ReadonlySet<AlarmName> = new Set(["BankUnreconciled", "OrdersDelayed", "OrdersHeld"]);

/** A number, or a time as hours and minutes. */
function valueOf(name: AlarmName, value: number): string {
  if (!IN_SECONDS.has(name)) return String(value);
  const minutes = Math.floor(value / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** The page that shows what the alarm is about. */
function pathOf({ Name, Of }: Alarm): string {
  switch (Name) {
    case "ProcessLost":
    case "ProcessFails":
      return "#processes";
    case "OrdersDead":
      return ordersPath("dead");
    case "OrdersHeld":
      return ordersPath("held", Of);
    case "BankUnreconciled":
      return "/console/banks";
    case "PaymentsUnsettled":
      return "/console/unsettled";
    case "DisputesOverdue":
      return "/console/disputes";
    case "EventsDead":
      return "/console/events";
    default:
      return ordersPath("waiting", Of);
  }
}

/** Rows before the fold. */
const SHOWN = 5;

export async function endingsCard(visit: Visit, now: number): Promise<JSX.Element> {
  const answer = await visit.read("/operations/endings", endingsSchema);
  return (
    <Card title={phrase(visit.language, "endings.title")}>
      <Read visit={visit} answer={answer}>
        {({ Data }) => <EndingList visit={visit} endings={Data} now={now} />}
      </Read>
    </Card>
  );
}

interface EndingProps {
  readonly visit: Visit;
  readonly now: number;
}

function EndingList(
  { visit, endings: { Ending: all, Unread }, now }: EndingProps & { readonly endings: Endings },
): JSX.Element {
  const { language } = visit;
  const more = all.slice(SHOWN);
  return (
    <>
      {all.length === 0
        ? <p>{phrase(language, "endings.none")}</p>
        : <EndingTable visit={visit} some={all.slice(0, SHOWN)} now={now} />}
      {more.length === 0 ? null : (
        <details>
          <summary>{phrase(language, "endings.more", { count: more.length })}</summary>
          <EndingTable visit={visit} some={more} now={now} />
        </details>
      )}
      {Unread === 0 ? null : <p class="notice">{phrase(language, "endings.unread", { count: Unread })}</p>}
    </>
  );
}

function EndingTable(
  { visit, some, now }: EndingProps & { readonly some: readonly Ending[] },
): JSX.Element {
  const { language } = visit;
  return (
    <Table
      language={language}
      name="endings.title"
      rows={some}
      columns={{
        "column.whose": (one) => <Owner visit={visit} one={one} />,
        "column.use": ({ Kind, KeyId }) => [
          phrase(language, `endings.${Kind}`),
          KeyId && <code class="detail" dir="ltr">{KeyId}</code>,
        ],
        "column.ends": ({ EndDateTime: at }) => [
          <Instant visit={visit} at={at} />,
          " ",
          Date.parse(at) > now ? null : <State is="bad" words={phrase(language, "participant.expired")} />,
        ],
      }}
    />
  );
}

function Owner({ visit: { language }, one }: PartProps<Ending>): JSX.Element {
  if (one.ClientId === undefined) {
    return <a href="/console/keys">{phrase(language, "endings.platform")}</a>;
  }
  return (
    <a href={`/console/participants/${encodeURIComponent(one.ClientId)}`}>
      <bdi>{one.OrganisationName}</bdi> · <bdi>{one.SoftwareName}</bdi>
    </a>
  );
}

/** Only for those who may read histories. */
export async function peopleCard(visit: Visit): Promise<JSX.Element | null> {
  if (!visit.may("GET /operations/audit/people/today")) return null;
  const answer = await visit.read("/operations/audit/people/today", peopleTodaySchema);
  return (
    <Card title={phrase(visit.language, "people.title")}>
      <Read visit={visit} answer={answer}>
        {({ Data }) => drawPeople(visit, Data)}
      </Read>
    </Card>
  );
}

function drawPeople(
  visit: Visit,
  { Date: day, Operator: operators, IsComplete }: z.infer<typeof peopleTodaySchema>["Data"],
): JSX.Element {
  const { language } = visit;
  if (operators.length === 0) return <p>{phrase(language, "people.none")}</p>;
  const historyOf = (operator: string): string =>
    `/console/audit?${new URLSearchParams({ operator, from: day, until: day })}`;
  return (
    <>
      <Table
        language={language}
        name="people.title"
        rows={operators}
        columns={{
          "column.by": ({ Actor }) => <Who language={language} actor={Actor} />,
          "column.entries": ({ Actor, Entries }) => <a class="number" href={historyOf(Actor)}>{Entries}</a>,
          "column.latest": (one) => <Instant visit={visit} at={one.LastDateTime} />,
        }}
      />
      {IsComplete ? null : <p class="detail">{phrase(language, "people.incomplete")}</p>}
    </>
  );
}
