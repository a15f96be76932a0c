/**
 * A payment through each consent type leaves a complete case file: every kind of evidence, digests that recompute, and
 * signatures that the stored keys verify. What the decision made unnecessary is deleted, and an entry says so.
 */
import { type AuditEntry, bodyDigest } from "../../../src/platform/evidence/evidence.ts";
import { assert, assertEquals, assertFalse } from "@std/assert";
import canonicalize from "canonicalize";
import { compactVerify, decodeJwt, decodeProtectedHeader, flattenedVerify, importJWK, type JWK } from "jose";
import { asConsentId, sha256 } from "../../../src/base/kernel/identifiers.ts";
import { type CaseEntry, type CaseFile, readCase } from "../../../src/platform/evidence/read_case.ts";
import { memberOf, present } from "testing/answers.ts";
import {
  type AtBank,
  authorised,
  codeOf,
  decide,
  putAccounts,
  redeem,
  returnPath,
  toBank,
} from "testing/authorization_flow.ts";
import { IMPLICIT } from "testing/bank_return.ts";
import { consentBody, DEBTOR_ACCOUNT, dpopKey, good, pay } from "testing/flows.ts";
import type { Participant } from "testing/participants.ts";
import { putStatus } from "testing/back_channel.ts";
import { openPushEnvironment, type PushEnvironment } from "support/orders.ts";
import { readableBody } from "support/readable_body.ts";

const ORDERED = ["payment_request", "order", "order_response", "status_report"];
const BEGUN = ["consent_request", "pushed_request", "handover"];

const JOURNEYS = {
  "implicit": { kinds: [...BEGUN, "sca_result", ...ORDERED], deleted: [] },
  "the platform's screen": {
    kinds: [...BEGUN, "payer_accounts", "sca_result", "decision", ...ORDERED],
    deleted: ["payer_accounts"],
  },
  "the bank's screen": { // bank B fetches its orders
    kinds: [...BEGUN, "payer_accounts", "sca_result", "payment_request", "status_report"],
    deleted: [],
  },
} as const;

async function caseOf(env: PushEnvironment, consentId: string): Promise<CaseFile> {
  const id = asConsentId(consentId);
  const file = id === undefined ? null : await readCase(env.store, id);
  if (file === null) throw new Error("no case file");
  return file;
}

async function settled(
  env: PushEnvironment,
  flow: Awaited<ReturnType<typeof authorised>>,
): Promise<CaseFile> {
  const { Data } = await good(pay(env, flow), 201);
  await good(putStatus(env, flow.bank, Data.DomesticPaymentId, "AcceptedSettlementCompleted"), 200);
  return await caseOf(env, flow.consentId);
}

/** The signature of a piece of evidence by the key that its entry names. */
async function verified(
  { documents }: CaseFile,
  { item, body: stored }: CaseEntry["items"][number],
): Promise<void> {
  const body = readableBody(stored);
  if (body === undefined) throw new Error(`${item.kind} is not stored`);
  const text = documents.get(item.key ?? "");
  if (text === undefined) throw new Error(`${item.kind} names no stored key`);
  assertEquals(await sha256(text), item.key);
  const jwk = JSON.parse(text) as JWK;
  assert(present(jwk.x5c).length > 0);
  const key = await importJWK(jwk, "PS256");
  if (body.signature === undefined) {
    await compactVerify(new TextDecoder().decode(body.bytes), key);
    return;
  }
  const [head = "", , signature = ""] = body.signature.split(".");
  const { b64 } = decodeProtectedHeader({ protected: head });
  const payload = b64 === false
    ? body.bytes
    : body.bytes.toBase64({ alphabet: "base64url", omitPadding: true });
  const crit = Object.fromEntries(
    ["iat", "iss", "tan"].map((name) => [`http://openbanking.org.uk/${name}`, true]),
  );
  await flattenedVerify({ protected: head, payload, signature }, key, { crit });
}

const SIGNED = new Set([
  "consent_request",
  "payer_accounts",
  "handover",
  "sca_result",
  "payment_request",
  "order",
  "status_report",
]);

