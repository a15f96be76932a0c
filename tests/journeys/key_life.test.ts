/**
 * A change of all keys under a load of payments: added, overlapping, in use, the old ones revoked. No payment fails,
 * and an old key is rejected everywhere at the latest 15 s after its revocation (Decision A9).
 */
import { assert, assertEquals } from "@std/assert";
import type { DirectoryHistory, RevokedKeySet } from "testing/directory_answers.ts";
import { clientToken, createConsent, good, push } from "testing/flows.ts";
import { authorize, Browser } from "testing/authorization_flow.ts";
import {
  kidSealedTo,
  type Pair,
  payOnce,
  seenBy,
  ticking,
  type TickingEnvironment,
  withNewKeys,
} from "support/key_drill.ts";
import { type KeyUse, usesOfOldKeys } from "support/key_uses.ts";
import { adminCall, type CertifiedKey } from "testing/participants.ts";
import { BOUND_MS } from "support/standing.ts";
import { test } from "support/environment_test.ts";
import { type Environment, START } from "testing/environment.ts";
import { unchanged } from "testing/store_contents.ts";

const CUSTOMERS = 5;
const THIEFS_PAUSE_MS = 10_000;
/** How long both keys are used before the old ones are revoked. */
const OVERLAP_MS = 240_000;
/** The platform does not ask the directory again so soon if only requests make it ask. */
const LIST_MS = 13_000;
const PURPOSES = ["signing", "transport", "encryption"] as const;

/** A payment of the load, with when it began. */
interface Paid {
  readonly at: number;
  readonly sealedTo: string;
  readonly sealing: { readonly from: number; readonly until: number };
  readonly status: string;
}

