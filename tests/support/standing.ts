/**
 * What participants in good standing can do, one act for each way in which a key is used: assertion, certificate,
 * payload signature, bank JWT, redirect; and what each is answered when the key is not believed any more.
 */
import { assertEquals } from "@std/assert";
import {
  type AtBank,
  authorize,
  Browser,
  call,
  clientToken,
  consentBody,
  createConsent,
  good,
  push,
  putAccounts,
  requestToken,
  returnPath,
} from "../../scripts/testing/flows.ts";
import type { Participant } from "../../scripts/testing/participants.ts";
import { assertBare, assertFaults, unchanged } from "../../scripts/testing/resource_answers.ts";
import type { World } from "../../scripts/testing/environment.ts";

/** What the directory has revoked, suspended or withdrawn is believed no longer than this, milliseconds. */
export const BOUND_MS = 15_000;
const INVALID_TOKEN = 'DPoP error="invalid_token", algs="PS256"';

/** Something that a participant can do as long as it is believed; `refused` judges the answer when it is not. */
export interface Act {
  readonly attempt: () => Promise<Response>;
  readonly accepted: number;
  readonly refused: (response: Response) => Promise<void> | void;
}

/** Everything a TPP does, prepared while it is in good standing. */
export async function actsOfTpp(world: World): Promise<Readonly<Record<string, Act>>> {
  const { tpp } = world;
  const bound = await clientToken(world, tpp);
  const { ConsentId } = (await createConsent(world, bound)).Data;
  const pushed = await good(push(world, ConsentId), 201);
  const path = "/BANKA/domestic-payment-consents/v1";
  const body = JSON.stringify(consentBody());
  return {
    "client assertion at token": {
      attempt: () => requestToken(world, tpp),
      accepted: 200,
      refused: (response) => invalidClient(response),
    },
    "client assertion at PAR": {
      attempt: () => push(world, ConsentId),
      accepted: 201,
      refused: (response) => invalidClient(response),
    },
    "DPoP-bound call": {
      attempt: () => call(world, tpp, bound, `${path}/${ConsentId}`),
      accepted: 200,
      refused: (response) => invalidToken(response),
    },
    "signed payload": {
      attempt: () => call(world, tpp, bound, path, { body }),
      accepted: 201,
      refused: (response) => invalidToken(response),
    },
    "authorize redirect": {
      attempt: () => authorize(new Browser(world), tpp, pushed.request_uri),
      accepted: 303,
      refused: (response) => page(response),
    },
  };
}

/** Everything a bank does. Each return takes a flow of its own. */
export async function actsOfBank(
  world: World,
  bank: Participant,
  flow: AtBank,
): Promise<Readonly<Record<string, Act>>> {
  const bound = await clientToken(world, bank, bank.orgId);
  const path = `/${bank.orgId}/back-channel-auth/v1/${flow.consentId}`;
  return {
    "client assertion at token": {
      attempt: () => requestToken(world, bank, bank.orgId),
      accepted: 200,
      refused: (response) => invalidClient(response),
    },
    "DPoP-bound call": {
      attempt: () => call(world, bank, bound, path),
      accepted: 200,
      refused: (response) => invalidToken(response),
    },
    "signed payload": {
      attempt: () => putAccounts(world, bank, flow.consentId, undefined, { bound }),
      accepted: 200,
      refused: (response) => invalidToken(response),
    },
    "bank JWT": {
      attempt: async () => await flow.browser.open(await returnPath(world, bank, flow.handover)),
      accepted: 303,
      refused: (response) => page(response),
    },
  };
}

/** The answer to an assertion or certificate that is not believed (checklist CA14). */
export async function invalidClient(response: Response): Promise<void> {
  assertEquals([response.status, (await response.json()).error], [401, "invalid_client"]);
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

/** Every act is refused in its own words, and changes nothing. */
export async function refuseActs(
  t: Deno.TestContext,
  world: World,
  acts: Readonly<Record<string, Act>>,
): Promise<void> {
  for (const [name, { attempt, refused }] of Object.entries(acts)) {
    await t.step(name, async () => await refused(await unchanged(world, attempt)));
  }
}

/** Every act succeeds. */
export async function acceptActs(acts: Readonly<Record<string, Act>>): Promise<void> {
  for (const [name, { attempt, accepted }] of Object.entries(acts)) {
    assertEquals([name, (await attempt()).status], [name, accepted]);
  }
}
