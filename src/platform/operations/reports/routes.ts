/** `GET /operations/reports/…` (contract REP1 to REP4): figures of banks and TPPs by day, as JSON and CSV. */
import { readPage } from "../../../base/store/page.ts";
import { z } from "@hono/zod-openapi";
import type { Clock } from "../../../base/kernel/clock.ts";
import { asClientId, type ClientId } from "../../../base/kernel/identifiers.ts";
import type { Store } from "../../../base/store/store.ts";
import { DAY_MS, dayOf } from "../../observed/figures/figures.ts";
import type { FiguresStore } from "../../observed/figures/figures_store.ts";
import type { PlatformEndpoint } from "../../guards/http/endpoint.ts";
import { operationAnswer, operationRoute, operationTable } from "../../guards/http/operation_answers.ts";
import { type BankClient, type Client, nameOfClient } from "../../core/registration/client.ts";
import type { ClientStore } from "../../core/registration/client_store.ts";
import { operation } from "../../guards/security/operation.ts";
import { daysOf, MAX_DAYS, reportsOf, type Subject } from "./report.ts";
import {
  csvOf,
  type Kind,
  reportsSchema,
  representReport,
  type ShownReport,
} from "./report_representation.ts";
import { invalidRequest } from "../../guards/security/operation_body.ts";

export interface ReportRouteDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly figuresStore: Pick<FiguresStore, "readDay">;
  readonly clients: Pick<ClientStore, "find" | "list">;
  readonly listBanks: () => Promise<readonly BankClient[]>;
}

/** Participants of one answer, and clients that one request reads. */
const PAGE = 20;
const READ = 200;
const MAX_READ = 2000;
const DEFAULT_DAYS = 30;

const query = z.object({
  from: z.iso.date().optional(),
  until: z.iso.date().optional(),
  id: z.string().max(64).optional().openapi({ description: "A bank's code or a TPP's client id." }),
  after: z.string().max(64).optional(),
});
const words: Readonly<Record<Kind, { readonly summary: string; readonly description: string }>> = {
  banks: {
    summary: "Availability, answers and volumes of banks by day",
    description: "Requests are those of TPPs. Orders are pushed to banks that take them so.",
  },
  tpps: { summary: "Requests and payments of TPPs by day", description: "Of registered TPPs." },
};

function routesOf(kind: Kind): Readonly<Record<"json" | "csv", ReturnType<typeof operationRoute>>> {
  const { summary, description } = words[kind];
  const name = kind === "banks" ? "Banks" : "Tpps";
  const common = {
    method: "get" as const,
    tags: ["Reports"],
    description:
      `${description} At most ${PAGE} participants and ${MAX_DAYS} days, by default the last ${DEFAULT_DAYS}. Days are UTC.`,
    request: { query },
  };
  return {
    json: operationRoute({
      ...common,
      path: `/operations/reports/${kind}`,
      operationId: `report${name}`,
      summary,
      answers: { 200: operationAnswer("A page of reports", reportsSchema) },
    }),
    csv: operationRoute({
      ...common,
      path: `/operations/reports/${kind}.csv`,
      operationId: `report${name}AsCsv`,
      summary: `${summary}, as CSV`,
      answers: {
        200: operationTable("A line for each participant and day; `Link` names the next page"),
      },
    }),
  };
}

export function reportRoutes(deps: ReportRouteDeps): readonly PlatformEndpoint[] {
  return (["banks", "tpps"] as const).flatMap((kind) => {
    const { json, csv } = routesOf(kind);
    return [
      operation(json, [], async (c) => {
        const { asked, reports, next } = await read(deps, kind, c.req.query());
        const after = next === undefined ? {} : { After: next };
        return c.json({ Data: { FromDate: asked.from, UntilDate: asked.until, Report: reports, ...after } });
      }),
      operation(csv, [], async (c) => {
        const { asked: { from, until }, reports, next } = await read(deps, kind, c.req.query());
        if (next !== undefined) {
          const rest = new URLSearchParams({ from, until, after: next });
          c.header("link", `</operations/reports/${kind}.csv?${rest}>; rel="next"`);
        }
        return c.body(csvOf(reports), 200, { "content-type": "text/csv; charset=utf-8; header=present" });
      }),
    ];
  });
}

