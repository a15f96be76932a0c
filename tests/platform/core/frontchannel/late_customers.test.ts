/** Customers who come too late, or otherwise off the path: none is stranded, and none gets further than in time (Decision G1). */
import { assertEquals } from "@std/assert";
import { anotherFlow, comeBack, decide, deciding } from "support/at_bank.ts";
import { IMPLICIT } from "testing/bank_return.ts";
import { toBank } from "testing/authorization_flow.ts";
import {
  assertCodeAnswer,
  assertErrorAnswer,
  assertNothingChanges,
  assertPage,
  codesIssued,
} from "testing/front_channel.ts";
import { openEnvironment } from "testing/environment.ts";
import { historyOf } from "../../../../src/platform/evidence/audit_trail.ts";
import { steps } from "support/steps.ts";
import { late, SESSION_MS, statusOf } from "./late.ts";

const DAY_MS = 86_400_000;

Deno.test("A late success authorizes nothing and leaves the consent to a new request, whatever its kind [G1] [AZ11]", async (t) => {
  await using env = await openEnvironment();
  await steps(t, KINDS, async (options) => {
    const flow = await late(env, options);
    await assertErrorAnswer(await comeBack(env, flow), "session_expired", flow.bank.orgId);
    assertEquals([await statusOf(env, flow), await codesIssued(env)], ["AwaitingAuthorisation", 0]);
    assertEquals((await historyOf(env.store, flow.consentId)).at(-1)?.event, "consent.customer_late");
    assertEquals(flow.browser.cookies.size, 0);
  });
});

const KINDS: Record<string, Parameters<typeof toBank>[1]> = {
  "implicit": { body: IMPLICIT },
  "explicit, the platform's screen": {},
};

Deno.test("After a late success the TPP pushes a new request for the same consent, and it ends well [G1]", async () => {
  await using env = await openEnvironment();
  const flow = await late(env, { body: IMPLICIT });
  await assertErrorAnswer(await comeBack(env, flow), "session_expired");
  const again = await anotherFlow(env, flow);
  await assertCodeAnswer(await comeBack(env, again));
  assertEquals(await statusOf(env, flow), "Authorized");
});

Deno.test("A late failure of the bank rejects the consent, as in time [G1] [CT8]", async () => {
  await using env = await openEnvironment();
  for (const at of [SESSION_MS, DAY_MS - 1]) {
    const flow = await late(env, { body: IMPLICIT }, at);
    await assertErrorAnswer(await comeBack(env, flow, { status_code: "failure" }), "access_denied");
    assertEquals(await statusOf(env, flow), "Rejected");
  }
});

Deno.test("A session is kept 24 h after it has expired, and not longer [G1]", async () => {
  await using env = await openEnvironment();
  for (const [at, kept] of [[SESSION_MS + DAY_MS - 1, true], [SESSION_MS + DAY_MS, false]] as const) {
    const flow = await late(env, { body: IMPLICIT }, at);
    const answer = await comeBack(env, flow); // the consent's own deadline has passed by now
    if (kept) await assertErrorAnswer(answer, "access_denied");
    else await assertPage(answer, 400, "not_authentic");
  }
});

Deno.test("A late no on the consent screen is the customer's own and rejects the consent; a late yes authorizes nothing [G1] [CT9]", async (t) => {
  const ends = {
    accept: ["session_expired", "AwaitingAuthorisation", "consent.customer_late"],
    refuse: ["access_denied", "Rejected", "consent.Rejected"],
  } as const;
  await steps(t, ends, async ([error, status, event], decision) => {
    await using env = await openEnvironment();
    const { flow, screen, csrf } = await deciding(env);
    env.now += SESSION_MS;
    const forged = await assertNothingChanges(env, () => decide(flow.browser, screen, "x", decision));
    await assertPage(forged, 400, "other_browser");
    await assertErrorAnswer(await decide(flow.browser, screen, csrf, decision), error);
    assertEquals([await statusOf(env, flow), await codesIssued(env)], [status, 0]);
    const last = (await historyOf(env.store, flow.consentId)).at(-1);
    assertEquals([last?.event, last?.actor, last?.page?.language], [event, "customer", "en"]);
  });
});

Deno.test("The consent screen opened late leads back to the TPP [G1]", async () => {
  await using env = await openEnvironment();
  const { flow, screen } = await deciding(env);
  env.now += SESSION_MS;
  await assertErrorAnswer(await flow.browser.open(screen), "session_expired");
  assertEquals(await statusOf(env, flow), "AwaitingAuthorisation");
});
