/** Reads traces as a participant does, after the background work has stored them. */
import { assertEquals } from "@std/assert";
import { type AnswerOf, bodyOf, type Trace, type Traces } from "testing/answers.ts";
import type { Environment } from "testing/environment.ts";
import { type BoundToken, call, clientToken } from "testing/flows.ts";
import type { Participant } from "testing/participants.ts";
import type { ReadableTrace } from "../../../../src/platform/operations/traces/trace.ts";
import { traceRecord } from "../../../../src/platform/operations/traces/trace_store.ts";

/** Reads `/traces/v1` with a path or a query behind it. */
export async function readTraces(
  env: Environment,
  rest: string,
  as: Participant = env.tpp,
  bound?: BoundToken,
): Promise<AnswerOf<Traces>> {
  await env.platform.writeTraces();
  const token = bound ?? await clientToken(env, as, as.role === "PISP" ? "BANKA" : as.orgId);
  return await call(env, as, token, `/traces/v1${rest}`);
}

/** The traces themselves. */
export async function tracesAt(env: Environment, rest: string, as?: Participant): Promise<Trace[]> {
  const answer = await readTraces(env, rest, as);
  assertEquals(answer.status, 200, `no traces at ${rest}`);
  return (await bodyOf(answer)).Data.Trace;
}

/** The answer's interaction id. */
export function idOf(answer: Response): string {
  return answer.headers.get("x-fapi-interaction-id") ?? "";
}

/** Every trace in the store. */
export async function storedTraces(
  { store }: Pick<Environment, "store">,
): Promise<readonly Pick<ReadableTrace, "trace" | "readers">[]> {
  const rows = await store.list({ prefix: [traceRecord.name], limit: 1000 });
  return rows.flatMap((row) => traceRecord.decode(row).value.traces);
}
