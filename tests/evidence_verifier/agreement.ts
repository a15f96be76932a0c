/** Step 12: the pieces agree with each other and with their entries. */
import { type Case, isPaymentStatus, nameOf, type Piece, piecesOf } from "./case.ts";
import {
  canonicalForm,
  fromBase64Url,
  isSame,
  listOf,
  type Members,
  membersOf,
  parsed,
  sha256Text,
} from "./encoding.ts";
import { integer } from "./form.ts";

const INITIATION = [
  "InstructionIdentification",
  "EndToEndIdentification",
  "InstructedAmount",
  "CreditorAccount",
  "RemittanceInformation",
] as const;

/** Returns the member at the end of the path. */
function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce((found: unknown, name) => membersOf(found)[name], value);
}

function* requestFaults(facts: Case): Generator<string> {
  const pieces = piecesOf(facts, "consent_request", "payment_request", "order");
  const [first, ...others] = pieces;
  for (const other of first ? others : []) {
    for (const name of INITIATION) {
      const [one, two] = [first, other].map((piece) => at(piece?.content, "Data", "Initiation", name));
      if (!isSame(one, two)) yield `${name} differs in the ${other.kind} of ${nameOf(other.entry)}`;
    }
  }
  const [one, two] = piecesOf(facts, "consent_request", "payment_request")
    .map(({ content }) => membersOf(content)["Risk"]);
  if (piecesOf(facts, "consent_request", "payment_request").length > 1 && !isSame(one, two)) {
    yield "Risk differs";
  }
}

/** The page with the words of the consent. */
function pageOf(initiation: Members): Members {
  const { CreditorAccount, InstructedAmount, RemittanceInformation } = initiation;
  const payee = Object.fromEntries(
    Object.entries(membersOf(CreditorAccount)).map((
      [name, value],
    ) => [name[0]?.toLowerCase() + name.slice(1), value]),
  );
  return {
    amount: { amount: at(InstructedAmount, "Amount"), currency: at(InstructedAmount, "Currency") },
    payee,
    reference: at(RemittanceInformation, "Reference"),
    unstructured: at(RemittanceInformation, "Unstructured"),
  };
}

async function* decisionFaults(facts: Case): AsyncGenerator<string> {
  const [request] = piecesOf(facts, "consent_request");
  const expected = request && pageOf(membersOf(at(request.content, "Data", "Initiation")));
  for (const { content, entry } of piecesOf(facts, "decision")) {
    const { accepted, chosen, page } = membersOf(content);
    for (const [name, value] of Object.entries(expected ?? {})) {
      if (!isSame(value, at(page, name))) yield `the screen of ${nameOf(entry)} showed another ${name}`;
    }
    const meant = { "consent.Authorized": true, "consent.Rejected": false }[entry.event];
    if (meant === undefined ? entry.event !== "consent.customer_late" : accepted !== meant) {
      yield `the decision of ${nameOf(entry)} is another`;
    }
    if (accepted !== true) continue;
    const account = at(chosen, "account");
    const index = at(account, "index");
    const shown = integer(index) ? listOf(at(page, "accounts"))[Number(index)] : undefined;
    const digest = sha256Text(String(at(chosen, "salt")), canonicalForm(account ?? null));
    if (at(shown, "account") !== digest) yield `the account of ${nameOf(entry)} was not on the screen`;
  }
}

/** The status that a piece reports, or undefined if it reports none. */
function reports(status: string, { kind, content }: Piece): boolean {
  if (kind === "status_report") return at(content, "Data", "Status") === status;
  if (kind === "stated_order") return at(content, "order", "Status") === status;
  if (kind !== "order_response") return true;
  if (at(content, "status") !== 200) return false;
  if (status === "delivered") return true;
  const body = String(at(content, "body"));
  try {
    return membersOf(JSON.parse(body))["Status"] === status;
  } catch {
    return body.includes(`"Status":"${status}"`);
  }
}

function* statusFaults(facts: Case): Generator<string> {
  for (const piece of piecesOf(facts, "status_report", "stated_order", "order_response")) {
    const { event } = piece.entry;
    const isAnswered = isPaymentStatus(event) || event === "payment_order.delivered";
    if (isAnswered && !reports(event.slice(event.indexOf(".") + 1), piece)) {
      yield `the ${piece.kind} of ${nameOf(piece.entry)} says another status`;
    }
  }
  for (const { content, entry } of piecesOf(facts, "sca_result")) {
    const isSuccess = ["consent.Authorized", "consent.customer_authenticated"].includes(entry.event);
    if (isSuccess && !["success", "200"].some((code) => at(content, "status_code") === code)) {
      yield `the bank's result of ${nameOf(entry)} is none`;
    }
  }
}