interface Asked {
  readonly from: string;
  readonly until: string;
  readonly id: string | undefined;
  readonly after: string | undefined;
}

async function read(deps: ReportRouteDeps, kind: Kind, sent: Readonly<Record<string, string>>): Promise<
  { readonly asked: Asked; readonly reports: readonly ShownReport[]; readonly next: string | undefined }
> {
  const asked = readAsked(sent, deps.clock());
  const { subjects, next } = kind === "banks" ? await banks(deps, asked) : await tpps(deps, asked);
  const of = kind === "banks" ? "bank" : "client";
  const reports = await reportsOf(deps.figuresStore, of, subjects, daysOf(asked.from, asked.until));
  return { asked, reports: reports.map((one) => representReport(kind, one)), next };
}

/** @throws {ApiError} `operations.invalid_request` */
export function readAsked(sent: Readonly<Record<string, string>>, now: number): Asked {
  const parsed = query.safeParse(sent);
  if (!parsed.success) throw invalidRequest("from and until must be days, such as 2040-01-15");
  const { until = dayOf(now), id, after } = parsed.data;
  const { from = dayOf(Math.max(0, Date.parse(until) - (DEFAULT_DAYS - 1) * DAY_MS)) } = parsed.data;
  const days = (Date.parse(until) - Date.parse(from)) / DAY_MS + 1;
  if (days < 1 || days > MAX_DAYS) {
    throw invalidRequest(`until must not be before from, and at most ${MAX_DAYS} days are reported`);
  }
  return { from, until, id, after };
}

interface Subjects {
  readonly subjects: readonly Subject[];
  readonly next: string | undefined;
}

/** The registered banks, and those that have figures of these days and have deleted their registration since. */
async function banks(
  { listBanks, figuresStore }: ReportRouteDeps,
  { from, until, id, after = "" }: Asked,
): Promise<Subjects> {
  const all = new Map((await listBanks()).map((bank) => [bank.code as string, bankSubject(bank)]));
  for (const day of daysOf(from, until)) {
    const counted = (await figuresStore.readDay("bank", day)).keys().filter((code) => !all.has(code));
    for (const code of counted) all.set(code, { id: code, name: code, registeredAt: undefined });
  }
  const rest = [...all.values()].filter((one) => one.id > after && (id === undefined || one.id === id))
    .toSorted((one, other) => one.id < other.id ? -1 : 1);
  const subjects = rest.slice(0, PAGE);
  return { subjects, next: rest.length > PAGE ? subjects.at(-1)?.id : undefined };
}

async function tpps({ clients, store }: ReportRouteDeps, { id, after }: Asked): Promise<Subjects> {
  if (id !== undefined) return { subjects: await tpp(clients, store, id), next: undefined };
  const paging = { after: afterClient(after), limit: PAGE, reads: MAX_READ / READ, perRead: READ };
  const { found, next } = await readPage(
    paging,
    async (last: ClientId | undefined, limit) =>
      (await clients.list(store, last, limit)).map((client) => ({
        place: client.clientId,
        shown: client.role === "PISP" ? tppSubject(client) : undefined,
      })),
  );
  return { subjects: found, next };
}

async function tpp(
  clients: ReportRouteDeps["clients"],
  store: Store,
  id: string,
): Promise<readonly Subject[]> {
  const clientId = asClientId(id);
  const client = clientId === undefined ? null : await clients.find(store, clientId);
  return client?.role === "PISP" ? [tppSubject(client)] : [];
}

function afterClient(after: string | undefined): ClientId | undefined {
  const id = after === undefined ? undefined : asClientId(after);
  if (after !== undefined && id === undefined) {
    throw invalidRequest("after must be the After of an earlier page");
  }
  return id;
}

export function bankSubject({ code, orgName, registeredAt }: BankClient): Subject {
  return { id: code, name: orgName, registeredAt };
}

export function tppSubject(client: Client): Subject {
  return { id: client.clientId, name: nameOfClient(client), registeredAt: client.registeredAt };
}
