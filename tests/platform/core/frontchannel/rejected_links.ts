/** Links that do not lead to a bank. */
import { assertEquals } from "@std/assert";
import type { CreatedConsent } from "testing/answers.ts";
import { clientToken, createConsent, good, push } from "testing/flows.ts";
import { Browser } from "testing/authorization_flow.ts";
import { assertPage } from "testing/front_channel.ts";
import type { Environment } from "testing/environment.ts";
import { IMPLICIT } from "testing/bank_return.ts";
import { unchanged } from "testing/store_contents.ts";

export const PATH = "/BANKA/authorization.oauth2";

export function link(env: Environment, requestUri: string): string {
  return `${PATH}?${new URLSearchParams({ client_id: env.tpp.clientId, request_uri: requestUri })}`;
}

export async function pushed(
  env: Environment,
  form: Record<string, string | undefined> = {},
): Promise<{ requestUri: string; consent: CreatedConsent }> {
  const consent = await createConsent(env, await clientToken(env, env.tpp), IMPLICIT);
  const { request_uri } = await good(push(env, consent.Data.ConsentId, { form }), 201);
  return { requestUri: request_uri, consent };
}

export async function assertRejected(
  env: Environment,
  url: string,
  status: number,
  page: "link_unusable" | "shop_inactive" | "not_found" | "unavailable",
): Promise<Response> {
  const answer = await unchanged(env, () => new Browser(env).open(url));
  assertEquals(answer.headers.getSetCookie(), []);
  await assertPage(answer, status, page);
  return answer;
}