Deno.test("the case file of a payment is complete for each consent type, and its signatures verify with the stored keys [EN1] [EN4] [EN6] [EN7] [EN9] [P1]", async (t) => {
  await using env = await openPushEnvironment();
  const flows = {
    "implicit": () => authorised(env, { body: IMPLICIT }),
    "the platform's screen": () => authorised(env),
    "the bank's screen": () => chosenAtBank(env),
  };
  for (const [name, { kinds, deleted }] of Object.entries(JOURNEYS)) {
    const flow = await flows[name as keyof typeof flows]();
    const file = await settled(env, flow);
    const items = file.entries.flatMap(({ items }) => items);
    await t.step(
      `${name}: every kind, in order`,
      () => assertEquals(items.map(({ item }) => item.kind), [...kinds]),
    );
    await t.step(`${name}: deleted by the decision`, () => {
      assertEquals(items.filter(({ body }) => body === null).map(({ item }) => item.kind), [...deleted]);
      assertEquals(file.entries.flatMap(({ entry }) => entry.deleted ?? []).length, deleted.length);
    });
    for (const each of items.filter(({ body }) => body !== null)) {
      await t.step(`${name}: ${each.item.kind}`, async () => {
        const body = readableBody(each.body);
        if (body !== undefined) assertEquals(bodyDigest(body), each.item.sha256);
        if (SIGNED.has(each.item.kind)) await verified(file, each);
      });
    }
    await t.step(`${name}: no client assertion`, () => {
      const texts = items.map(({ body }) => new TextDecoder().decode(readableBody(body)?.bytes));
      assert(texts.some((text) => text.includes("code_challenge=")));
      assertFalse(texts.some((text) => text.includes("client_assertion")));
    });
    await t.step(`${name}: software statements in force`, () => assertStatements(env, file, flow.bank));
    await t.step(`${name}: authentication of both parties`, () => assertAuthentication(env, file, flow.bank));
  }
});

/** Bank B reports the account that was chosen on its own screen, without a balance. */
async function chosenAtBank(env: PushEnvironment): ReturnType<typeof authorised> {
  const body = consentBody();
  const flow = await toBank(env, { bank: env.bankB, body });
  await good(putAccounts(env, env.bankB, flow.consentId, [DEBTOR_ACCOUNT]), 200);
  const code = codeOf(await flow.browser.open(await returnPath(env, env.bankB, flow.handover)));
  const { access_token: token } = await good(redeem(env, { ...flow, code }, { bank: env.bankB.orgId }), 200);
  return { ...flow, body, payment: { token, key: await dpopKey() } };
}

function assertStatements(env: PushEnvironment, file: CaseFile, { statement }: Participant): void {
  const named = file.entries[0]?.entry.documents ?? [];
  assertEquals(named.map(({ kind, sha256 }) => [kind, file.documents.get(sha256)]), [
    ["tpp_statement", env.tpp.statement],
    ["bank_statement", statement],
  ]);
}

/** The DPoP proof covers method and address, which a payload signature does not. */
async function assertAuthentication(env: PushEnvironment, file: CaseFile, bank: Participant): Promise<void> {
  const of = (event: string): AuditEntry =>
    present(file.entries.find(({ entry }) => entry.event === event)?.entry);
  const report = present(of("payment.AcceptedSettlementCompleted").authentication);
  assertEquals([report.clientId, report.method], [bank.clientId, "PUT"]);
  assert(report.target.endsWith(`/${bank.orgId}/back-channel-payments/v1/${file.paymentId}`), report.target);
  const proof = present(report.proof);
  const jwk = present(decodeProtectedHeader(proof).jwk);
  await compactVerify(proof, await importJWK(jwk, "PS256"));
  const claims = decodeJwt(proof);
  assertEquals([claims["htm"], claims["htu"], claims["ath"]], ["PUT", report.target, report.token]);
  assertEquals(report.certificate.length, 43);
  const pushed = present(of("consent.authorization_requested").authentication);
  assertEquals([pushed.clientId, pushed.assertion?.jtiHash.length === 43], [env.tpp.clientId, true]);
  const issued = present(of("consent.token_issued").issued);
  assertEquals(issued.code, of("consent.Authorized").issued?.code);
  const [created] = file.entries.filter(({ subject }) => subject === file.paymentId);
  assertEquals(created?.entry.authentication?.token, issued.token);
}

