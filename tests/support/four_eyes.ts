/** Changes that need two operators, as the operations API is asked for them. */
import { assert, assertEquals } from "@std/assert";
import { FOUR_EYES_NAMES } from "../../src/platform/config/config_variables.ts";
import { bodyOf } from "testing/answers.ts";
import type { Controls, OperationError, Proposals } from "testing/operation_answers.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { changeAs, type TestOperator } from "testing/operators.ts";

export const REASON = "Fraud is suspected; case 4711 of the fraud desk.";
export const AGREED = "I have read case 4711 and agree.";
export const HOUR = 3_600_000;
const ALL = FOUR_EYES_NAMES.join(",");

/** The answer to a change: proposed, done or rejected. */
export interface ProposedBody extends Partial<OperationError> {
  readonly Data?: Partial<Proposals["Data"]["Proposal"][number]>;
}

export interface Answer {
  readonly status: number;
  readonly body: ProposedBody;
}

export async function openTwo(changes = ALL): Promise<Environment> {
  return await openEnvironment({ environment: { PLATFORM_FOUR_EYES: changes } });
}

export async function post(
  env: Environment,
  path: string,
  as: TestOperator,
  reason = REASON,
): Promise<Answer> {
  const answer = await changeAs(env, path as `/${string}`, { Reason: reason }, as);
  return { status: answer.status, body: await bodyOf<ProposedBody>(answer) };
}

export async function proposed(
  env: Environment,
  path: string,
  as: TestOperator = "security",
): Promise<string> {
  const { status, body } = await post(env, path, as);
  assertEquals([status, body.Data?.State], [202, "proposed"], JSON.stringify(body));
  return body.Data?.ProposalId ?? "";
}

export async function blocks(env: Environment): Promise<readonly string[]> {
  const { Data } = await bodyOf<Controls>(env.asOperator("/operations/controls"));
  return Data.Block.map(({ Id, By }) => `${Id} by ${By}`);
}

export async function listed(env: Environment): Promise<Proposals["Data"]["Proposal"]> {
  return (await bodyOf<Proposals>(env.asOperator("/operations/proposals", {}, "auditor"))).Data.Proposal;
}

/** A proposal whose process ended after so many commits of its approval: 1 is the approval alone. */
export async function approvedAndCut(env: Environment, after = 1): Promise<string> {
  const id = await proposed(env, "/organisations/BANKA/block");
  const { commit } = env.store;
  let commits = 0;
  env.store.commit = (staged) =>
    ++commits > after ? Promise.reject(new Error("the process ended")) : commit(staged);
  assert((await post(env, `/proposals/${id}/approve`, "maria", AGREED)).status >= 500);
  env.store.commit = commit;
  return id;
}
