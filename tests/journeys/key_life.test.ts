/**
 * A change of all keys under a load of payments: added, overlapping, in use, the old ones revoked. Nobody notices, but
 * who still uses an old key: refused everywhere at the latest 15 s after its revocation (Decision A9).
 */
import { assert, assertEquals } from "@std/assert";
import { authorize, Browser, clientToken, createConsent, good, push } from "../../scripts/testing/flows.ts";
import {
  kidSealedTo,
  type Pair,
  payOnce,
  seenBy,
  ticking,
  type TickingWorld,
  withNewKeys,
} from "../support/key_drill.ts";
import { type KeyUse, usesOfOldKeys } from "../support/key_uses.ts";
import { adminCall, type CertifiedKey } from "../../scripts/testing/participants.ts";
import { unchanged } from "../../scripts/testing/resource_answers.ts";
import { BOUND_MS } from "../support/standing.ts";
import { openWorld, START, type World } from "../../scripts/testing/environment.ts";

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

Deno.test("all keys are changed under load, and no payment fails [A9] [A10]", async (t) => {
  await using world = await openWorld();
  const drill = ticking(world, 1000);
  const old: Pair = { tpp: world.tpp, bank: world.bankA };
  const opening: CertifiedKey[] = encryptionKeysOf(old);
  const load = startLoad(drill, old, opening);
  await drill.reached(START + 60_000);

  const now = {
    tpp: await withNewKeys(world, old.tpp, ["signing", "transport"]),
    bank: await withNewKeys(world, old.bank, PURPOSES),
  };
  opening.push(...encryptionKeysOf(now));
  const added = world.now;
  await drill.reached(added + OVERLAP_MS);
  load.keys = now;
  const switched = world.now;
  await load.settled(); // what began with the old keys ends with them

  drill.tickMs = 500;
  const oldKeys = [
    old.tpp.signing,
    old.tpp.transport,
    old.bank.signing,
    old.bank.transport,
    ...encryptionKeysOf(old),
  ];
  await revoke(world, old, now);
  const revoked = world.now;
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
    await t.step(`old ${use}: refused from 15 s on`, () => {
      const firstRefusal = tries.find(({ accepted }) => !accepted)?.at ?? Infinity;
      assertEquals(tries.filter(({ at, accepted }) => accepted && at >= firstRefusal), []);
      const late = tries.filter(({ at }) => at >= revoked + BOUND_MS);
      assert(late.length > 0, "tried after the bound");
      assertEquals(late.filter(({ accepted }) => accepted), []);
    });
  }

  await t.step("the directory tells all of it", async () => {
    for (const { orgId } of [old.tpp, old.bank]) {
      const history = await good(adminCall(world, "GET", `/participants/${orgId}/history`), 200);
      const kids = history.filter(({ what }: { what: string }) => what === "key.revoked")
        .map(({ details }: { details: { kid: string } }) => details.kid);
      const { keys } = await good(adminCall(world, "GET", `/participants/${orgId}/jwks/revoked`), 200);
      assertEquals(kids.toSorted(), keys.map(({ kid }: { kid: string }) => kid).toSorted());
      assert(kids.every((kid: string) => oldKeys.some((key) => key.kid === kid)));
    }
    assertEquals(oldKeys.length, 5);
  });
});

