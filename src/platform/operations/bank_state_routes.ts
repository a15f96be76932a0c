/** `GET /operations/banks` and `/operations/alarms`: the state of each bank, and what needs an operator (contract OP30, OP31). */
import { z } from "@hono/zod-openapi";
import type { PlatformEndpoint } from "../guards/http/endpoint.ts";
import { operationAnswer, operationRoute } from "../guards/http/operation_answers.ts";
import { operation } from "../guards/security/operation.ts";
import { medianOf } from "../observed/figures/last_pushes.ts";
import { alarmsSchema } from "./alarm_representation.ts";
import { readAlarms } from "./alarms.ts";
import { type BankState, type BankStateDeps, readBankStates } from "./bank_state.ts";

const orders = z.int().openapi({ description: "As they were counted last, seconds ago." });

/** Schema of the banks. */
export const bankStatesSchema = z.strictObject({
  Data: z.strictObject({
    Bank: z.array(
      z.strictObject({
        BankId: z.string(),
        Name: z.string(),
        State: z.enum(["works", "slow", "failing"]).openapi({
          description:
            "By its last pushes, at most 10 of the last 15 minutes: `failing` if it did not answer half of " +
            "them, or the circuit breaker is open; `slow` if half of its answers took longer than 1 s.",
        }),
        BreakerOpen: z.boolean().openapi({ description: "On the process that answers." }),
        Pushes: z.int(),
        PushesFailed: z.int(),
        MedianMilliseconds: z.int().optional().openapi({ description: "Of the answered ones." }),
        Waiting: orders,
        Retrying: orders.openapi({ description: "Of those that wait: with a failed push." }),
        Held: orders,
        Dead: orders,
      }).openapi("BankState"),
    ),
  }),
});

const common = { method: "get" as const, tags: ["State"] };
const banksRoute = operationRoute({
  ...common,
  path: "/operations/banks",
  operationId: "listBankStates",
  summary: "Every registered bank: its state by its last pushes, and its orders",
  description: "The last 10 pushes of 15 minutes count, of all processes.",
  answers: { 200: operationAnswer("The banks, by code", bankStatesSchema) },
});
const alarmsRoute = operationRoute({
  ...common,
  path: "/operations/alarms",
  operationId: "listAlarms",
  summary: "What needs an operator now",
  description:
    "What the platform itself knows. Its alert rules for Prometheus know more, such as a process that is gone.",
  answers: { 200: operationAnswer("Alarms, critical ones first", alarmsSchema) },
});

export function bankStateRoutes(deps: BankStateDeps): readonly PlatformEndpoint[] {
  return [
    operation(
      banksRoute,
      [],
      async (c) => c.json({ Data: { Bank: (await readBankStates(deps)).map(represent) } }),
    ),
    operation(alarmsRoute, [], async (c) => c.json({ Data: { Alarm: await readAlarms(deps) } })),
  ];
}

type BankOnWire = z.infer<typeof bankStatesSchema>["Data"]["Bank"][number];

function represent({ bank, name, state, isBreakerOpen, pushes, orders }: BankState): BankOnWire {
  const answered = pushes.filter(({ isAnswered }) => isAnswered);
  const median = Math.round(medianOf(answered.map(({ milliseconds }) => milliseconds)));
  return {
    BankId: bank,
    Name: name,
    State: state,
    BreakerOpen: isBreakerOpen,
    Pushes: pushes.length,
    PushesFailed: pushes.length - answered.length,
    ...(answered.length === 0 ? {} : { MedianMilliseconds: median }),
    Waiting: orders.waiting,
    Retrying: orders.retrying,
    Held: orders.held,
    Dead: orders.dead,
  };
}
