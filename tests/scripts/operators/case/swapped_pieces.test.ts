/** Bundles by the holder of the platform's key: members left out, and genuine pieces of another case. */
import { assert, assertEquals } from "@std/assert";
import { authorised } from "testing/authorization_flow.ts";
import { putStatus } from "testing/back_channel.ts";
import { consentBody, good, pay } from "testing/flows.ts";
import { openPushEnvironment, type PushEnvironment } from "support/orders.ts";
import canonicalize from "canonicalize";
import { decodeJwt } from "jose";
import { base64url, digestOf } from "../../../../scripts/operators/case/signatures.ts";
import { grownBundle, openJudge, printedThumbprints, toolsFor } from "./bundles.ts";
import { decodeContent, find, forge, type Forged, put, withContent } from "./forging.ts";
import { bundleSchema, type Statement } from "../../../../scripts/operators/case/bundle_schema.ts";

/** A settled payment whose account the customer chose at the platform. Returns its bundle. */
async function paidFor(env: PushEnvironment, amount: string): Promise<string> {
  const RemittanceInformation = { Reference: "FRESCO-101", Unstructured: "Order 101" };
  const InstructedAmount = { Amount: amount, Currency: "EUR" };
  const body = consentBody({ initiation: { InstructedAmount, RemittanceInformation } });
  const flow = await authorised(env, { body });
  const { Data } = await good(pay(env, flow), 201);
  await good(putStatus(env, env.bankA, Data.DomesticPaymentId, "AcceptedSettlementCompleted"), 200);
  return await grownBundle(env, Data.DomesticPaymentId);
}

function withoutEvidence({ entries }: Forged): void {
  for (const entry of entries) {
    delete entry.record.items;
    entry.bodies = [];
  }
}

/** Puts a genuine piece of the other case, with its digest and key, in the place of the own one. */
function swap(kind: string): Change {
  return (bundle, other) => {
    const [to, from] = [find(bundle, kind), find(other, kind)];
    put(to, from.entry.bodies[from.at] ?? null);
    to.entry.record.authentication = from.entry.record.authentication;
  };
}

function entryWith(bundle: Forged, event: string): Forged["entries"][number] {
  const found = bundle.entries.find(({ record }) => record.event === event);
  if (found === undefined) throw new Error(`no ${event}`);
  return found;
}

type Change = (bundle: Forged, other: Forged) => void;