/** Each step of a dispute is the one that its party has signed, and none follows the last one. */
function* disputeFaults(facts: Case): Generator<string> {
  const meant = new Map([["opened", "Open"], ["answered", "Answer"], ["withdrawn", "Withdraw"]]);
  const steps = facts.entries.filter(({ event }) => event.startsWith("dispute."));
  const party = (entry?: (typeof steps)[number]): string | undefined => entry?.items?.[0]?.kind;
  for (const [number, entry] of steps.entries()) {
    const name = entry.event.slice("dispute.".length);
    const [piece] = facts.pieces.filter((one) => one.entry === entry && one.body !== null);
    if (piece !== undefined && at(piece.content, "Data", "Action") !== meant.get(name)) {
      yield `what was signed of ${nameOf(entry)} is another step`;
    }
    const isOpeners = party(entry) === party(steps[0]);
    if ((name === "answered" && isOpeners) || (name === "withdrawn" && !isOpeners)) {
      yield `${nameOf(entry)} is not of the party whose step it is`;
    }
    const isLast = ["withdrawn", "decided"].includes(name) || at(piece?.content, "Data", "IsAgreed") === true;
    if (isLast && number < steps.length - 1) yield `${nameOf(entry)} was the last step of the dispute`;
  }
}

function* accountFaults(facts: Case): Generator<string> {
  const [request] = piecesOf(facts, "consent_request");
  const [decision] = piecesOf(facts, "decision").filter(({ entry }) => entry.event === "consent.Authorized");
  const given = at(request?.content, "Data", "Initiation", "DebtorAccount");
  const chosen = at(decision?.content, "chosen", "account");
  const expected = given === undefined
    ? [at(chosen, "schemeName"), at(chosen, "identification")]
    : [at(given, "SchemeName"), at(given, "Identification")];
  if (expected[0] === undefined) return;
  for (const { content, entry } of piecesOf(facts, "order")) {
    const account = at(content, "Data", "DebtorAccount");
    if (!isSame(expected, [at(account, "SchemeName"), at(account, "Identification")])) {
      yield `the order of ${nameOf(entry)} is from another account`;
    }
  }
}

/** The account that the TPP named, in the order and in the handover. */
function* namedAccountFaults(facts: Case): Generator<string> {
  const [request] = piecesOf(facts, "consent_request");
  const [payment] = piecesOf(facts, "payment_request");
  if (!request) return;
  const accountOf = (piece?: Piece): unknown => at(piece?.content, "Data", "Initiation", "DebtorAccount");
  const numbersOf = (account: unknown): string =>
    canonicalForm([at(account, "SchemeName") ?? null, at(account, "Identification") ?? null]);
  const expected = accountOf(request) ?? accountOf(payment);
  for (const piece of piecesOf(facts, "order")) {
    const isReadable = at(request.content, "Data", "ReadRefundAccount") === "Yes";
    if (at(piece.content, "tpp", "read_refund_account") !== isReadable) {
      yield `${nameOf(piece.entry)} lets the TPP read otherwise`;
    }
    if (numbersOf(accountOf(piece)) !== numbersOf(expected)) {
      yield `${nameOf(piece.entry)} names another payer`;
    }
  }
  const isPresent = accountOf(request) === undefined ? "false" : "true";
  for (const { content, entry } of piecesOf(facts, "handover")) {
    if (at(content, "debtor_account_present") !== isPresent) {
      yield `${nameOf(entry)} tells the bank otherwise`;
    }
  }
}

/** The digest of the transaction, as LNK1 defines it. */
function digestOfTransaction(initiation: unknown): string {
  const of = (account: string, names: readonly string[]): readonly unknown[] =>
    names.map((name) => at(initiation, account, name) ?? null);
  return sha256Text(canonicalForm([
    ...of("InstructedAmount", ["Amount", "Currency"]),
    ...of("CreditorAccount", ["Name", "SchemeName", "Identification", "SecondaryIdentification"]),
    ...of("DebtorAccount", ["SchemeName", "Identification", "SecondaryIdentification"]),
  ]));
}

