/**
 * Every way in which the keys of a TPP and a bank are used, with an old key beside keys that are otherwise new: what
 * is answered while the old key is believed, and when it is not any more.
 */
import { assertEquals } from "@std/assert";
import {
  call,
  clientToken,
  consentBody,
  createConsent,
  type FlowEnvironment,
  pay,
  push,
  requestToken,
} from "testing/flows.ts";
import { authorised, putAccounts, returnPath, toBank } from "testing/authorization_flow.ts";
import { type Pair, seenBy } from "./key_drill.ts";
import { invalidClient, unknownSigner } from "./standing.ts";
import type { Participant } from "testing/participants.ts";
import { assertBare } from "testing/resource_answers.ts";

/** One way to use a key. `prepare` comes first and uses new keys only; what it gives uses the old one, once. */
export interface KeyUse {
  readonly prepare: () => Promise<() => Promise<Response>>;
  readonly accepted: number;
  readonly rejected: (response: Response) => Promise<void>;
}

/** Every way in which the old keys of a TPP and its bank can be used beside their new ones. */
export function usesOfOldKeys(env: FlowEnvironment, old: Pair, now: Pair): Readonly<Record<string, KeyUse>> {
  return { ...usesByTpp(env, old.tpp, now), ...usesByBank(env, old.bank, now) };
}

function usesByTpp(env: FlowEnvironment, old: Participant, { tpp, bank }: Pair): Record<string, KeyUse> {
  const good = seenBy(env, { tpp, bank });
  const signing = { ...tpp, signing: old.signing };
  const transport = { ...tpp, transport: old.transport };
  const oldSigning = seenBy(env, { tpp: signing, bank });
  const consents = "/BANKA/domestic-payment-consents/v1";
  const newConsent = async (): Promise<{ bound: Awaited<ReturnType<typeof clientToken>>; id: string }> => {
    const bound = await clientToken(good, tpp);
    return { bound, id: (await createConsent(good, bound)).Data.ConsentId };
  };
  return {
    "client assertion at the token endpoint": use(
      200,
      invalidClient,
      () => () => requestToken(good, signing),
    ),
    "client assertion at PAR": use(201, invalidClient, async () => {
      const { id } = await newConsent();
      return () => push(good, id, { client: signing });
    }),
    "certificate at the token endpoint": use(
      200,
      invalidClient,
      () => () => requestToken(good, tpp, "BANKA", { as: transport }),
    ),
    "certificate of a DPoP-bound call": use(200, invalidToken, async () => {
      const { bound, id } = await newConsent();
      return () => call(good, tpp, bound, `${consents}/${id}`, { as: transport });
    }),
    "signature of a consent": use(201, unknownSigner, async () => {
      const bound = await clientToken(good, tpp);
      return () => call(good, signing, bound, consents, { body: JSON.stringify(consentBody()) });
    }),
    "signature of a payment": use(201, unknownSigner, async () => {
      const flow = await authorised(good);
      return () => pay(oldSigning, flow);
    }),
  };
}

function usesByBank(env: FlowEnvironment, old: Participant, { tpp, bank }: Pair): Record<string, KeyUse> {
  const good = seenBy(env, { tpp, bank });
  const signing = { ...bank, signing: old.signing };
  const transport = { ...bank, transport: old.transport };
  const asked = async (): Promise<{ path: string; bound: Awaited<ReturnType<typeof clientToken>> }> => {
    const { consentId } = await toBank(good);
    return { path: `/BANKA/back-channel-auth/v1/${consentId}`, bound: await clientToken(good, bank) };
  };
  return {
    "bank's client assertion": use(200, invalidClient, () => () => requestToken(good, signing)),
    "bank's certificate": use(200, invalidToken, async () => {
      const { path, bound } = await asked();
      return () => call(good, bank, bound, path, { as: transport });
    }),
    "bank's signature of payer accounts": use(200, unknownSigner, async () => {
      const { consentId } = await toBank(good);
      const bound = await clientToken(good, bank);
      return () => putAccounts(good, signing, consentId, undefined, { bound });
    }),
    "bank's return": use(303, noRedirect, async () => {
      const flow = await toBank(good);
      await putAccounts(good, bank, flow.consentId);
      return async () => await flow.browser.open(await returnPath(good, signing, flow.handover));
    }),
  };
}

function use(
  accepted: number,
  rejected: KeyUse["rejected"],
  prepare: () => (() => Promise<Response>) | Promise<() => Promise<Response>>,
): KeyUse {
  return { accepted, rejected, prepare: async () => await prepare() };
}

async function invalidToken(response: Response): Promise<void> {
  assertEquals(response.headers.get("www-authenticate"), 'DPoP error="invalid_token", algs="PS256"');
  await assertBare(response, 401);
}

async function noRedirect(response: Response): Promise<void> {
  await response.body?.cancel();
  assertEquals([response.status, response.headers.get("location")], [400, null]);
}
