/** A directory whose changes need two administrators: ana, who proposes, and luis. */
import { assertEquals } from "@std/assert";
import { soleCredential } from "../../../src/base/http/credentials.ts";
import type { DirectoryParts } from "../../../src/directory/process/compose_directory.ts";
import { FOUR_EYES_NAMES } from "../../../src/directory/changes/four_eyes.ts";
import type { DirectoryBody } from "testing/directory_answers.ts";
import {
  ADMIN_TOKEN,
  type Answer,
  type DirectoryEnvironment,
  openDirectoryEnvironment,
} from "testing/directory_environment.ts";

export const LUIS_TOKEN = "directory-test-token-of-luis-9876543210";
export const AGREED = "I have read the mandate and agree.";
export const HOUR = 3_600_000;

const [ana, luis] = [soleCredential("ana", ADMIN_TOKEN), soleCredential("luis", LUIS_TOKEN)];

/** Both administrators, by token. */
export const BOTH: DirectoryParts["administrators"] = {
  identify: async (token) => {
    const found = await luis.identify(token);
    return found.name === undefined ? await ana.identify(token) : found;
  },
};

export async function openTwo(changes: Partial<DirectoryParts> = {}): Promise<DirectoryEnvironment> {
  return await openDirectoryEnvironment({ administrators: BOTH, fourEyes: FOUR_EYES_NAMES, ...changes });
}

/** Sends a request as the second administrator. */
export async function asLuis<const M extends string, const P extends string>(
  env: DirectoryEnvironment,
  method: M,
  path: P,
  body?: unknown,
): Promise<Answer<DirectoryBody<`${M} ${P}`>>> {
  return await env.admin(method, path, body, { authorization: `Bearer ${LUIS_TOKEN}` });
}

/** Proposes a change as the first administrator. Returns the id of the proposal. */
export async function proposed(
  env: DirectoryEnvironment,
  method: string,
  path: string,
  body: unknown,
): Promise<string> {
  const answer = await env.admin(method, path, body);
  assertEquals([answer.status, answer.body.state], [202, "proposed"], JSON.stringify(answer.body));
  return answer.body.proposal_id ?? "";
}

export async function approve(
  env: DirectoryEnvironment,
  id: string,
): Promise<Answer<DirectoryBody<"POST /proposals/id/approve">>> {
  return await asLuis(env, "POST", `/proposals/${id}/approve`, { reason: AGREED });
}

export async function stateOf(env: DirectoryEnvironment, id: string): Promise<string> {
  return (await env.admin("GET", `/proposals/${id}`)).body.state;
}

/** Makes a change with both administrators. */
export async function made(
  env: DirectoryEnvironment,
  method: string,
  path: string,
  body: unknown,
): Promise<DirectoryBody<"POST /proposals/id/approve">> {
  const { status, body: answer } = await approve(env, await proposed(env, method, path, body));
  assertEquals(status, 200, JSON.stringify(answer));
  return answer;
}