/** The bank authenticated the transaction that the TPP requested, if it claims so. */
function* linkingFaults(facts: Case): Generator<string> {
  const [request] = piecesOf(facts, "consent_request");
  const digest = request && digestOfTransaction(at(request.content, "Data", "Initiation"));
  for (const { content, entry, kind } of request ? piecesOf(facts, "handover", "sca_result") : []) {
    const named = at(content, "transaction_digest");
    const isSilent = kind === "sca_result" && named === undefined;
    if (!isSilent && named !== digest) yield `the ${kind} of ${nameOf(entry)} is of another transaction`;
  }
  const { entries, statement } = facts;
  const end = entries.findIndex(({ event }) => event === "consent.Authorized");
  const [decision] = piecesOf(facts, "decision").filter(({ entry }) => entries.indexOf(entry) === end);
  const result = piecesOf(facts, "sca_result").findLast(({ content, entry }) =>
    entries.indexOf(entry) <= end &&
    (!decision || isSame(at(content, "correlation_id"), at(decision.content, "session")))
  );
  const isProven = request !== undefined && at(result?.content, "transaction_digest") !== undefined;
  if (statement["linked"] !== (isProven ? "proven" : "not claimed")) {
    yield "the statement says otherwise whether the transaction is linked";
  }
}

/** What is signed for a step is of its time, and there once. */
function* momentFaults(facts: Case): Generator<string> {
  const seen = new Set<string>();
  for (const { content, entry, kind } of piecesOf(facts, "handover", "sca_result", "order")) {
    const { iat, jti } = membersOf(content);
    const isOlder = kind === "order" && (entry.items ?? []).some((item) => item.kind === "stated_order");
    const isTimely = typeof iat === "number" && Math.abs(iat * 1000 - entry.at) <= 3_660_000;
    if (!isOlder && !isTimely) yield `the ${kind} of ${nameOf(entry)} has another time`;
    const name = `${kind} ${canonicalForm(jti ?? null)}`;
    if (seen.has(name)) yield `the ${kind} of ${nameOf(entry)} is there twice`;
    seen.add(name);
  }
}

const HOUR_MS = 3_660_000;

/** When the customer decided, and when the payment was created. */
function* timeFaults(facts: Case): Generator<string> {
  const { entries, payment } = facts;
  for (const { content, entry } of piecesOf(facts, "decision")) {
    const result = piecesOf(facts, "sca_result").findLast((piece) =>
      entries.indexOf(piece.entry) < entries.indexOf(entry) &&
      isSame(at(piece.content, "correlation_id"), at(content, "session"))
    );
    const isLate = result !== undefined && Math.abs(entry.at - result.entry.at) > HOUR_MS;
    if (isLate && entry.event !== "consent.customer_late") {
      yield `${nameOf(entry)} is not of its session's time`;
    }
  }
  const first = entries.find(({ subject }) => subject === payment);
  const consumed = entries.find(({ event }) => event === "consent.Consumed");
  if (consumed && consumed.at !== first?.at) yield `${nameOf(consumed)} is not of the payment's time`;
  if ((first?.items ?? []).some(({ kind }) => kind === "stated_order")) return;
  for (const { content, entry } of piecesOf(facts, "order")) {
    const created = Date.parse(String(at(content, "Data", "CreationDateTime")));
    if (!(Math.abs(created - Number(first?.at)) <= HOUR_MS)) {
      yield `the order of ${nameOf(entry)} has another creation`;
    }
  }
}

function* sessionFaults(facts: Case): Generator<string> {
  const { entries } = facts;
  const pairs = [["sca_result", "correlation_id", "handover"], [
    "decision",
    "session",
    "sca_result",
  ]] as const;
  for (const [kind, member, source] of pairs) {
    for (const { content, entry } of piecesOf(facts, kind)) {
      const earlier = facts.pieces.filter((piece) =>
        piece.kind === source && entries.indexOf(piece.entry) < entries.indexOf(entry)
      );
      const isKnown = earlier.some((piece) =>
        piece.body === null || isSame(at(piece.content, "correlation_id"), at(content, member))
      );
      if (!isKnown) yield `the ${kind} of ${nameOf(entry)} is of another session`;
    }
  }
}

/** Names of one party: whoever names it, and what it says. */
type Named = readonly [string, unknown];

/** All name the same, and none is absent. */
function* nameFaults(names: readonly Named[], party: string, expected = names[0]?.[1]): Generator<string> {
  for (const [where, name] of names) {
    if (typeof name !== "string" || name !== expected) yield `${where} names another ${party}`;
  }
}

function named(facts: Case, ...members: readonly (readonly [string, ...string[]])[]): readonly Named[] {
  return members.flatMap(([kind, ...path]) =>
    piecesOf(facts, kind).map((
      { content, entry },
    ): Named => [`the ${kind} of ${nameOf(entry)}`, at(content, ...path)])
  );
}

