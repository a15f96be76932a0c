/**
 * Acts of participants in good standing, one for each use of a key: assertion, certificate, payload signature, bank
 * JWT, redirect; and the response to each when the key is no longer trusted.
 */
import { assertEquals } from "@std/assert";
import { rejectionOf } from "testing/answers.ts";
import { call, consentBody, createConsent, good, push, requestToken } from "testing/flows.ts";
import { type AtBank, authorize, Browser, putAccounts, returnPath } from "testing/authorization_flow.ts";
import type { Participant } from "testing/participants.ts";
import { assertBare, assertFaults } from "testing/resource_answers.ts";
import type { Environment } from "testing/environment.ts";
import { sharedToken } from "testing/shared_token.ts";
import { unchanged } from "testing/store_contents.ts";

/** Maximum delay until a decision of the directory (revoked, suspended, withdrawn) takes effect, milliseconds. */
export const BOUND_MS = 15_000;
const INVALID_TOKEN = 'DPoP error="invalid_token", algs="PS256"';

/** Something that a participant can do as long as it is believed; `refused` judges the answer when it is not. */
export interface Act {
  readonly attempt: () => Promise<Response>;
  readonly accepted: number;
  readonly rejected: (response: Response) => Promise<void> | void;
}

/** Everything a TPP does, prepared while it is in good standing. */
export async function actsOfTpp(env: Environment): Promise<Readonly<Record<string, Act>>> {
  const { tpp } = env;
  const bound = await sharedToken(env, tpp);
  const { ConsentId } = (await createConsent(env, bound)).Data;
  const pushed = await good(push(env, ConsentId), 201);
  const path = "/BANKA/domestic-payment-consents/v1";
  const body = JSON.stringify(consentBody());
  return {
    "client assertion at token": {
      attempt: () => requestToken(env, tpp),
      accepted: 200,
      rejected: (response) => invalidClient(response),
    },
    "client assertion at PAR": {
      attempt: () => push(env, ConsentId),
      accepted: 201,
      rejected: (response) => invalidClient(response),
    },
    "DPoP-bound call": {
      attempt: () => call(env, tpp, bound, `${path}/${ConsentId}`),
      accepted: 200,
      rejected: (response) => invalidToken(response),
    },
    "signed payload": {
      attempt: () => call(env, tpp, bound, path, { body }),
      accepted: 201,
      rejected: (response) => invalidToken(response),
    },
    "authorize redirect": {
      attempt: () => authorize(new Browser(env), tpp, pushed.request_uri),
      accepted: 303,
      rejected: (response) => page(response),
    },
  };
}

/** Everything a bank does. Each return takes a flow of its own. */
export async function actsOfBank(
  env: Environment,
  bank: Participant,
  flow: AtBank,
): Promise<Readonly<Record<string, Act>>> {
  const bound = await sharedToken(env, bank, bank.orgId);
  const path = `/${bank.orgId}/back-channel-auth/v1/${flow.consentId}`;
  return {
    "client assertion at token": {
      attempt: () => requestToken(env, bank, bank.orgId),
      accepted: 200,
      rejected: (response) => invalidClient(response),
    },
    "DPoP-bound call": {
      attempt: () => call(env, bank, bound, path),
      accepted: 200,
      rejected: (response) => invalidToken(response),
    },
    "signed payload": {
      attempt: () => putAccounts(env, bank, flow.consentId, undefined, { bound }),
      accepted: 200,
      rejected: (response) => invalidToken(response),
    },
    "bank JWT": {
      attempt: async () => await flow.browser.open(await returnPath(env, bank, flow.handover)),
      accepted: 303,
      rejected: (response) => page(response),
    },
  };
}

/** The answer to an assertion or certificate that is not believed (contract CA14). */
export async function invalidClient(response: Response): Promise<void> {
  assertEquals([response.status, (await rejectionOf(response)).error], [401, "invalid_client"]);
}

async function invalidToken(response: Response): Promise<void> {
  assertEquals(response.headers.get("www-authenticate"), INVALID_TOKEN);
  await assertBare(response, 401);
}

/** The answer to a payload that no current key signed. */
export async function unknownSigner(response: Response): Promise<void> {
  await assertFaults(response, 400, [["Signature.InvalidClaim", "kid"]]);
}

function page(response: Response): void {
  assertEquals([response.status, response.headers.get("location")], [400, null]);
}

/** Asserts that every act is rejected with its own error, and changes no state. */
export async function rejectActs(
  t: Deno.TestContext,
  env: Environment,
  acts: Readonly<Record<string, Act>>,
): Promise<void> {
  for (const [name, { attempt, rejected }] of Object.entries(acts)) {
    await t.step(name, async () => await rejected(await unchanged(env, attempt)));
  }
}

/** Every act succeeds. */
export async function acceptActs(acts: Readonly<Record<string, Act>>): Promise<void> {
  for (const [name, { attempt, accepted }] of Object.entries(acts)) {
    assertEquals([name, (await attempt()).status], [name, accepted]);
  }
}