/** Customers who buy one thing after another, with the keys of the day; `failures` has what went wrong. */
interface Load {
  keys: Pair;
  readonly paid: Paid[];
  readonly failures: unknown[];
  /** Every payment that has begun until now has ended. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

/** One use of an old key; `at` is when it was sent. */
interface Attempt {
  readonly use: string;
  readonly at: number;
  readonly accepted: boolean;
}

test("all keys are changed under load, and no payment fails [A9] [A10]", async ({ env, t }) => {
  const drill = ticking(env, 1000);
  const old: Pair = { tpp: env.tpp, bank: env.bankA };
  const opening: CertifiedKey[] = encryptionKeysOf(old);
  const load = startLoad(drill, old, opening);
  await drill.reached(START + 60_000);

  const now = {
    tpp: await withNewKeys(env, old.tpp, ["signing", "transport"]),
    bank: await withNewKeys(env, old.bank, PURPOSES),
  };
  opening.push(...encryptionKeysOf(now));
  const added = env.now;
  await drill.reached(added + OVERLAP_MS);
  load.keys = now;
  const switched = env.now;
  await load.settled(); // what began with the old keys ends with them

  drill.tickMs = 500;
  const oldKeys = [
    old.tpp.signing,
    old.tpp.transport,
    old.bank.signing,
    old.bank.transport,
    ...encryptionKeysOf(old),
  ];
  await revoke(env, old, now);
  const revoked = env.now;
  const thief = startThief(drill, usesOfOldKeys(drill, old, now));
  await drill.reached(revoked + BOUND_MS + 120_000);
  const attempts = await thief.stop();
  await load.stop();

  await t.step("no payment failed, before the revocation or after", () => {
    assertEquals(load.failures, []);
    assertEquals(new Set(load.paid.map(({ status }) => status)), new Set(["AcceptedSettlementInProcess"]));
    const began = (from: number, to: number): number =>
      load.paid.filter(({ at }) => at >= from && at < to).length;
    const perPhase = [
      began(0, added),
      began(added, switched),
      began(switched, revoked + BOUND_MS),
      began(revoked + BOUND_MS, Infinity),
    ];
    assert(perPhase.every((count) => count > 0), `payments begun: ${perPhase}`);
    assert(load.paid.length >= 50, `payments: ${load.paid.length}`);
  });

  await t.step("the customer is sealed to the bank's new key as soon as it is known, for good", () => {
    const [before, after] = [encryptionKeysOf(old)[0]?.kid, encryptionKeysOf(now)[0]?.kid];
    const kids = load.paid.map(({ sealedTo, sealing }) => ({ sealedTo, ...sealing }));
    assert(
      kids.some(({ sealedTo }) => sealedTo === before) && kids.some(({ sealedTo }) => sealedTo === after),
    );
    assertEquals(kids.filter(({ until, sealedTo }) => until < added && sealedTo !== before), []);
    assertEquals(kids.filter(({ from, sealedTo }) => from >= added + BOUND_MS && sealedTo !== after), []);
  });

  for (const [use, tries] of Map.groupBy(attempts, ({ use }) => use)) {
    await t.step(`old ${use}: rejected from 15 s on`, () => {
      const firstRejection = tries.find(({ accepted }) => !accepted)?.at ?? Infinity;
      assertEquals(tries.filter(({ at, accepted }) => accepted && at >= firstRejection), []);
      const late = tries.filter(({ at }) => at >= revoked + BOUND_MS);
      assert(late.length > 0, "tried after the bound");
      assertEquals(late.filter(({ accepted }) => accepted), []);
    });
  }

  await t.step("the directory tells all of it", async () => {
    for (const { orgId } of [old.tpp, old.bank]) {
      const { history } = await good<DirectoryHistory>(
        adminCall(env, "GET", `/participants/${orgId}/history`),
        200,
      );
      const kids = history.filter(({ what }: { what: string }) => what === "key.revoked")
        .map(({ details }) => String(details["kid"]));
      const { keys } = await good<RevokedKeySet>(
        adminCall(env, "GET", `/participants/${orgId}/jwks/revoked`),
        200,
      );
      assertEquals(kids.toSorted(), keys.map(({ kid }: { kid: string }) => kid).toSorted());
      assert(kids.every((kid: string) => oldKeys.some((key) => key.kid === kid)));
    }
    assertEquals(oldKeys.length, 5);
  });
});

test("a revoked key is believed until the directory is asked again and not from 15 s on, whatever for [A9]", async ({ env, t }) => {
  const old: Pair = { tpp: env.tpp, bank: env.bankA };
  env.now += 1000; // the new keys are newer
  const now = {
    tpp: await withNewKeys(env, old.tpp, ["signing", "transport"]),
    bank: await withNewKeys(env, old.bank, PURPOSES),
  };
  env.now += BOUND_MS;
  const uses = Object.entries(usesOfOldKeys(env, old, now));
  const prepared = await Promise.all(uses.map(async ([, { prepare }]) => [await prepare(), await prepare()]));
  await revoke(env, old, now); // at the very time of the copies: they live longest
  const revoked = env.now;

  env.now = revoked + LIST_MS - 1;
  for (const [index, [name, { accepted }]] of uses.entries()) {
    await t.step(`12.999 s: ${name}`, async () => {
      const response = await (prepared[index]?.[0] ?? unprepared)();
      assertEquals(response.status, accepted, await response.text());
    });
  }

  env.now = revoked + BOUND_MS;
  for (const [index, [name, { rejected }]] of uses.entries()) {
    await t.step(`15 s: ${name}`, async () => {
      await rejected(await unchanged(env, prepared[index]?.[1] ?? unprepared));
    });
  }

  await t.step("the new keys go on", async () => {
    assertEquals(
      (await payOnce(seenBy(env, now), encryptionKeysOf(now), "explicit")).status,
      "AcceptedSettlementInProcess",
    );
  });
});

test("customers are sealed to a bank's old key until the directory is asked again, not from 15 s on [A9] [A10]", async ({ env }) => {
  env.now += BOUND_MS;
  const [old] = encryptionKeysOf({ tpp: env.tpp, bank: env.bankA });
  assertEquals(await sealedTo(env), old?.kid); // copies are of now
  const since = env.now;
  const { encryption } = await withNewKeys(env, env.bankA, ["encryption"]);
  env.now = since + LIST_MS - 1;
  assertEquals(await sealedTo(env), old?.kid);
  env.now = since + BOUND_MS;
  assertEquals(await sealedTo(env), encryption?.kid);
});

async function sealedTo(env: Environment): Promise<string> {
  const bound = await clientToken(env, env.tpp);
  const { request_uri } = await good(push(env, (await createConsent(env, bound)).Data.ConsentId), 201);
  return kidSealedTo(await authorize(new Browser(env), env.tpp, request_uri));
}

/** Customers pay until told to stop, each one payment after another, implicit and explicit in turn. */
function startLoad(env: TickingEnvironment, keys: Pair, opening: readonly CertifiedKey[]): Load {
  const load = { keys, paid: [] as Paid[], failures: [] as unknown[] };
  const running = new Set<Promise<void>>();
  let stopped = false;
  const pay = async (count: number): Promise<void> => {
    const at = env.now;
    try {
      const kind = count % 2 === 0 ? "explicit" : "implicit";
      load.paid.push({ at, ...await payOnce(seenBy(env, load.keys), opening, kind) });
    } catch (error) {
      load.failures.push(error);
    }
  };
  const customers = Array.from({ length: CUSTOMERS }, async (_, customer) => {
    for (let count = customer; !stopped; count++) {
      const payment = pay(count);
      running.add(payment);
      await payment;
      running.delete(payment);
    }
  });
  return Object.assign(load, {
    settled: async (): Promise<void> => void await Promise.all([...running]),
    stop: async (): Promise<void> => {
      stopped = true;
      await Promise.all(customers);
    },
  });
}

/** An attacker with the old keys who tries every use repeatedly. */
function startThief(
  env: TickingEnvironment,
  uses: Readonly<Record<string, KeyUse>>,
): { stop(): Promise<readonly Attempt[]> } {
  const attempts: Attempt[] = [];
  let stopped = false;
  const trying = Object.entries(uses).map(async ([name, { prepare, accepted, rejected }]) => {
    while (!stopped) {
      const send = await prepare();
      const at = env.now;
      const response = await send();
      const wasAccepted = response.status === accepted;
      attempts.push({ use: name, at, accepted: wasAccepted });
      if (wasAccepted) await response.body?.cancel();
      else await rejected(response);
      await env.reached(env.now + THIEFS_PAUSE_MS);
    }
  });
  return {
    stop: async (): Promise<readonly Attempt[]> => {
      stopped = true;
      await Promise.all(trying);
      return attempts;
    },
  };
}

/** Revokes every key of `old` that `now` does not have. */
async function revoke(env: Environment, old: Pair, now: Pair): Promise<void> {
  for (const [before, after] of [[old.tpp, now.tpp], [old.bank, now.bank]] as const) {
    for (const purpose of PURPOSES) {
      const kid = before[purpose]?.kid;
      if (kid === undefined || kid === after[purpose]?.kid) continue;
      const path = `/participants/${before.orgId}/keys/${kid}/revoke`;
      await good(adminCall(env, "POST", path, { reason: "replaced" }), 200);
    }
  }
}

function encryptionKeysOf({ bank }: Pair): CertifiedKey[] {
  return bank.encryption === undefined ? [] : [bank.encryption];
}

function unprepared(): Promise<Response> {
  throw new Error("nothing was prepared");
}
