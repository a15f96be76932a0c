/** Consents that were never authorised lose their personal data after the configured days. */
import { assert, assertEquals, assertFalse } from "@std/assert";
import {
  eraseConsents,
  type EraseConsentsDeps,
} from "../../../../src/platform/core/consents/erase_consents.ts";
import type { ConsentStore } from "../../../../src/platform/core/consents/consent_store.ts";
import type { Commit } from "../../../../src/base/store/store.ts";
import { openTestStore } from "testing/test_store.ts";
import { asConsentId, newConsentId } from "../../../../src/base/kernel/identifiers.ts";
import { auditKey, consentErasureKey } from "../../../../src/platform/config/store_keys.ts";
import { historyOf } from "testing/histories.ts";
import {
  type AtBank,
  authorised,
  decide,
  putAccounts,
  returnPath,
  toBank,
} from "testing/authorization_flow.ts";
import { call, clientToken, consentBody, good, pay } from "testing/flows.ts";
import { type Environment } from "testing/environment.ts";
import { DAY_MS, elapse } from "support/retention.ts";
import { test } from "support/environment_test.ts";

const BODY = consentBody({ initiation: { RemittanceInformation: { Unstructured: "Flowers for Ada" } } });

async function rejected(env: Environment): Promise<AtBank> {
  const flow = await toBank(env, { body: BODY });
  await good(putAccounts(env, flow.bank, flow.consentId), 200);
  const shown = await flow.browser.open(await returnPath(env, flow.bank, flow.handover));
  await decide(flow.browser, shown.headers.get("location") ?? "", "refuse");
  return flow;
}

async function statusOf(env: Environment, consentId: string): Promise<number> {
  const path = `/BANKA/domestic-payment-consents/v1/${consentId}`;
  const response = await call(env, env.tpp, await clientToken(env, env.tpp), path);
  await response.body?.cancel();
  return response.status;
}

/** The entries of the consents in the store, with their evidence. */
async function stored(env: Environment): Promise<string> {
  const kept = (await env.snapshot()).filter(({ key }) =>
    ["consent", "evidence", "audit"].includes(key[0] ?? "")
  );
  return JSON.stringify(await Promise.all(kept.map(({ key }) => env.store.get(key))));
}

test("a rejected and an expired consent lose their personal data after 30 days, and not before; a paid one keeps it [EN10]", async ({ env, t }) => {
  const paid = await authorised(env);
  await good(pay(env, paid), 201);
  const flow = await rejected(env);
  const expired = await toBank(env, { body: BODY });
  env.now += DAY_MS; // the time to authorise
  await env.platform.sweepConsents();
  await t.step("not before", async () => {
    await elapse(env, 29 * DAY_MS - 1000);
    assertEquals(await env.platform.eraseConsents(), 0);
    assertEquals([await statusOf(env, flow.consentId), await statusOf(env, expired.consentId)], [200, 200]);
    assert((await stored(env)).includes("Flowers for Ada"));
  });
  await t.step("after", async () => {
    await elapse(env, DAY_MS + 2000);
    assertEquals(await env.platform.eraseConsents(), 2);
    assertEquals(await env.platform.eraseConsents(), 0);
    const left = await stored(env);
    assertFalse(left.includes("Flowers for Ada"));
    assertEquals([await statusOf(env, flow.consentId), await statusOf(env, expired.consentId)], [400, 400]);
  });
  await t.step("the history stays and says so", async () => {
    const history = await historyOf(env.store, flow.consentId);
    const last = history.at(-1);
    assertEquals([last?.event, last?.actor], ["consent.personal_data_deleted", "clock"]);
    assertEquals(history.map(({ sequence }) => sequence), history.map((_, index) => index + 1));
    const kinds = history.flatMap(({ items = [] }) => items).map(({ kind }) => kind);
    assertEquals(kinds.length, (last?.deleted?.length ?? 0) + 1); // the decision has deleted the report of accounts
  });
  await t.step("the paid consent", async () => assertEquals(await statusOf(env, paid.consentId), 200));
});

