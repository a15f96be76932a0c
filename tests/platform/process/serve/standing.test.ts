/**
 * How soon the directory's decisions take effect: the platform as a process with its background work, the directory
 * behind real TLS, the computer's clock.
 */
import { assert, assertEquals } from "@std/assert";
import { revokeKey, setOrganisation } from "support/directory_network.ts";
import { call, clientToken, consentBody, createConsent, push, requestToken } from "testing/flows.ts";
import { renewedStatement } from "testing/registration.ts";
import { openServedEnvironment, type ServedEnvironment } from "testing/served_environment.ts";
import { SHOP_REDIRECTS } from "testing/environment.ts";

const BOUND_SECONDS = 15;
const [KEPT = "", REMOVED = ""] = SHOP_REDIRECTS;

/** A change at the directory, and the request that shows when it takes effect. */
interface Decision {
  readonly decide: () => Promise<unknown>;
  readonly attempt: () => Promise<Response>;
  readonly before: number;
  readonly after: number;
}

async function status(attempt: Decision["attempt"]): Promise<number> {
  const response = await attempt();
  await response.body?.cancel();
  return response.status;
}

/** Seconds from the directory's answer to the first request that is judged by it. */
async function secondsUntil({ attempt, after }: Decision, since: number): Promise<number> {
  while (await status(attempt) !== after) {
    if (Date.now() - since > 2 * BOUND_SECONDS * 1000) return Infinity;
    await new Promise((resolve) => setTimeout(resolve, 400));
  }
  return (Date.now() - since) / 1000;
}

async function decisions(env: ServedEnvironment): Promise<Readonly<Record<string, Decision>>> {
  const { fixture, tpp, bankA, bankB } = env;
  const atA = await clientToken(env, tpp);
  const atB = await clientToken(env, tpp, "BANKB");
  const { ConsentId } = (await createConsent(env, atA)).Data;
  const body = JSON.stringify(consentBody());
  return {
    "a bank is withdrawn: its TPPs create no consent": {
      decide: () => setOrganisation(fixture, bankB, "Withdrawn"),
      attempt: () => call(env, tpp, atB, "/BANKB/domestic-payment-consents/v1", { body }),
      before: 201,
      after: 403,
    },
    "a redirect URI is removed: PAR rejects it": {
      decide: () => renewedStatement(fixture, tpp, { redirect_uris: [KEPT] }),
      attempt: () => push(env, ConsentId, { form: { redirect_uri: REMOVED } }),
      before: 201,
      after: 400,
    },
    "a bank's signing key is revoked: it signs nothing": {
      decide: () => revokeKey(fixture, bankA, bankA.signing),
      attempt: () => requestToken(env, bankA),
      before: 200,
      after: 401,
    },
  };
}

Deno.test("decisions of the directory are in effect within 15 s, measured over HTTP [G5] [A9]", async (t) => {
  await using env = await openServedEnvironment();
  const { fixture, tpp } = env;
  const all = await decisions(env);
  for (const { attempt, before } of Object.values(all)) assertEquals(await status(attempt), before);
  const took = await Promise.all(
    Object.entries(all).map(async ([name, decision]) => {
      await decision.decide();
      return [name, await secondsUntil(decision, Date.now())] as const;
    }),
  );
  for (const [name, seconds] of took) {
    await t.step(name, () => assert(seconds <= BOUND_SECONDS, `${seconds} s`));
  }
  await t.step("a TPP is suspended: it gets no token", async () => {
    const suspension: Decision = {
      decide: () => setOrganisation(fixture, tpp, "Suspended"),
      attempt: () => requestToken(env, tpp),
      before: 200,
      after: 401,
    };
    assertEquals(await status(suspension.attempt), suspension.before);
    await suspension.decide();
    const seconds = await secondsUntil(suspension, Date.now());
    assert(seconds <= BOUND_SECONDS, `${seconds} s`);
  });
});
