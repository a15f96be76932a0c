/**
 * Compares the pieces of evidence of a case with each other and with their entries: a genuine signature of another case
 * proves nothing here (`docs/contract/evidence.md`, verification, step 12). No I/O.
 */
import type { BundleEntry, Piece, Statement } from "./bundle_schema.ts";
import { isRecovered } from "./required.ts";
import { digestOf, jsonIn, textOf } from "./signatures.ts";
import { canonicalOf, nameOf } from "./verify_parts.ts";

/** Members of `Data.Initiation` that never differ between a consent, its payment and its order (contract MT1). */
const SAME = [
  "InstructionIdentification",
  "EndToEndIdentification",
  "InstructedAmount",
  "CreditorAccount",
  "RemittanceInformation",
] as const;

/** Yields each disagreement. */
export function* verifyAgreement(
  pieces: readonly Piece[],
  entries: readonly BundleEntry[],
  statement: Statement,
): Generator<string> {
  const agreed = pieces.find(({ kind }) => kind === "consent_request") ??
    pieces.find(({ kind }) => kind === "payment_request") ?? pieces.find(({ kind }) => kind === "order");
  for (const piece of pieces) {
    if (agreed !== undefined) yield* verifyTerms(agreed, piece);
    yield* verifyStep(piece);
  }
  yield* verifyNames(pieces, entries, statement);
  yield* verifySessions(pieces);
  yield* verifyAccount(pieces);
  yield* verifyGrants(entries, statement);
}

function* verifyTerms(agreed: Piece, piece: Piece): Generator<string> {
  const terms = at(agreed.content, "Data", "Initiation");
  if (piece.kind === "decision") {
    const page = at(piece.content, "page");
    const payee = at(terms, "CreditorAccount");
    const shown: readonly (readonly [string, unknown, unknown])[] = [
      ["amount", at(page, "amount", "amount"), at(terms, "InstructedAmount", "Amount")],
      ["currency", at(page, "amount", "currency"), at(terms, "InstructedAmount", "Currency")],
      ["payee's name", at(page, "payee", "name"), at(payee, "Name")],
      ["payee's account", at(page, "payee", "identification"), at(payee, "Identification")],
      ["payee's scheme", at(page, "payee", "schemeName"), at(payee, "SchemeName")],
      ["reference", at(page, "reference"), at(terms, "RemittanceInformation", "Reference")],
      ["text", at(page, "unstructured"), at(terms, "RemittanceInformation", "Unstructured")],
    ];
    for (const [what, one, other] of shown) yield* unequal(what, piece, one, agreed, other);
  }
  if (piece.kind !== "payment_request" && piece.kind !== "order") return;
  for (const name of SAME) {
    yield* unequal(name, piece, at(piece.content, "Data", "Initiation", name), agreed, at(terms, name));
  }
  if (piece.kind === "payment_request" && agreed.kind === "consent_request") {
    yield* unequal("Risk", piece, at(piece.content, "Risk"), agreed, at(agreed.content, "Risk"));
  }
}

function* unequal(
  what: string,
  piece: Piece,
  one: unknown,
  agreed: Piece,
  other: unknown,
): Generator<string> {
  if (same(one, other)) return;
  yield `the ${what} differs: ${spoken(one)} in the ${piece.kind} of ${nameOf(piece.entry)}, ` +
    `${spoken(other)} in the ${agreed.kind}`;
}

/** What the evidence says is what its entry says. */
function* verifyStep({ entry, kind, content }: Piece): Generator<string> {
  const { event } = entry.record;
  const name = `the ${kind} of ${nameOf(entry)}`;
  const isMove = /^payment\.[A-Z]/.test(event);
  const says = (status: unknown): string => `${name} says ${spoken(status)}, and the entry says ${event}`;
  if (kind === "status_report" && event !== `payment.${at(content, "Data", "Status")}`) {
    yield says(at(content, "Data", "Status"));
  }
  if (kind === "stated_order" && isMove && event !== `payment.${at(content, "order", "Status")}`) {
    yield says(at(content, "order", "Status"));
  }
  if (kind === "order_response" && isMove) {
    const body = at(content, "body");
    const answer = typeof body === "string" ? statusIn(body) : undefined;
    if (at(content, "status") !== 200 || event !== `payment.${answer}`) yield says(answer);
  }
  if (kind === "decision" && event !== "consent.customer_late") {
    const accepted = at(content, "accepted");
    const expected = event === "consent.Authorized" ? true : event === "consent.Rejected" ? false : undefined;
    if (accepted !== expected) yield says(`accepted: ${accepted}`);
  }
  const isProof = event === "consent.Authorized" || event === "consent.customer_authenticated";
  if (kind === "sca_result" && isProof && at(content, "status_code") !== "success") {
    yield says(at(content, "status_code"));
  }
}

/** The body is stored up to a length, so it may be cut. */
function statusIn(body: string): unknown {
  const status = at(jsonIn(new TextEncoder().encode(body)), "Status");
  return status ?? /"Status"\s*:\s*"(\w+)"/.exec(body)?.[1];
}