test("consents that cannot be handled keep no other from its turn [EN10]", async ({ env }) => {
  const flow = await rejected(env);
  const writes = Array.from({ length: 60 }, () => {
    const id = newConsentId();
    return [
      { kind: "set", key: consentErasureKey(1, id), value: { consentId: id, v: 1 } } as const,
      { kind: "set", key: auditKey(id, 1), value: "damaged" } as const,
    ];
  });
  await env.store.commit({ checks: [], writes: writes.flat() });
  await elapse(env, 31 * DAY_MS);
  for (let pass = 0; pass < 3; pass++) await env.platform.eraseConsents();
  assertFalse((await stored(env)).includes("Flowers for Ada"));
  assertEquals(await statusOf(env, flow.consentId), 400);
});

test("a consent that was recovered leaves the list of those to forget, however much evidence it has [EN10, G9]", async ({ env }) => {
  const paid = await authorised(env);
  await good(pay(env, paid), 201);
  const consentId = asConsentId(paid.consentId) ?? newConsentId();
  const items = Array.from({ length: 101 }, (_, index) => ({ kind: `k${index}`, sha256: "x" }));
  const note = {
    v: 1,
    sequence: 99,
    salt: "AAAAAAAAAAAAAAAAAAAAAA",
    at: env.now,
    event: "consent.noted",
    actor: "clock",
    items,
  };
  await env.store.commit({
    checks: [],
    writes: [
      {
        kind: "set",
        key: consentErasureKey(1, consentId),
        value: { consentId: paid.consentId, v: 1 },
      },
      { kind: "set", key: auditKey(paid.consentId, env.now + 1), value: note },
    ],
  });
  await elapse(env, 1000);
  assertEquals(await env.platform.eraseConsents(), 1);
  assertEquals((await env.snapshot()).filter(({ key }) => key[0] === "consent_erasure"), []);
  assertEquals(await env.platform.eraseConsents(), 0);
  assertEquals(await statusOf(env, paid.consentId), 200);
});

test("a clock that is ahead deletes no personal data of a consent early [EN10, EN15]", async ({ env }) => {
  await toBank(env, { body: BODY });
  await env.platform.growLog();
  env.clockStep = 5 * 365 * DAY_MS;
  await env.platform.sweepConsents();
  assertEquals(await env.platform.eraseConsents(), 0, "no time is stored");
  await env.platform.followTime();
  env.now += 60_000;
  await env.platform.followTime();
  assertEquals(await env.platform.eraseConsents(), 0);
  assert((await stored(env)).includes("Flowers for Ada"));
});

/** A consent whose data is due: its status, or none; how much evidence it has; what happens to it meanwhile. */
interface Due {
  readonly status?: "Rejected" | "Consumed";
  readonly pieces?: number;
  readonly isHeld?: true;
  readonly isGone?: true;
  /** Another process handles it before the first commit. */
  readonly loses?: true;
  readonly fails?: true;
}

