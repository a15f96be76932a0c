/** `deno task case compare` with a receipt or an event: whoever has one shows that a later bundle leaves it out. */
import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { decodeJwt, decodeProtectedHeader } from "jose";
import type { PaymentReceipt } from "testing/answers.ts";
import { authorised } from "testing/authorization_flow.ts";
import { putStatus } from "testing/back_channel.ts";
import { AUTH_URL, type Environment, openEnvironment } from "testing/environment.ts";
import { call, good, pay } from "testing/flows.ts";
import { signJwt } from "testing/jwts.ts";
import { testKey } from "testing/keys.ts";
import { PAYMENTS } from "support/resource_calls.ts";
import { poll } from "../../../platform/events/poll.ts";
import type { Statement } from "../../../../scripts/operators/case/bundle_schema.ts";
import { caseCommand } from "../../../../scripts/operators/case/main.ts";
import { grownBundle, toolsFor } from "./bundles.ts";
import { forge, type Forged } from "./forging.ts";

const HOUR_MS = 3_600_000;

/** A payment that is settled an hour after it was made, and its receipts of before and after. */
async function paid(
  env: Environment,
): Promise<{ id: string; consentId: string; before: string; after: string }> {
  const flow = await authorised(env);
  const id = (await good(pay(env, flow), 201)).Data.DomesticPaymentId;
  const receipt = async (): Promise<string> =>
    (await good<PaymentReceipt>(call(env, env.tpp, flow.payment, `${PAYMENTS}/${id}/receipt`), 200)).Data
      .Receipt;
  const before = await receipt();
  env.now += 120_000;
  await good(putStatus(env, env.bankA, id, "AcceptedSettlementCompleted"), 200);
  return { id, consentId: flow.consentId, before, after: await receipt() };
}

/** The bundle without the payment's last entry, signed with the smaller number. */
function cut(text: string): Promise<string> {
  const { statement } = JSON.parse(text) as { readonly statement: string };
  const { payment_entries } = decodeJwt<Statement>(statement);
  return forge(text, (bundle: Forged) => void bundle.entries.pop(), { payment_entries: payment_entries - 1 });
}

/** The TPP's events, their tokens by type and resource. */
async function eventsOf(env: Environment): Promise<readonly (readonly [string, string])[]> {
  const { sets } = await good(poll(env), 200);
  return Object.values<string>(sets).map((token) => {
    const { sub, events } = decodeJwt<{ readonly events: Readonly<Record<string, { status?: string }>> }>(
      token,
    );
    const [type = "", details] = Object.entries(events).find(([name]) => name.startsWith(AUTH_URL)) ?? [];
    return [`${type.split("/").at(-1)} ${details?.status} ${sub?.split("/").at(-1)}`, token];
  });
}

Deno.test("a receipt or an event of a case contradicts a later bundle that leaves it out [EV15]", async (t) => {
  await using env = await openEnvironment();
  const { id, consentId, before, after } = await paid(env);
  const events = new Map(await eventsOf(env));
  const early = await grownBundle(env, id);
  const other = await paid(env);
  env.now += HOUR_MS;
  const text = await grownBundle(env, id);
  const tools = toolsFor(env.platform);
  const compare = async (bundle: string, token = ""): Promise<readonly [boolean, string]> => {
    tools.files.set("bundle", bundle);
    tools.files.set("token", `${token}\n`);
    const agree = await caseCommand(["compare", "token", "bundle"], tools);
    return [agree, tools.printed.splice(0).join("\n")];
  };
  const OK = [true, "ok: the bundle has what the other file says"] as const;
  const completed = events.get(`payment-status-changed AcceptedSettlementCompleted ${id}`);
  await t.step("the genuine bundle has what both receipts and every event say", async () => {
    for (const token of [before, after, ...events.values()]) assertEquals(await compare(text, token), OK);
    assertEquals([...events.keys()], [
      `consent-authorised Authorized ${consentId}`,
      `consent-consumed Consumed ${consentId}`,
      `payment-status-changed AcceptedSettlementInProcess ${id}`,
      `payment-status-changed AcceptedSettlementCompleted ${id}`,
    ]);
  });
  await t.step("the newest entry is left out", async () => {
    const forged = await cut(text);
    assertEquals(await compare(forged, before), OK);
    const said = [await compare(forged, after), await compare(forged, completed)];
    assertEquals(said.map(([agree]) => agree), [false, false]);
    assertMatch(
      said[0]?.[1] ?? "",
      /^CONTRADICTION: the receipt of \S+ says AcceptedSettlementCompleted, and the bundle has no such entry of until then$/,
    );
    assertMatch(
      said[1]?.[1] ?? "",
      /^CONTRADICTION: the event of \S+ says payment-status-changed \(AcceptedSettlementCompleted\), and the bundle has no such entry of that time$/,
    );
  });
  await t.step("the newest status is dated back, and forward", async () => {
    const moved = (by: number): Promise<string> =>
      forge(text, ({ entries }) => {
        const last = entries.at(-1);
        if (last) last.record.at += by;
      });
    assertMatch(
      (await compare(await moved(-240_000), before))[1],
      /^CONTRADICTION: .* says AcceptedSettlementInProcess, and entry 2 /,
    );
    assertMatch((await compare(await moved(600_000), completed))[1], /^CONTRADICTION: the event of /);
  });
  await t.step("the receipt of another payment, and another amount", async () => {
    assertEquals(await compare(text, other.after), [
      false,
      "CONTRADICTION: the receipt is of another payment",
    ]);
    const by = { key: await testKey(12), kid: String(decodeProtectedHeader(after).kid) };
    const forged = await signJwt(by, { ...decodeJwt(after), amount: "1.00" }, { typ: "payment-receipt+jwt" });
    assertEquals(await compare(text, forged), [
      false,
      "CONTRADICTION: the receipt says amount 1.00, and the consent_request 165.88",
    ]);
  });
  await t.step("what is no evidence is no contradiction", async () => {
    const by = { key: await testKey(13), kid: String(decodeProtectedHeader(after).kid) };
    const forged = await signJwt(by, decodeJwt(after), { typ: "payment-receipt+jwt" });
    await assertRejects(
      () => compare(text, forged),
      Error,
      "no receipt and no event that the platform has signed",
    );
    const unknown = await signJwt({ ...by, kid: "x" }, decodeJwt(after), { typ: "payment-receipt+jwt" });
    await assertRejects(
      () => compare(text, unknown),
      Error,
      "no key of the platform in the bundle has the kid x",
    );
    await assertRejects(() => compare(early, after), Error, "was not signed later");
    await assertRejects(() => compare("{}\n", after), Error, "a bundle does not hold");
  });
});
