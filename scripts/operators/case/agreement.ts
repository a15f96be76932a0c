/**
 * Compares the pieces of evidence of a case with each other and with their entries: a genuine signature of another case
 * proves nothing here (`docs/contract/evidence.md`, verification, step 12). No I/O.
 */
import type { BundleEntry, Piece, Statement } from "./bundle_schema.ts";
import { isRecovered } from "./required.ts";
import { MAX_AGE_SECONDS } from "./proofs.ts";
import { base64url, bytesOf, digestOf, jsonIn } from "./signatures.ts";
import { canonicalOf, entryName } from "./verify_parts.ts";

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
  documents: readonly string[],
  statement: Statement,
): Generator<string> {
  if (statement.payment !== paymentOf(statement.consent)) yield "the payment is not the one of the consent";
  const agreed = pieces.find(({ kind }) => kind === "consent_request") ??
    pieces.find(({ kind }) => kind === "payment_request") ?? pieces.find(({ kind }) => kind === "order");
  for (const piece of pieces) {
    if (agreed !== undefined) yield* verifyTerms(agreed, piece);
    yield* verifyStep(piece);
    yield* verifyMoment(piece);
  }
  yield* verifyNames(pieces, entries, documents, statement);
  yield* verifySessions(pieces);
  yield* verifyAccount(pieces);
  yield* verifyNamedAccount(pieces);
  yield* verifyGrants(entries, statement);
  yield* verifyCreation(pieces, entries, statement);
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
  yield `the ${what} differs: ${spoken(one)} in the ${piece.kind} of ${entryName(piece.entry)}, ` +
    `${spoken(other)} in the ${agreed.kind}`;
}

/** Values of `status_code` that authorise (Decision B3). */
const SUCCESSES: readonly unknown[] = ["success", "200"];

/** What the evidence says is what its entry says. */
function* verifyStep({ entry, kind, content }: Piece): Generator<string> {
  const { event } = entry.record;
  const name = `the ${kind} of ${entryName(entry)}`;
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
  if (kind === "decision" && at(content, "page", "language") !== entry.record.page?.language) {
    yield `${name} was shown in another language than the entry says`;
  }
  if (kind === "order_response" && event === "payment_order.delivered" && at(content, "status") !== 200) {
    yield says(at(content, "status"));
  }
  const isProof = event === "consent.Authorized" || event === "consent.customer_authenticated";
  if (kind === "sca_result" && isProof && !SUCCESSES.includes(at(content, "status_code"))) {
    yield says(at(content, "status_code"));
  }
}

/** What was signed when the step was taken has its time. An order that the bank brings after a restore is older. */
function* verifyMoment({ entry, kind, content }: Piece): Generator<string> {
  const { at: time, items = [] } = entry.record;
  const isOlder = kind === "order" && items.some((item) => item.kind === "stated_order");
  if (!["handover", "sca_result", "order"].includes(kind) || isOlder) return;
  const iat = at(content, "iat");
  if (typeof iat !== "number" || Math.abs(iat - time / 1000) > MAX_AGE_SECONDS) {
    yield `the ${kind} of ${entryName(entry)} was signed at another time`;
  }
}

/** The body is stored up to a length, so it may be cut. */
function statusIn(body: string): unknown {
  const status = at(jsonIn(new TextEncoder().encode(body)), "Status");
  return status ?? /"Status"\s*:\s*"(\w+)"/.exec(body)?.[1];
}

/** A name of somebody or something, and where it stands. */
type Name = readonly [where: string, name: unknown];

/** What the pieces of a kind name: which of the parties and ids, and where. */
const NAMED: Readonly<Record<string, readonly (readonly [keyof Names, ...string[]])[]>> = {
  handover: [["platform", "iss"], ["bank", "aud"], ["consent", "ref_id"], ["TPP", "act", "registration_no"]],
  sca_result: [["platform", "aud"], ["bank", "iss"], ["bank", "bank_id"], ["consent", "ref_id"]],
  order: [
    ["platform", "iss"],
    ["bank", "aud"],
    ["consent", "Data", "ConsentId"],
    ["payment", "Data", "DomesticPaymentId"],
    ["TPP", "tpp", "client_id"],
  ],
  decision: [["bank", "page", "bank", "code"], ["TPP", "page", "tpp", "clientId"]],
  pushed_request: [["consent", "consent_id"], ["TPP", "client_id"]],
  stated_order: [["consent", "order", "ConsentId"], ["payment", "order", "DomesticPaymentId"]],
};
const TPP_KINDS = ["consent_request", "pushed_request", "payment_request", "tpp_dispute"];