Deno.test("a revoked key is believed until the directory is asked again and not from 15 s on, whatever for [A9]", async (t) => {
  await using world = await openWorld();
  const old: Pair = { tpp: world.tpp, bank: world.bankA };
  world.now += 1000; // the new keys are newer
  const now = {
    tpp: await withNewKeys(world, old.tpp, ["signing", "transport"]),
    bank: await withNewKeys(world, old.bank, PURPOSES),
  };
  world.now += BOUND_MS;
  const uses = Object.entries(usesOfOldKeys(world, old, now));
  const prepared = await Promise.all(uses.map(async ([, { prepare }]) => [await prepare(), await prepare()]));
  await revoke(world, old, now); // at the very time of the copies: they live longest
  const revoked = world.now;

  world.now = revoked + LIST_MS - 1;
  for (const [index, [name, { accepted }]] of uses.entries()) {
    await t.step(`12.999 s: ${name}`, async () => {
      const response = await (prepared[index]?.[0] ?? unprepared)();
      assertEquals(response.status, accepted, await response.text());
    });
  }

  world.now = revoked + BOUND_MS;
  for (const [index, [name, { refused }]] of uses.entries()) {
    await t.step(`15 s: ${name}`, async () => {
      await refused(await unchanged(world, prepared[index]?.[1] ?? unprepared));
    });
  }

  await t.step("the new keys go on", async () => {
    assertEquals(
      (await payOnce(seenBy(world, now), encryptionKeysOf(now), "explicit")).status,
      "AcceptedSettlementInProcess",
    );
  });
});

Deno.test("customers are sealed to a bank's old key until the directory is asked again, not from 15 s on [A9] [A10]", async () => {
  await using world = await openWorld();
  world.now += BOUND_MS;
  const [old] = encryptionKeysOf({ tpp: world.tpp, bank: world.bankA });
  assertEquals(await sealedTo(world), old?.kid); // copies are of now
  const since = world.now;
  const { encryption } = await withNewKeys(world, world.bankA, ["encryption"]);
  world.now = since + LIST_MS - 1;
  assertEquals(await sealedTo(world), old?.kid);
  world.now = since + BOUND_MS;
  assertEquals(await sealedTo(world), encryption?.kid);
});

async function sealedTo(world: World): Promise<string> {
  const bound = await clientToken(world, world.tpp);
  const { request_uri } = await good(push(world, (await createConsent(world, bound)).Data.ConsentId), 201);
  return kidSealedTo(await authorize(new Browser(world), world.tpp, request_uri));
}

/** Customers pay until told to stop, each one payment after another, implicit and explicit in turn. */
function startLoad(world: TickingWorld, keys: Pair, opening: readonly CertifiedKey[]): Load {
  const load = { keys, paid: [] as Paid[], failures: [] as unknown[] };
  const running = new Set<Promise<void>>();
  let stopped = false;
  const pay = async (count: number): Promise<void> => {
    const at = world.now;
    try {
      const kind = count % 2 === 0 ? "explicit" : "implicit";
      load.paid.push({ at, ...await payOnce(seenBy(world, load.keys), opening, kind) });
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

/** Somebody with the old keys who tries everything again and again. */
function startThief(
  world: TickingWorld,
  uses: Readonly<Record<string, KeyUse>>,
): { stop(): Promise<readonly Attempt[]> } {
  const attempts: Attempt[] = [];
  let stopped = false;
  const trying = Object.entries(uses).map(async ([name, { prepare, accepted, refused }]) => {
    while (!stopped) {
      const send = await prepare();
      const at = world.now;
      const response = await send();
      const wasAccepted = response.status === accepted;
      attempts.push({ use: name, at, accepted: wasAccepted });
      if (wasAccepted) await response.body?.cancel();
      else await refused(response);
      await world.reached(world.now + THIEFS_PAUSE_MS);
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
async function revoke(world: World, old: Pair, now: Pair): Promise<void> {
  for (const [before, after] of [[old.tpp, now.tpp], [old.bank, now.bank]] as const) {
    for (const purpose of PURPOSES) {
      const kid = before[purpose]?.kid;
      if (kid === undefined || kid === after[purpose]?.kid) continue;
      const path = `/participants/${before.orgId}/keys/${kid}/revoke`;
      await good(adminCall(world, "POST", path, { reason: "replaced" }), 200);
    }
  }
}

function encryptionKeysOf({ bank }: Pair): CertifiedKey[] {
  return bank.encryption === undefined ? [] : [bank.encryption];
}

function unprepared(): Promise<Response> {
  throw new Error("nothing was prepared");
}