/** Whom and what the pieces name: the platform, the TPP, the bank, the consent and the payment. */
function* verifyNames(
  pieces: readonly Piece[],
  entries: readonly BundleEntry[],
  { iss, consent, payment }: Statement,
): Generator<string> {
  const tpp = entries.find(({ record }) => record.authentication !== undefined)?.record.actor;
  const bank =
    pieces.flatMap(({ kind, content }) =>
      kind === "handover" || kind === "order" ? at(content, "aud") : []
    )[0];
  const EXPECTED: Readonly<Record<string, readonly (readonly [unknown, ...string[]])[]>> = {
    handover: [[iss, "iss"], [bank, "aud"], [consent, "ref_id"], [tpp, "act", "registration_no"]],
    sca_result: [[iss, "aud"], [bank, "iss"], [bank, "bank_id"], [consent, "ref_id"]],
    order: [[iss, "iss"], [bank, "aud"], [consent, "Data", "ConsentId"], [tpp, "tpp", "client_id"]],
    decision: [[bank, "page", "bank", "code"], [tpp, "page", "tpp", "clientId"]],
    pushed_request: [[consent, "consent_id"], [tpp, "client_id"]],
    stated_order: [[consent, "order", "ConsentId"], [payment, "order", "DomesticPaymentId"]],
  };
  for (const { entry, kind, content } of pieces) {
    for (const [expected, ...path] of Object.hasOwn(EXPECTED, kind) ? EXPECTED[kind] ?? [] : []) {
      const found = at(content, ...path);
      if (expected !== undefined && found !== expected) {
        yield `the ${kind} of ${nameOf(entry)} names ${path.join(".")} ${spoken(found)}, not ${
          spoken(expected)
        }`;
      }
    }
  }
  const isTpps = ["consent_request", "pushed_request", "payment_request"];
  for (const entry of entries) {
    const { items, event, actor } = entry.record;
    const isStep = event === "consent.token_issued" ||
      (items ?? []).some(({ kind }) => isTpps.includes(kind));
    if (isStep && actor !== tpp) yield `${nameOf(entry)} is by another TPP`;
  }
}

/** A return of the customer and a decision are of a session that the platform has begun before. */
function* verifySessions(pieces: readonly Piece[]): Generator<string> {
  const begun = new Set<unknown>();
  const authenticated = new Set<unknown>();
  for (const { entry, kind, content } of pieces) {
    const session = at(content, kind === "decision" ? "session" : "correlation_id");
    if (kind === "handover") begun.add(session);
    const isKnown = kind === "decision" ? authenticated.has(session) : begun.has(session);
    if ((kind === "sca_result" || kind === "decision") && !isKnown) {
      yield `the ${kind} of ${nameOf(entry)} is of another session`;
    }
    if (kind === "sca_result") authenticated.add(session);
  }
}

/** The account that pays is the one that the consent names or the customer chose. */
function* verifyAccount(pieces: readonly Piece[]): Generator<string> {
  const decision = pieces.find(({ kind, content }) =>
    kind === "decision" && at(content, "accepted") === true
  );
  const chosen = at(decision?.content, "chosen");
  if (decision !== undefined) {
    const offered = at(
      decision.content,
      "page",
      "accounts",
      String(at(chosen, "account", "index")),
      "account",
    );
    const digest = textOf(digestOf(String(at(chosen, "salt")), canonicalOf(at(chosen, "account"))));
    if (offered !== digest) yield `the chosen account of ${nameOf(decision.entry)} was not on the screen`;
  }
  const request = pieces.find(({ kind }) => kind === "consent_request");
  const named = at(request?.content, "Data", "Initiation", "DebtorAccount");
  const expected = named === undefined
    ? chosen && [at(chosen, "account", "schemeName"), at(chosen, "account", "identification")]
    : [at(named, "SchemeName"), at(named, "Identification")];
  if (expected === undefined) return;
  for (const { entry, kind, content } of pieces) {
    const account = at(content, "Data", "DebtorAccount");
    const found = [at(account, "SchemeName"), at(account, "Identification")];
    if (kind === "order" && !same(found, expected)) {
      yield `the order of ${nameOf(entry)} is paid from ${spoken(found)}, and the customer agreed to ${
        spoken(expected)
      }`;
    }
  }
}

/** The payment was requested with the token of the code that the customer's authorisation issued. */
function* verifyGrants(entries: readonly BundleEntry[], { payment }: Statement): Generator<string> {
  const codes = new Set<string | undefined>();
  const tokens = new Set<string | undefined>();
  for (const entry of entries) {
    const { event, issued, items, reason, authentication } = entry.record;
    if (event === "consent.Authorized") {
      if (issued?.code === undefined) yield `${nameOf(entry)} names no code`;
      codes.add(issued?.code);
    }
    if (event === "consent.token_issued") {
      if (issued?.token === undefined || !codes.has(issued.code)) {
        yield `${nameOf(entry)} is not of a code of this case`;
      }
      tokens.add(issued?.token);
    }
    if (event === "consent.Consumed" && reason !== `payment ${payment}` && !isRecovered(entries, payment)) {
      yield `${nameOf(entry)} is of another payment`;
    }
    const isRequest = (items ?? []).some(({ kind }) => kind === "payment_request");
    if (isRequest && tokens.size > 0 && !tokens.has(authentication?.token)) {
      yield `${nameOf(entry)} was requested with a token of another consent`;
    }
  }
}

function at(value: unknown, ...path: readonly string[]): unknown {
  let found = value;
  for (const member of path) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, member)) return undefined;
    found = Reflect.get(found, member);
  }
  return found;
}

function same(one: unknown, other: unknown): boolean {
  return canonicalOf(one) === canonicalOf(other);
}

function spoken(value: unknown): string {
  return value === undefined ? "nothing" : canonicalOf(value);
}