/** What the platform forges, and what the verification says. */
const FORGED: Readonly<Record<string, readonly [Change, RegExp]>> = {
  "the handover of another transaction": [
    swap("handover"),
    /^the handover of .* is linked to another transaction$/,
  ],
  "the bank's result of another transaction": [
    swap("sca_result"),
    /^the sca_result of .* is linked to another transaction$/,
  ],
  "every salt of a record is left out": [({ entries }) => {
    for (const { record } of entries) Reflect.deleteProperty(record, "salt");
  }, /has not its form: entries\.0\.record\.salt/],
  "every number is left out": [({ entries }) => {
    for (const { record } of entries) Reflect.deleteProperty(record, "sequence");
  }, /has not its form: entries\.0\.record\.sequence/],
  "every key and signature is left out": [({ entries }) => {
    for (const { record, bodies } of entries) {
      for (const item of record.items ?? []) delete item.key;
      for (const body of bodies) if (body !== null) delete body.signature;
    }
  }, /the consent_request of .* is not signed/],
  "all evidence is left out": [
    withoutEvidence,
    /^entry 1 of \S+ \(\S+\) lacks its evidence: consent_request$/,
  ],
  "all evidence is called deleted": [(bundle) => {
    const places = bundle.entries.flatMap(({ record }) =>
      (record.items ?? []).map(({ kind }) => `${record.subject} ${record.sequence} ${kind}`)
    );
    for (const entry of bundle.entries) entry.bodies = entry.bodies.map(() => null);
    const last = bundle.entries.at(-1);
    if (last !== undefined) last.record.deleted = places;
  }, /deletes the consent_request and is no erasure$/],
  "a consent request of another amount": [
    swap("consent_request"),
    /^the InstructedAmount differs: \{"Amount":"165\.88"/,
  ],
  "a payment request of another consent": [swap("payment_request"), /is about another consent$/],
  "a status report of another payment": [
    swap("status_report"),
    /names the request PUT \S+, which does not bring it$/,
  ],
  "a status report, and the address of the own payment": [(bundle, other) => {
    swap("status_report")(bundle, other);
    const { record } = find(bundle, "status_report").entry;
    if (record.authentication === undefined) return;
    record.authentication.target = record.authentication.target.replace(/[^/]+$/, record.subject);
  }, /^the DPoP proof of entry 3 of \S+ \(\S+\) is for another address/],
  "a proof that is none": [(bundle) => {
    const { authentication } = find(bundle, "payment_request").entry.record;
    if (authentication !== undefined) authentication.proof = "garbage.garbage.garbage";
  }, /^the DPoP proof of entry 1 of \S+ \(\S+\) does not verify$/],
  "a proof for another token": [(bundle) => {
    const { authentication } = find(bundle, "payment_request").entry.record;
    if (authentication !== undefined) authentication.token = "A".repeat(43);
  }, /is for another access token$/],
  "a request that does not say how it was authenticated": [(bundle) => {
    delete find(bundle, "status_report").entry.record.authentication;
  }, /does not say how its request was authenticated$/],
  "a refusal before the authorisation": [(bundle) => {
    const found = find(bundle, "decision");
    withContent(found, { ...decodeContent(found), accepted: false });
  }, /^the decision of .* says "accepted: false", and the entry says consent\.Authorized$/],
  "a screen that showed another amount": [(bundle) => {
    const found = find(bundle, "decision");
    const content = decodeContent(found);
    const page = { ...content["page"] as object, amount: { amount: "1.00", currency: "EUR" } };
    withContent(found, { ...content, page });
    if (found.entry.record.page) {
      found.entry.record.page.sha256 = base64url(digestOf(canonicalize(page) ?? ""));
    }
  }, /^the amount differs: "1\.00" in the decision of .*, "165\.88" in the consent_request$/],
  "an account that was not on the screen": [(bundle) => {
    const found = find(bundle, "decision");
    const content = decodeContent(found) as { readonly chosen: { readonly account: object } };
    const account = { ...content.chosen.account, identification: "GB00OTHER" };
    withContent(found, { ...content, chosen: { ...content.chosen, account } });
  }, /^the chosen account of .* was not on the screen$/],
  "a rejection by the bank under an accepted payment": [(bundle) => {
    withContent(find(bundle, "order_response"), { body: '{"Status":"Rejected"}', status: 200 });
  }, /^the order_response of .* says "Rejected", and the entry says payment\.AcceptedSettlementInProcess$/],
  "a settlement that the bank has not reported": [(bundle) => {
    find(bundle, "status_report").entry.record.event = "payment.Rejected";
  }, /^the status_report of .* says "AcceptedSettlementCompleted", and the entry says payment\.Rejected$/],
  "a return of another session": [(bundle) => {
    const found = find(bundle, "decision");
    withContent(found, { ...decodeContent(found), session: crypto.randomUUID() });
  }, /^the decision of .* is of another session$/],
  "a token of no code": [(bundle) => {
    entryWith(bundle, "consent.token_issued").record.issued = { code: "A".repeat(43), token: "B".repeat(43) };
  }, /is not of a code of this case$/],
  "a platform's key twice": [(bundle) => {
    bundle.keys = bundle.keys.flatMap((key) => [key, key]);
  }, /^two of the platform's keys have the same kid$/],
};

Deno.test("a platform can neither leave out what it must prove nor take genuine pieces of another case [EV11]", async (t) => {
  await using env = await openPushEnvironment();
  const text = await paidFor(env, "165.88");
  const other = await paidFor(env, "1.00");
  const judged = openJudge(toolsFor(env.platform));
  const { TPP, bank, platform } = printedThumbprints((await judged(text))[1]);
  const named = ["--platform", platform, "--tpp", TPP, "--bank", bank];
  const control = await judged(await forge(text, () => {}), ...named);
  assert(control[0], control[1]);
  for (const [name, [change, expected]] of Object.entries(FORGED)) {
    await t.step(name, async () => {
      const forged = await forge(
        text,
        (bundle) => change(bundle, bundleSchema.parse(JSON.parse(other)) as Forged),
      );
      for (const options of [[], named]) {
        const [holds, said] = await judged(forged, ...options);
        const faults = said.split("\n").map((line) => line.replace(/^DOES NOT HOLD: /, ""));
        assertEquals([holds, faults.some((fault) => expected.test(fault))], [false, true], said);
      }
    });
  }
});

Deno.test("the evidence of a screen has what the TPP wrote to the payee [EN8]", async () => {
  await using env = await openPushEnvironment();
  const text = await paidFor(env, "165.88");
  const { page } = decodeContent(find(bundleSchema.parse(JSON.parse(text)) as Forged, "decision")) as {
    readonly page: { readonly reference: string; readonly unstructured: string };
  };
  assertEquals([page.reference, page.unstructured], ["FRESCO-101", "Order 101"]);
});

Deno.test("with --tpp or --bank a bundle without a signature of that party does not hold [EV11]", async () => {
  await using env = await openPushEnvironment();
  const text = await paidFor(env, "165.88");
  const judged = openJudge(toolsFor(env.platform));
  const { TPP, bank } = printedThumbprints((await judged(text))[1]);
  const { consent, consent_entries, payment_entries } = decodeJwt<Statement>(
    bundleSchema.parse(JSON.parse(text)).statement,
  );
  const counts = {
    consent_entries: consent_entries + 1,
    payment_entries: payment_entries + 1,
    linked: "not claimed",
  };
  const erased = await forge(text, (bundle) => {
    const last = bundle.entries.at(-1);
    if (last === undefined) return;
    const ofPayment = structuredClone(last);
    Object.assign(ofPayment.record, { actor: "clock", event: "payment.erased" });
    delete ofPayment.record.items;
    delete ofPayment.record.authentication;
    ofPayment.bodies = [];
    const ofConsent = structuredClone(ofPayment);
    const { consent_entries: sequence } = counts;
    Object.assign(ofConsent.record, { subject: consent, sequence, event: "consent.erased" });
    last.record.sequence++;
    bundle.entries.splice(-1, 0, ofConsent, ofPayment);
    last.position++;
    last.record.event = "payment.evidence_deleted";
    last.record.actor = "clock";
    delete last.record.authentication;
    last.record.deleted = bundle.entries.flatMap(({ record }) =>
      (record.items ?? []).filter(({ kind }) => kind !== "payer_accounts").map(({ kind }) =>
        `${record.subject} ${record.sequence} ${kind}`
      )
    );
    delete last.record.items;
    last.bodies = [];
    for (const entry of bundle.entries) entry.bodies = entry.bodies.map(() => null);
    last.record.deleted = last.record.deleted.filter((place) => !place.endsWith("status_report"));
  }, counts);
  assertEquals((await judged(erased))[0], true, (await judged(erased))[1]);
  for (const [option, thumbprint] of [["--tpp", TPP], ["--bank", bank]] as const) {
    const [holds, said] = await judged(erased, option, thumbprint);
    assertEquals([holds, said], [
      false,
      `DOES NOT HOLD: no signature of ${option} is left, so nothing but the platform's word says what this party did`,
    ]);
  }
});
