/** Every answer of the resource endpoints. */
import { bodyOf } from "testing/answers.ts";
import { call, consentBody, pay } from "testing/flows.ts";
import { authorised } from "testing/authorization_flow.ts";
import { CONSENTS, PAYMENTS } from "support/resource_calls.ts";
import type { Environment } from "testing/environment.ts";

export const ID = "x-fapi-interaction-id";

/** One request for each way in which a resource endpoint can answer, by status. */
export async function everyAnswer(
  env: Environment,
): Promise<readonly (readonly [string, number, (id?: string) => Promise<Response>])[]> {
  const { bound, payment, consentId } = await authorised(env);
  const made = await bodyOf(pay(env, await authorised(env)));
  const body = JSON.stringify(consentBody());
  const to =
    (path: string, options: Parameters<typeof call>[4] = {}, token = bound) =>
    (id?: string): Promise<Response> =>
      call(env, env.tpp, token, path, {
        ...options,
        headers: { ...options.headers, ...(id === undefined ? {} : { [ID]: id }) },
      });
  return [
    ["POST consent", 201, to(CONSENTS, { body })],
    ["GET consent", 200, to(`${CONSENTS}/${consentId}`)],
    ["GET funds", 200, to(`${CONSENTS}/${consentId}/funds-confirmation`)],
    ["GET payment", 200, to(`${PAYMENTS}/${made.Data.DomesticPaymentId}`)],
    ["idempotent replay", 201, to(CONSENTS, { body, idempotencyKey: "again" })],
    ["bad field", 400, to(CONSENTS, { body: "{}" })],
    ["no signature", 400, to(CONSENTS, { body, signature: null })],
    ["unknown consent", 400, to(`${CONSENTS}/${crypto.randomUUID()}`)],
    ["bad JSON", 400, to(CONSENTS, { body: "{" })],
    ["no token", 401, to(CONSENTS, { body, headers: { authorization: undefined } })],
    ["no proof", 401, to(`${CONSENTS}/${consentId}`, { proof: null })],
    ["no certificate", 401, to(CONSENTS, { body, as: null })],
    ["wrong grant", 403, to(CONSENTS, { body }, payment)],
    ["unknown bank", 404, to("/BANKC/domestic-payments/v1", { body })],
    ["unknown version", 404, to("/BANKA/domestic-payments/v2", { body })],
    ["wrong method", 405, to(CONSENTS, { body, method: "PATCH" })],
    ["wrong Accept", 406, to(CONSENTS, { body, headers: { accept: "text/html" } })],
    ["too large", 413, to(CONSENTS, { body: body.padEnd(70_000) })],
    ["wrong type", 415, to(CONSENTS, { body, headers: { "content-type": "text/plain" } })],
  ];
}