interface Names {
  readonly platform: readonly Name[];
  readonly TPP: readonly Name[];
  readonly bank: readonly Name[];
  readonly consent: readonly Name[];
  readonly payment: readonly Name[];
}

/** The consent is used in the commit that creates its payment, and orders name this time. */
function* verifyCreation(
  pieces: readonly Piece[],
  entries: readonly BundleEntry[],
  { payment }: Statement,
): Generator<string> {
  const created = entries.find(({ record }) => record.subject === payment)?.record.at;
  const consumed = entries.find(({ record }) => record.event === "consent.Consumed");
  if (consumed !== undefined && consumed.record.at !== created) {
    yield `${entryName(consumed)} is not of the time at which the payment was created`;
  }
  if (isRecovered(entries, payment)) return;
  for (const { entry, kind, content } of pieces) {
    const time = Date.parse(String(at(content, "Data", "CreationDateTime")));
    if (kind === "order" && !(Math.abs(time - (created ?? NaN)) <= MAX_AGE_SECONDS * 1000)) {
      yield `the order of ${entryName(entry)} names another time of creation`;
    }
  }
}

/** Whom and what the pieces and their entries name: the platform, the TPP, the bank, the consent and the payment. */
function* verifyNames(
  pieces: readonly Piece[],
  entries: readonly BundleEntry[],
  documents: readonly string[],
  { iss, consent, payment }: Statement,
): Generator<string> {
  const found: Record<keyof Names, Name[]> = {
    platform: [["the statement", iss]],
    TPP: [],
    bank: [],
    consent: [["the statement", consent]],
    payment: [["the statement", payment]],
  };
  for (const entry of entries) {
    const { items = [], event, actor } = entry.record;
    const isTpps = event.startsWith("consent.token_") || items.some(({ kind }) => TPP_KINDS.includes(kind));
    if (isTpps) found.TPP.push([entryName(entry), actor]);
    if (actor.startsWith("bank ")) found.bank.push([entryName(entry), actor.slice("bank ".length)]);
  }
  for (const { entry, kind, content } of pieces) {
    for (const [whom, ...path] of Object.hasOwn(NAMED, kind) ? NAMED[kind] ?? [] : []) {
      found[whom].push([`${path.join(".")} in the ${kind} of ${entryName(entry)}`, at(content, ...path)]);
    }
  }
  yield* verifyDocuments(entries, documents, found);
  for (const [whom, names] of Object.entries(found)) {
    const [first] = names;
    for (const [where, name] of names) {
      if (typeof name === "string" && name === first?.[1]) continue;
      yield `${where} names ${spoken(name)}, another ${whom} than ${first?.[0]}: ${spoken(first?.[1])}`;
    }
  }
}

/** The software statements in force are of the two parties. The directory's key is not in a bundle. */
function* verifyDocuments(
  entries: readonly BundleEntry[],
  documents: readonly string[],
  found: Record<keyof Names, Name[]>,
): Generator<string> {
  const texts = new Map(documents.map((text) => [base64url(digestOf(text)), text]));
  const KINDS = ["tpp_statement", "bank_statement"];
  for (const entry of entries) {
    const { documents: named = [], items = [] } = entry.record;
    const kinds = named.map(({ kind }) => kind);
    const isNew = items.some(({ kind }) => kind === "consent_request");
    if (!same(kinds.toSorted(), isNew ? KINDS.toSorted() : [])) {
      yield `${entryName(entry)} does not name the software statement of each party once`;
    }
    for (const { kind, sha256 } of named) {
      const claims = jsonIn(bytesOf(texts.get(sha256)?.split(".")[1] ?? "") ?? new Uint8Array());
      const where = `the ${kind} of ${entryName(entry)}`;
      if (kind === "tpp_statement") found.TPP.push([where, at(claims, "software_client_id")]);
      else found.bank.push([where, at(claims, "org_id")]);
    }
  }
}