/** The number that a pass handles, and what it does with each consent, in its order. */
async function passOver(due: readonly Due[]): Promise<readonly unknown[]> {
  const ids = due.map(() => newConsentId());
  const note = { v: 1, salt: "AAAAAAAAAAAAAAAAAAAAAA", at: 1, event: "consent.noted", actor: "clock" };
  await using store = await openTestStore();
  const writes = due.flatMap(({ pieces = 0 }, index) => {
    const items = Array.from({ length: pieces }, (_, item) => ({ kind: `k${item}`, sha256: "x" }));
    const key = auditKey(ids[index] ?? "", 1);
    return pieces === 0 ? [] : [{ kind: "set", key, value: { ...note, sequence: 1, items } } as const];
  });
  await store.commit({ checks: [], writes });
  const done: unknown[] = [];
  const of = (id: string): Due => due[ids.findIndex((one) => one === id)] ?? {};
  const told = (what: string, id: string, ...more: readonly unknown[]): number =>
    done.push([what, ids.findIndex((one) => one === id), ...more]);
  const consents: Partial<ConsentStore> = {
    dueToErase: (now, limit) =>
      Promise.resolve(told("read", "", now, limit)).then(() =>
        ids.map((consentId) => ({ key: ["consent_erasure", consentId], consentId }))
      ),
    find(_from, id) {
      const { status, fails } = of(id);
      if (fails) return Promise.reject(new Error("cannot be read"));
      const value = { id, status, bank: id, request: { initiation: { instructedAmount: {} } } };
      const entry: unknown = status === undefined ? null : { key: ["consent", id], value, version: "1" };
      return Promise.resolve(entry as Awaited<ReturnType<ConsentStore["find"]>>);
    },
    standsDeadline: (_from, { consentId }) =>
      Promise.resolve(of(consentId).isGone === undefined && !lost.has(consentId)),
    async stageErasureLater(tx, { key, consentId }, at) {
      await new Promise((resolve) => setTimeout(resolve));
      told("later", consentId, at);
      tx.writes.push({ kind: "delete", key });
    },
    stageDeadlineGone(tx, { key, consentId }) {
      told("deadline gone", consentId);
      tx.writes.push({ kind: "delete", key });
    },
    stageCustomerErased(tx, { key }, changed, deleted, isLast) {
      told("erased", changed.id, changed.personalData, deleted.length, isLast);
      tx.writes.push({ kind: "delete", key });
    },
  };
  const lost = new Set<string>();
  const commit = ({ writes }: Commit): Promise<boolean> => {
    const losing = writes.map(({ key }) => key[1] ?? "").filter((id) => of(id).loses);
    losing.forEach((id) => lost.add(id));
    return Promise.resolve(losing.length === 0);
  };
  const deps: unknown = {
    store: { ...store, commit },
    clock: () => 70,
    keptNow: () => Promise.resolve(7),
    random: () => 0,
    isHeld: (_from: unknown, bank: string) => Promise.resolve(of(bank).isHeld === true),
    consents,
    log: {
      error: (event: string, { consentId, error }: Record<string, string>) =>
        told(event, consentId ?? "", error?.split("\n")[0]),
    },
  };
  const handled = await eraseConsents(deps as EraseConsentsDeps);
  return [handled, ...done];
}

Deno.test("a pass erases, waits for a held bank, or puts off what fails, one consent a commit and once each [EN10, G9]", async () => {
  const start = ["read", -1, 7, 50];
  const data = { state: "erased", at: 70, scope: "consent" };
  const erased = (pieces: number, isLast = true): unknown => ["erased", 0, data, pieces, isLast];
  const later = ["later", 0, 3_600_007];
  const rows: readonly (readonly [Due, ...unknown[]])[] = [
    [{ status: "Rejected", pieces: 99 }, 1, ["deadline gone", 0], erased(99)],
    [{ status: "Rejected", pieces: 100 }, 1, ["deadline gone", 0], erased(100)],
    [{ status: "Rejected", pieces: 101 }, 1, erased(100, false)],
    [{ status: "Consumed", pieces: 101 }, 1, ["deadline gone", 0]],
    [{}, 1, ["deadline gone", 0]],
    [{ status: "Rejected", isHeld: true }, 1, later],
    [{ status: "Rejected", isGone: true }, 0],
    [{ status: "Rejected", loses: true }, 0, ["deadline gone", 0], erased(0)],
    [{ fails: true }, 0, ["consent.not_erased", 0, "Error: cannot be read"], later],
    [{ fails: true, loses: true }, 0, ["consent.not_erased", 0, "Error: cannot be read"], later],
    [{ fails: true, isGone: true }, 0, ["consent.not_erased", 0, "Error: cannot be read"]],
  ];
  for (const [due, handled, ...done] of rows) {
    assertEquals(await passOver([due]), [handled, start, ...done], JSON.stringify(due));
  }
  const gone = [3, 0, 1, 2].map((index) => ["deadline gone", index]);
  assertEquals(await passOver([{}, {}, {}, {}]), [4, start, ...gone], "in a random order");
});
