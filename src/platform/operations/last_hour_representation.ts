/** The last hour of all processes by minute, and the day, on the wire (contract OP24). */
import { z } from "@hono/zod-openapi";
import { addFigures, boundOf, dayOf, type Figures, noFigures } from "../observed/figures/figures.ts";
import type { FiguresStore } from "../observed/figures/figures_store.ts";
import { isShown, minuteOf, MINUTES_SHOWN } from "../observed/figures/recorder.ts";
import type { ProcessState } from "./process_store.ts";
import { reasonsSchema, representReasons } from "./reports/report_representation.ts";
import { dataSchema } from "../guards/http/operation_answers.ts";

const sums = {
  Succeeded: z.int().openapi({ description: "Requests of TPPs and banks that succeeded." }),
  Rejected: z.int().openapi({ description: "Answered with 4xx." }),
  Failed: z.int().openapi({ description: "Answered with 5xx." }),
  Payments: z.int().openapi({ description: "Payments that were made." }),
  OrdersAnswered: z.int().openapi({ description: "Pushed orders that their banks answered." }),
  OrdersGivenUp: z.int(),
  PushesFailed: z.int().openapi({ description: "Pushes of orders that no bank answered with a status." }),
  Percentile95AtMost: z.number().nullable().optional().openapi({
    description: "Milliseconds of a request; null if over 3000, absent without requests.",
  }),
};

const withReasons = { ...sums, Reason: reasonsSchema };

/** Schema of the last hour. */
export const lastHourSchema = dataSchema({
  Total: z.strictObject(withReasons),
  Today: z.strictObject(withReasons).openapi({
    description: "The day (UTC). Each process stores its sums with its last hour.",
  }),
  Minute: z.array(z.strictObject({ DateTime: z.string().openapi({ format: "date-time" }), ...sums }))
    .openapi({ description: "Oldest first. The last one is not over." }),
}).openapi("LastHour");

type Sums = Omit<z.infer<typeof lastHourSchema>["Data"]["Minute"][number], "DateTime">;

/** Adds up the minutes of all processes. `now` is in milliseconds. */
export function representLastHour(
  processes: readonly Pick<ProcessState, "minutes">[],
  today: Figures,
  now: number,
): z.infer<typeof lastHourSchema> {
  const last = minuteOf(now);
  const byMinute = new Map(
    Array.from({ length: MINUTES_SHOWN }, (_, place) => [last - MINUTES_SHOWN + 1 + place, noFigures()]),
  );
  const total = noFigures();
  for (const { minute, ...figures } of processes.flatMap(({ minutes }) => minutes)) {
    const sum = isShown(minute, last) ? byMinute.get(minute) : undefined;
    if (sum === undefined) continue;
    addFigures(sum, { ...figures, minutes: {} });
    addFigures(total, { ...figures, minutes: {} });
  }
  return {
    Data: {
      Total: { ...represent(total), Reason: representReasons(total.reasons) },
      Today: { ...represent(today), Reason: representReasons(today.reasons) },
      Minute: [...byMinute].map(([minute, figures]) => ({
        DateTime: new Date(minute * 60_000).toISOString(),
        ...represent(figures),
      })),
    },
  };
}

/**
 * Returns the sums of a day: requests and payments of every client, and orders of every bank.
 *
 * @throws {StoreFailure}
 */
export async function figuresOfDay(store: Pick<FiguresStore, "readDay">, now: number): Promise<Figures> {
  const day = dayOf(now);
  const [clients, banks] = await Promise.all([store.readDay("client", day), store.readDay("bank", day)]);
  const sum = noFigures();
  for (const { counts, reasons, times } of clients.values()) {
    addFigures(sum, { counts, reasons, times, minutes: {} });
  }
  for (
    const { counts: { succeeded: _s, rejected: _r, failed: _f, payments: _p, ...ofOrders } } of banks.values()
  ) {
    addFigures(sum, { ...noFigures(), counts: ofOrders }); // a bank's requests are those of its clients
  }
  return sum;
}

function represent({ counts, times }: Figures): Sums {
  const count = (name: keyof Figures["counts"]): number => counts[name] ?? 0;
  const most = boundOf(times.requests, 0.95);
  return {
    Succeeded: count("succeeded"),
    Rejected: count("rejected"),
    Failed: count("failed"),
    Payments: count("payments"),
    OrdersAnswered: count("answeredAtFirst") + count("answeredLater"),
    OrdersGivenUp: count("givenUp"),
    PushesFailed: count("refused") + count("unclear") + count("unreachable"),
    Percentile95AtMost: most,
  };
}