/** A return of the customer and a decision are of a session that the platform has begun before. */
function* verifySessions(pieces: readonly Piece[]): Generator<string> {
  const begun = new Set<unknown>();
  /** The sessions whose customer the bank has authenticated, and when. */
  const authenticated = new Map<unknown, number>();
  const seen = new Set<string>();
  for (const { entry, kind, content } of pieces) {
    if (["handover", "sca_result", "order"].includes(kind)) {
      const id = `${kind} ${spoken(at(content, "jti"))}`;
      if (seen.has(id)) yield `the ${kind} of ${entryName(entry)} is there twice`;
      seen.add(id);
    }
    const session = at(content, kind === "decision" ? "session" : "correlation_id");
    if (kind === "handover") begun.add(session);
    const isKnown = kind === "decision" ? authenticated.has(session) : begun.has(session);
    if ((kind === "sca_result" || kind === "decision") && !isKnown) {
      yield `the ${kind} of ${entryName(entry)} is of another session`;
    }
    const { event, at: time } = entry.record;
    const waited = time - (authenticated.get(session) ?? time);
    if (
      kind === "decision" && event !== "consent.customer_late" && Math.abs(waited) > MAX_AGE_SECONDS * 1000
    ) {
      yield `the decision of ${entryName(entry)} is of another time than its session`;
    }
    if (kind === "sca_result") authenticated.set(session, time);
  }
}

/** The account that the TPP named, if it did, is named to the bank. */
function* verifyNamedAccount(pieces: readonly Piece[]): Generator<string> {
  const requests = ["consent_request", "payment_request"].map((kind) =>
    pieces.find((piece) => piece.kind === kind)
  );
  if (requests[0] === undefined) return;
  const accountIn = (content: unknown): readonly unknown[] => {
    const account = at(content, "Data", "Initiation", "DebtorAccount");
    return [at(account, "SchemeName"), at(account, "Identification")];
  };
  const named = requests.map((request) => accountIn(request?.content)).find(([scheme]) =>
    scheme !== undefined
  );
  const isImplicit = at(requests[0].content, "Data", "Initiation", "DebtorAccount") !== undefined;
  for (const { entry, kind, content } of pieces) {
    if (kind === "order" && !same(accountIn(content), named ?? [undefined, undefined])) {
      yield `the order of ${entryName(entry)} names another account of the payer than the TPP`;
    }
    const isRefundRead = at(requests[0].content, "Data", "ReadRefundAccount") === "Yes";
    if (kind === "order" && at(content, "tpp", "read_refund_account") !== isRefundRead) {
      yield `the order of ${
        entryName(entry)
      } says otherwise than the consent_request whether the TPP may read the account`;
    }
    if (kind === "handover" && at(content, "debtor_account_present") !== String(isImplicit)) {
      yield `the handover of ${
        entryName(entry)
      } says otherwise than the consent_request whether the account is known`;
    }
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
    const digest = base64url(digestOf(String(at(chosen, "salt")), canonicalOf(at(chosen, "account"))));
    if (offered !== digest) yield `the chosen account of ${entryName(decision.entry)} was not on the screen`;
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
      yield `the order of ${entryName(entry)} is paid from ${spoken(found)}, and the customer agreed to ${
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
      if (issued?.code === undefined) yield `${entryName(entry)} names no code`;
      codes.add(issued?.code);
    }
    if (event === "consent.token_issued") {
      if (issued?.token === undefined || !codes.has(issued.code)) {
        yield `${entryName(entry)} is not of a code of this case`;
      }
      tokens.add(issued?.token);
    }
    if (event === "consent.Consumed" && reason !== `payment ${payment}` && !isRecovered(entries, payment)) {
      yield `${entryName(entry)} is of another payment`;
    }
    const isRequest = (items ?? []).some(({ kind }) => kind === "payment_request");
    if (isRequest && tokens.size > 0 && !tokens.has(authentication?.token)) {
      yield `${entryName(entry)} was requested with a token of another consent`;
    }
  }
}

/** Returns the id of a consent's payment: a version 8 UUID (RFC 9562 §5.8) of its time and its SHA-256. */
function paymentOf(consent: string): string {
  const octets = digestOf("domestic payment of consent ", consent).slice(0, 16);
  octets.setFromHex(consent.slice(0, 13).replace("-", ""));
  octets[6] = (octets[6] ?? 0) & 0x0f | 0x80;
  octets[8] = (octets[8] ?? 0) & 0x3f | 0x80;
  return octets.toHex().replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

/** Returns the member at the end of the path, or undefined. */
export function at(value: unknown, ...path: readonly string[]): unknown {
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
