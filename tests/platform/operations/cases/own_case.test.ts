/** A participant's own evidence of a case: before both verifiers, and what is not in it. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { decodeJwt } from "jose";
import type { Bundle } from "../../../../scripts/operators/case/bundle_schema.ts";
import { openPushEnvironment, type PushEnvironment } from "support/orders.ts";
import { BODY, PERSONAL } from "support/personal_case.ts";
import { steps } from "support/steps.ts";
import { authorised, returnPath, toBank } from "testing/authorization_flow.ts";
import { assertIndistinguishable, putStatus } from "testing/back_channel.ts";
import { call, clientToken, good, pay } from "testing/flows.ts";
import type { Participant } from "testing/participants.ts";
import { faultsOf as secondFaults } from "../../../evidence_verifier/verifier.ts";
import { KINDS } from "../../../evidence_verifier/genuine_cases.ts";
import { faultsOf, grownBundle, openJudge, toolsFor } from "../../../scripts/operators/case/bundles.ts";
import { forge } from "../../../scripts/operators/case/forging.ts";

async function grow(env: PushEnvironment): Promise<void> {
  env.now += 1000;
  await env.platform.growLog();
}

/** The answer to a participant that asks at the bank for a case. */
async function ask(env: PushEnvironment, who: Participant, id: string, bank = "BANKA"): Promise<Response> {
  return await call(env, who, await clientToken(env, who, bank), `/${bank}/cases/v1/${id}`);
}

async function ownText(env: PushEnvironment, who: Participant, id: string, bank = "BANKA"): Promise<string> {
  const answer = await ask(env, who, id, bank);
  const text = await answer.text();
  assertEquals(answer.status, 200, text);
  return text;
}

/** What both verifiers say. */
async function allFaults(text: string): Promise<readonly (readonly string[])[]> {
  const second: string[] = [];
  for await (const [, fault] of secondFaults(new TextEncoder().encode(text))) second.push(fault);
  return [await faultsOf(text), second];
}

Deno.test("a TPP and a bank get the bundle of their own case, and it holds before two verifiers [EV17] [EV18]", async (t) => {
  await using env = await openPushEnvironment();
  await steps(t, KINDS, async (live) => {
    const id = await live(env, 0);
    const whole = JSON.parse(await grownBundle(env, id)) as Bundle;
    const atB = whole.entries.some(({ record }) => record.authentication?.clientId === env.bankB.clientId);
    const bank = atB ? env.bankB : env.bankA;
    for (const who of [env.tpp, bank]) {
      const text = await ownText(env, who, id, bank.orgId);
      assertEquals(await allFaults(text), [[], []]);
      const own = JSON.parse(text) as Bundle;
      const records = whole.entries.map(({ record }) => record);
      const shown = records.filter(({ actor }) => !actor.startsWith("operator "));
      assertEquals(own.entries.map(({ record }) => record), shown);
      assertEquals(own.withheld?.length, records.length - shown.length);
    }
  });
});

Deno.test("an own bundle has no personal data of the other party, and says for whom it was made [EV18]", async () => {
  await using env = await openPushEnvironment();
  const flow = await toBank(env, { body: BODY });
  const screen = await flow.browser.open(await returnPath(env, flow.bank, flow.handover));
  assertEquals(screen.status, 303);
  const explicit = await authorised(env);
  const { Data } = await good(pay(env, explicit), 201);
  await good(putStatus(env, env.bankA, Data.DomesticPaymentId, "AcceptedSettlementCompleted"), 200);
  await grow(env);
  const decoded = async (who: Participant, id: string): Promise<string> => {
    const { entries } = JSON.parse(await ownText(env, who, id)) as Bundle;
    return entries.flatMap(({ bodies }) => bodies).flatMap((body) => {
      if (body === null) return [];
      const text = new TextDecoder().decode(Uint8Array.fromBase64(body.bytes, { alphabet: "base64url" }));
      return /^[\w-]+\.[\w-]+\.[\w-]+$/.test(text) ? JSON.stringify(decodeJwt(text)) : text;
    }).join("\n");
  };
  const ofTpp = await decoded(env.tpp, Data.DomesticPaymentId);
  assert(!ofTpp.includes(PERSONAL.account) && !ofTpp.includes("customer-1"), ofTpp); // the bank named the account
  const ofBank = await decoded(env.bankA, Data.DomesticPaymentId);
  assertStringIncludes(ofBank, PERSONAL.account);
  const bankOfImplicit = await decoded(env.bankA, flow.consentId);
  assert(
    !bankOfImplicit.includes(PERSONAL.address) && !bankOfImplicit.includes(PERSONAL.phone),
    bankOfImplicit,
  );
  assertStringIncludes(await decoded(env.tpp, flow.consentId), PERSONAL.address); // its own request
  const judged = openJudge(toolsFor(env.platform));
  const [holds, said] = await judged(await ownText(env, env.tpp, Data.DomesticPaymentId));
  assertEquals(holds, true, said);
  assertStringIncludes(said, "made for the TPP: ");
});

Deno.test("a case of another participant and one that does not exist are answered alike [EV17] [C2]", async () => {
  await using env = await openPushEnvironment();
  const flow = await authorised(env);
  const { Data } = await good(pay(env, flow), 201);
  await good(putStatus(env, env.bankA, Data.DomesticPaymentId, "AcceptedSettlementCompleted"), 200);
  await grow(env);
  const answers = [
    await ask(env, env.otherTpp, Data.DomesticPaymentId),
    await ask(env, env.otherTpp, flow.consentId),
    await ask(env, env.bankB, flow.consentId, "BANKB"),
    await ask(env, env.tpp, flow.consentId, "BANKB"),
    await ask(env, env.tpp, crypto.randomUUID()),
    await ask(env, env.tpp, "none"),
  ];
  await assertIndistinguishable(answers);
});

Deno.test("what the platform forges in an own bundle does not hold: evidence of the other, a false reader, a withheld entry [EV18]", async () => {
  await using env = await openPushEnvironment();
  const closed = await KINDS["failed, and closed by an operator"]?.(env, 0) ?? "";
  const whole = await grownBundle(env, closed);
  const own = await ownText(env, env.tpp, closed);
  const { withheld = [] } = JSON.parse(own) as Bundle;
  assertEquals(withheld.length, 1);
  const forged = {
    "an operator's bundle called one for the TPP": await forge(
      whole,
      (bundle) => void (bundle.withheld = []),
      { reader: "tpp" },
    ),
    "a bundle of the TPP without its reader": await forge(own, () => {}, { reader: undefined }),
    "a bundle of the TPP called the bank's": await forge(own, () => {}, { reader: "bank" }),
  };
  for (const [name, text] of Object.entries(forged)) {
    const [first, second] = await allFaults(text);
    assert((first?.length ?? 0) > 0 && (second?.length ?? 0) > 0, name);
  }
  const changed = JSON.parse(own) as { withheld: { leaf: string; sequence: number }[] };
  changed.withheld = [];
  for (const faults of await allFaults(`${JSON.stringify(changed)}\n`)) assert(faults.length > 0);
});