function* partyFaults(facts: Case): Generator<string> {
  const { entries, statement, consent, payment } = facts;
  const platform = named(facts, ["handover", "iss"], ["order", "iss"], ["sca_result", "aud"]);
  yield* nameFaults(platform, "platform", statement["iss"]);
  const actors = entries.flatMap((entry): Named[] => {
    const { actor } = entry;
    return actor.startsWith("bank ") ? [[nameOf(entry), actor.slice(5)]] : [];
  });
  const banks = named(
    facts,
    ["handover", "aud"],
    ["order", "aud"],
    ["sca_result", "iss"],
    ["sca_result", "bank_id"],
    ["decision", "page", "bank", "code"],
  );
  yield* nameFaults([...banks, ...actors, ...statementNames(facts, "bank_statement", "org_id")], "bank");
  const TPP_KINDS = ["consent_request", "payment_request", "pushed_request", "tpp_dispute"];
  const clients = entries.filter(({ event, items = [] }) =>
    ["consent.token_issued", "consent.token_revoked"].includes(event) ||
    items.some(({ kind }) => TPP_KINDS.includes(kind))
  ).map((entry): Named => [nameOf(entry), entry.actor]);
  const said = named(
    facts,
    ["handover", "act", "registration_no"],
    ["order", "tpp", "client_id"],
    ["decision", "page", "tpp", "clientId"],
  );
  const stated = statementNames(facts, "tpp_statement", "software_client_id");
  yield* nameFaults([...clients, ...said, ...formMembers(facts, "client_id"), ...stated], "TPP");
  const consents = named(facts, ["order", "Data", "ConsentId"], ["stated_order", "order", "ConsentId"]);
  yield* nameFaults([...formMembers(facts, "consent_id"), ...consents], "consent", consent);
  yield* nameFaults(named(facts, ["stated_order", "order", "DomesticPaymentId"]), "payment", payment);
}

/** A claim of the software statements of a kind. */
function statementNames({ entries, documents }: Case, kind: string, claim: string): readonly Named[] {
  return entries.flatMap((entry) =>
    (entry.documents ?? []).filter((document) => document.kind === kind).map(({ sha256 }): Named => {
      const claims = parsed(fromBase64Url(documents.get(sha256)?.split(".")[1] ?? ""));
      return [`the ${kind} of ${nameOf(entry)}`, membersOf(claims)[claim]];
    })
  );
}

/** The entry of the consent's request names one software statement of each party, and no other does. */
function* documentFaults({ entries }: Case): Generator<string> {
  for (const entry of entries) {
    const kinds = (entry.documents ?? []).map(({ kind }) => kind).toSorted().join(" ");
    const isFirst = (entry.items ?? []).some(({ kind }) => kind === "consent_request");
    if (kinds !== (isFirst ? "bank_statement tpp_statement" : "")) {
      yield `${nameOf(entry)} has other documents`;
    }
  }
}

function formMembers(facts: Case, name: string): readonly Named[] {
  return piecesOf(facts, "pushed_request").map(({ bytes, entry }): Named => {
    const values = new URLSearchParams(new TextDecoder().decode(bytes)).getAll(name);
    return [nameOf(entry), values.length === 1 ? values[0] : values];
  });
}

function* issuedFaults({ entries, payment, pieces }: Case): Generator<string> {
  const [codes, tokens] = [new Set<string>(), new Set<string>()];
  const isRecovered = pieces.some(({ kind, entry }) => kind === "stated_order" && entry.sequence === 1);
  for (const { event, issued = {}, items = [], authentication, reason, ...entry } of entries) {
    const { code = "", token = "" } = issued;
    const name = nameOf({ ...entry, event });
    if (event === "consent.token_issued" && (!codes.has(code) || token === "")) yield `${name} is of no code`;
    if (event === "consent.Authorized" && code === "") yield `${name} has no code`;
    if (event === "consent.Authorized") codes.add(code);
    if (event === "consent.token_issued") tokens.add(token);
    const pays = items.some(({ kind }) => kind === "payment_request");
    if (pays && !tokens.has(authentication?.token ?? "")) yield `${name} has a token of no code`;
    if (event === "consent.Consumed" && !isRecovered && reason !== `payment ${payment}`) {
      yield `${name} is of another payment`;
    }
  }
}

export async function* agreementFaults(facts: Case): AsyncGenerator<string> {
  yield* requestFaults(facts);
  yield* decisionFaults(facts);
  yield* statusFaults(facts);
  yield* disputeFaults(facts);
  yield* accountFaults(facts);
  yield* namedAccountFaults(facts);
  yield* linkingFaults(facts);
  yield* momentFaults(facts);
  yield* timeFaults(facts);
  yield* sessionFaults(facts);
  yield* partyFaults(facts);
  yield* documentFaults(facts);
  yield* issuedFaults(facts);
}
