/** Consents that were never authorised lose their personal data after the configured days. */
import { assert, assertEquals, assertFalse } from "@std/assert";
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
import { type Environment, openEnvironment } from "testing/environment.ts";
import { DAY_MS, elapse } from "support/retention.ts";

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

Deno.test("a rejected and an expired consent lose their personal data after 30 days, and not before; a paid one keeps it [EN10]", async (t) => {
  await using env = await openEnvironment();
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

Deno.test("consents that cannot be handled keep no other from its turn [EN10]", async () => {
  await using env = await openEnvironment();
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

Deno.test("a consent that was recovered leaves the list of those to forget, however much evidence it has [EN10, G9]", async () => {
  await using env = await openEnvironment();
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

Deno.test("a clock that is ahead deletes no personal data of a consent early [EN10, EN15]", async () => {
  await using env = await openEnvironment();
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
