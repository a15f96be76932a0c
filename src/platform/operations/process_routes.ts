/** `GET /operations/processes`: the processes of the platform that share this database (contract OP18). */
import { z } from "@hono/zod-openapi";
import type { Clock } from "../../base/kernel/clock.ts";
import type { Store } from "../../base/store/store.ts";
import type { FiguresStore } from "../observed/figures/figures_store.ts";
import type { PlatformEndpoint } from "../guards/http/endpoint.ts";
import { dataSchema, operationAnswer, operationRoute } from "../guards/http/operation_answers.ts";
import { operation } from "../guards/security/operation.ts";
import { figuresOfDay, lastHourSchema, representLastHour } from "./last_hour_representation.ts";
import { listCurrentProcesses, listProcesses, type ProcessState } from "./process_store.ts";

export interface ProcessRouteDeps {
  readonly store: Store;
  readonly figuresStore: Pick<FiguresStore, "readDay">;
  readonly clock: Clock;
}

/** Three notes are missing then. A note from the future is as wrong as an old one: a clock is. */
const LOST_MS = 30_000;

const at = z.string().openapi({ format: "date-time", description: "With milliseconds." });

/** Schema of the processes. */
export const processesSchema = dataSchema({
  Process: z.array(
    z.strictObject({
      ProcessId: z.string().openapi({ description: "Of this start of the process." }),
      Name: z.string().openapi({ description: "`PLATFORM_PROCESS_NAME`, or the address of its listener." }),
      Serves: z.enum(["all", "api", "browser", "console"]),
      State: z.enum(["works", "fails", "lost"]).openapi({
        description: "`lost`: it has not noted its state for 30 s. It was killed, hangs or cannot write.",
      }),
      Fault: z.array(z.string()).openapi({ description: "The parts that fail, each with a detail." }),
      StartDateTime: at,
      NotedDateTime: at,
      RequestsInWork: z.int(),
      SigningKeyId: z.string(),
    }).openapi("Process"),
  ),
});

const route = operationRoute({
  method: "get",
  path: "/operations/processes",
  operationId: "listProcesses",
  tags: ["State"],
  summary: "The processes of the platform, by name",
  description:
    "Each notes its state every 10 s. A process that was killed is listed for 15 minutes, or until one of its name starts.",
  answers: {
    200: operationAnswer("Every process on this database", processesSchema),
  },
});

const lastHourRoute = operationRoute({
  method: "get",
  path: "/operations/last-hour",
  operationId: "readLastHour",
  tags: ["State"],
  summary: "The last hour by minute, and the day: requests, payments, orders and times of all processes",
  description: "Each process reports its own every 10 s, and takes them along when it stops.",
  answers: { 200: operationAnswer("The last 60 minutes", lastHourSchema) },
});

export function processRoutes(
  { store, figuresStore, clock }: ProcessRouteDeps,
): readonly PlatformEndpoint[] {
  return [
    operation(lastHourRoute, [], async (c) => {
      const now = clock();
      const [all, today] = await Promise.all([listProcesses(store, now), figuresOfDay(figuresStore, now)]);
      return c.json(representLastHour(all, today, now));
    }),
    operation(route, [], async (c) => {
      const now = clock();
      const states = await listCurrentProcesses(store, now);
      return c.json({ Data: { Process: states.map((state) => represent(state, now)) } });
    }),
  ];
}

type ProcessOnWire = z.infer<typeof processesSchema>["Data"]["Process"][number];

/** The state of a process at `now` (milliseconds). */
export function stateOfProcess({ parts, notedAt }: ProcessState, now: number): ProcessOnWire["State"] {
  if (Math.abs(now - notedAt) > LOST_MS) return "lost";
  return parts.every(({ ok }) => ok) ? "works" : "fails";
}

function represent(state: ProcessState, now: number): ProcessOnWire {
  const failing = state.parts.filter(({ ok }) => !ok);
  return {
    ProcessId: state.id,
    Name: state.name,
    Serves: servedOf(state),
    State: stateOfProcess(state, now),
    Fault: failing.map(({ name, detail }) => detail === undefined ? name : `${name}: ${detail}`),
    StartDateTime: new Date(state.startedAt).toISOString(),
    NotedDateTime: new Date(state.notedAt).toISOString(),
    RequestsInWork: state.inWork,
    SigningKeyId: state.signingKid,
  };
}

function servedOf({ served }: ProcessState): ProcessOnWire["Serves"] {
  return served === "api" || served === "browser" || served === "console" ? served : "all";
}