/** The evidence of a decision. */
interface Decision {
  readonly page: {
    readonly amount: { readonly amount: string };
    readonly payee: { readonly name: string };
    readonly tpp: { readonly legalName: string };
    readonly accounts: readonly { readonly account: string }[];
  };
  readonly chosen: { readonly account: { readonly identification: string }; readonly salt: string };
  readonly accepted: boolean;
  readonly session: string;
}

Deno.test("the decision names what the screen showed: its hash recomputes, with the chosen account and no balance [EN8] [EN9] [P2]", async (t) => {
  await using env = await openPushEnvironment();
  const flow = await toBank(env);
  const account = { SchemeName: "UK.OBIE.IBAN", Identification: "GB33BUKB20201555555555", Currency: "EUR" };
  const other = { ...account, Identification: "GB29NWBK60161331926819", Balance: "77123.45" };
  await good(putAccounts(env, flow.bank, flow.consentId, [{ ...account, Balance: "88123.45" }, other]), 200);
  await finish(env, flow);
  const file = await caseOf(env, flow.consentId);
  const entry = file.entries.find(({ entry }) => entry.event === "consent.Authorized");
  const body = entry?.items.find(({ item }) => item.kind === "decision")?.body;
  const { page, chosen, ...decision } = JSON.parse(
    new TextDecoder().decode(readableBody(body)?.bytes),
  ) as Decision;
  await t.step("page", async () => {
    assertEquals(await sha256(canonicalize(page) ?? ""), entry?.entry.page?.sha256);
    assertEquals([page.amount.amount, page.payee.name, page.tpp.legalName, page.accounts.length], [
      "165.88",
      "ACME Inc",
      "Example Shop Ltd",
      2,
    ]);
  });
  await t.step("chosen account", async () => {
    assertEquals(chosen.account.identification, account.Identification);
    assertEquals(await sha256(chosen.salt + canonicalize(chosen.account)), page.accounts[0]?.account);
  });
  await t.step("decision", () => {
    assertEquals([decision.accepted, decision.session.length], [true, 36]);
  });
  await t.step("neither the other account nor its balance is stored", async () => {
    const stored = JSON.stringify((await env.snapshot()).map(({ value }) => decodedTexts(value)));
    assert(stored.includes(account.Identification));
    assertFalse(stored.includes(other.Identification));
    assertFalse(stored.includes(other.Balance));
  });
});

async function finish(env: PushEnvironment, flow: AtBank): Promise<void> {
  const shown = await flow.browser.open(await returnPath(env, flow.bank, flow.handover));
  await decide(flow.browser, shown.headers.get("location") ?? "", "accept");
}

/** A stored value with its bytes as text. */
function decodedTexts(value: unknown): unknown {
  const bytes = memberOf(value, "bytes");
  if (typeof bytes !== "string") return value;
  return new TextDecoder().decode(Uint8Array.fromBase64(bytes, { alphabet: "base64url" }));
}

Deno.test("a rejection deletes every account that the bank has reported [EN9]", async () => {
  await using env = await openPushEnvironment();
  const flow = await toBank(env);
  await good(putAccounts(env, flow.bank, flow.consentId), 200);
  await good(putAccounts(env, flow.bank, flow.consentId), 200);
  const shown = await flow.browser.open(await returnPath(env, flow.bank, flow.handover));
  await decide(flow.browser, shown.headers.get("location") ?? "", "refuse");
  const stored = JSON.stringify((await env.snapshot()).map(({ value }) => decodedTexts(value)));
  assertFalse(stored.includes("GB33BUKB20201555555555"));
  const file = await caseOf(env, flow.consentId);
  assertEquals(file.entries.at(-1)?.entry.deleted?.length, 2);
});
