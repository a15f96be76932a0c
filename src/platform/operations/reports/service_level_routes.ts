/** `GET /service-levels` and `/service-levels.json` (contract REP5): the banks' service levels, for everyone. */
import { createRoute, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { answerDocument, textDocument } from "../../../base/http/public_document.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";
import { asBankCode } from "../../../base/kernel/identifiers.ts";
import { type Clock, type SteadyClock, wireDateTime } from "../../../base/kernel/clock.ts";
import { chooseLanguage, LANGUAGES } from "../../../pages/language.ts";
import {
  type LevelNumbers,
  renderServiceLevels,
  type ServiceLevelsView,
  type ShownLevels,
} from "../../../pages/service_levels_page.tsx";
import type { Site } from "../../../pages/site.ts";
import { boundOf, BUCKETS, DAY_MS, dayOf } from "../../observed/figures/figures.ts";
import { endpoint, type PlatformEndpoint } from "../../guards/http/endpoint.ts";
import { oauthErrors, taggedAnswers } from "../../guards/http/openapi_answers.ts";
import { SERVICE_LEVELS_PATH } from "../../config/paths.ts";
import type { CurrentHealth } from "../health/bank_health_store.ts";
import { STATE_CACHE } from "../health/bank_routes.ts";
import { keepFor } from "../../../base/kernel/recently_used.ts";
import type { BankClient } from "../../core/registration/client.ts";
import type { FiguresStore } from "../../observed/figures/figures_store.ts";
import { answerRate, availability, daysOf, ordersOf, type Report, reportsOf, type Sums } from "./report.ts";
import { roundDown } from "./report_representation.ts";
import { bankSubject } from "./routes.ts";

export interface ServiceLevelRouteDeps {
  readonly figuresStore: Pick<FiguresStore, "readDay">;
  readonly listBanks: () => Promise<readonly BankClient[]>;
  readonly clock: Clock;
  /** For ages. */
  readonly steady: SteadyClock;
  readonly site: Site;
  readonly currentHealth: CurrentHealth;
}

const JSON_TYPE = "application/json";

const rate = z.number().min(0).max(1).openapi({ description: "A part of 1." });
const bound = z.int().nullable().openapi({ description: "Milliseconds at most; null if over 3000." });
const numbers = {
  availability: rate.optional(),
  answer_rate: rate.optional(),
  response_median: bound.optional(),
  response_percentile_95: bound.optional(),
};
const levelsSchema = z.strictObject({
  from: z.iso.date(),
  until: z.iso.date(),
  generated_at: z.string().openapi({ format: "date-time" }),
  banks: z.array(z.strictObject({
    bank: z.string(),
    name: z.string(),
    ...numbers,
    days: z.array(z.strictObject({ date: z.iso.date(), ...numbers })).optional(),
  })),
}).openapi("ServiceLevels");

const jsonRoute = createRoute({
  method: "get",
  path: `${SERVICE_LEVELS_PATH}.json`,
  tags: ["Operation"],
  operationId: "getServiceLevels",
  summary: "The banks' service levels of the last 30 days",
  description:
    "`availability`: the part of the minutes in which the bank's orders were not held, no outage was " +
    "announced and the bank answered orders. `answer_rate`: the part of the pushed orders that the bank answered " +
    "with a status, with three decimals. Figures of orders are absent with fewer than 20 pushes, and each is absent if " +
    "not known. With `bank`, also by day.",
  security: [],
  request: { query: z.object({ bank: z.string().max(64).optional() }) },
  responses: { ...taggedAnswers("The service levels", levelsSchema), ...oauthErrors(404, 405, 500, 503) },
});
const pageRoute = createRoute({
  method: "get",
  path: SERVICE_LEVELS_PATH,
  hide: true,
  responses: {},
});

export function serviceLevelRoutes(deps: ServiceLevelRouteDeps): readonly PlatformEndpoint[] {
  const { get: read } = keepFor(MAX_AGE_MS, deps.steady, () => readLevels(deps)); // however many ask
  return [
    endpoint("oauth", "public", jsonRoute, [], async (c) => {
      const { from, until, at, banks } = await read();
      const one = findAskedBank(c, banks);
      const body = {
        from,
        until,
        generated_at: wireDateTime(at),
        banks: one === undefined ? banks.map(represent) : [{ ...represent(one), days: one.days.map(daily) }],
      };
      return answerDocument(c, await textDocument(JSON.stringify(body), JSON_TYPE));
    }),
    endpoint("browser", "public", pageRoute, [], async (c) => {
      const [levels, health] = await Promise.all([read(), deps.currentHealth()]);
      const one = findAskedBank(c, levels.banks);
      const language = chooseLanguage(c.req.header("accept-language"), c.req.query("lang"));
      const addressOf = (bank?: string, lang: string = language): string =>
        `${SERVICE_LEVELS_PATH}?${new URLSearchParams({ ...(bank === undefined ? {} : { bank }), lang })}`;
      const view = {
        ...levels,
        site: deps.site,
        languageSwitch: LANGUAGES.map((lang) => ({ language: lang, href: addressOf(one?.bank, lang) })),
        addressOf: (bank?: string) => addressOf(bank),
        healthOf: (bank: string) => health.get(bank),
        slowest: BUCKETS.at(-1) ?? 0,
        ...(one === undefined ? {} : { one }),
      };
      c.header("vary", "accept-language");
      const page = await textDocument(renderServiceLevels(view, language), "text/html; charset=UTF-8");
      return answerDocument(c, page, STATE_CACHE);
    }),
  ];
}

/** Returns the bank that the query names, or undefined if it names none. @throws {ApiError} `request.not_found` */
function findAskedBank(c: Context, banks: readonly ShownLevels[]): ShownLevels | undefined {
  const text = c.req.query("bank");
  if (text === undefined) return undefined;
  const one = banks.find(({ bank }) => bank === asBankCode(text));
  if (one === undefined) throw new ApiError("request.not_found");
  return one;
}

type Shown = Omit<z.infer<typeof levelsSchema>["banks"][number], "bank" | "name" | "days">;

function represent({ bank, name, total }: ShownLevels): Shown & { bank: string; name: string } {
  return { bank, name, ...showLevels(total) };
}

function daily({ day, ...levels }: ShownLevels["days"][number]): Shown & { date: string } {
  return { date: day, ...showLevels(levels) };
}

function showLevels({ availability, answerRate, median, percentile95 }: LevelNumbers): Shown {
  return {
    availability,
    answer_rate: answerRate,
    response_median: median,
    response_percentile_95: percentile95,
  };
}

type ServiceLevels = Pick<ServiceLevelsView, "from" | "until" | "at" | "banks">;

const DAYS = 30;
const MAX_AGE_MS = 60_000;
/** The rate of fewer orders tells their number: 0.666 is two of three. */
const MIN_ORDERS = 20;

/** Without volumes. Days that have ended are read once an hour. @throws {StoreFailure} */
async function readLevels({ figuresStore, listBanks, clock }: ServiceLevelRouteDeps): Promise<ServiceLevels> {
  const at = clock();
  const [from, until] = [dayOf(at - (DAYS - 1) * DAY_MS), dayOf(at)];
  const subjects = (await listBanks()).map(bankSubject);
  const whole: typeof figuresStore = { readDay: (of, day) => figuresStore.readDay(of, day) }; // and keep it
  const reports = await reportsOf(whole, "bank", subjects, daysOf(from, until));
  return { from, until, at, banks: reports.map(levelsOf) };
}

function levelsOf({ subject: { id, name }, total, days }: Report): ShownLevels {
  return {
    bank: id,
    name,
    total: numbersOf(total),
    days: days.map(({ day, sums }) => ({ day, ...numbersOf(sums) })),
  };
}

function numbersOf(sums: Sums): LevelNumbers {
  const isShown = ordersOf(sums.counts) >= MIN_ORDERS;
  return {
    availability: roundDown(availability(sums)),
    answerRate: isShown ? roundDown(answerRate(sums), 3) : undefined,
    median: isShown ? boundOf(sums.times.pushes, 0.5) : undefined,
    percentile95: isShown ? boundOf(sums.times.pushes, 0.95) : undefined,
  };
}
