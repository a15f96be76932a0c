/**
 * Compares a bundle with a receipt or an event of its case (contract EV15). The platform has signed each of them, so a bundle
 * that was signed later must have what it says. No I/O.
 */
import { z } from "zod";
import type { Bundle, BundleEntry, Key, Piece } from "./bundle_schema.ts";
import { SKEW_MS, type Verified } from "./compare.ts";
import { headerOf, jsonIn, openJws } from "./signatures.ts";
import { entryName } from "./verify_parts.ts";

const receiptSchema = z.looseObject({
  iss: z.string(),
  iat: z.int(),
  sub: z.string(),
  amount: z.string(),
  currency: z.string(),
  payee: z.string(),
  payee_account_scheme: z.string(),
  payee_account_ending: z.string(),
  status: z.string(),
  bank: z.string(),
  end_to_end_identification: z.string().optional(),
});

const eventSchema = z.looseObject({
  iss: z.string(),
  iat: z.int(),
  toe: z.int(),
  sub: z.string(),
  events: z.record(z.string(), z.looseObject({ status: z.string().optional() })),
});

type Receipt = z.infer<typeof receiptSchema>;
type Event = z.infer<typeof eventSchema>;

/** What the platform has said about a case. */
export type Said = { readonly receipt: Receipt } | { readonly event: Event };

/** Returns the compact JWS that a file is, or undefined. */
export function tokenIn(bytes: Uint8Array): string | undefined {
  const text = new TextDecoder().decode(bytes).trim();
  return /^[\w-]+\.[\w-]+\.[\w-]+$/.test(text) ? text : undefined;
}

/** Opens a receipt or an event. @throws {Error} in one sentence if the platform's keys in the bundle do not verify it */
export async function openToken(jws: string, keys: readonly Key[]): Promise<Said> {
  const { kid, typ } = headerOf(jws.split(".")[0] ?? "") ?? {};
  const own = keys.filter((key) => key.kid === kid);
  if (own.length === 0) {
    throw new Error(
      `no key of the platform in the bundle has the kid ${kid}; take a bundle from when it signed`,
    );
  }
  for (const key of own) {
    const claims = jsonIn(await openJws(jws, key) ?? new Uint8Array());
    const receipt = receiptSchema.safeParse(claims).data;
    const event = eventSchema.safeParse(claims).data;
    if (receipt && typ === "payment-receipt+jwt") return { receipt };
    if (event && typ === "secevent+jwt") return { event };
  }
  throw new Error("the file is no receipt and no event that the platform has signed");
}

/** Yields each contradiction. @throws {Error} if the bundle is not newer */
export function* contradictionsWith(verified: Verified, said: Said): Generator<string> {
  const { iat } = "receipt" in said ? said.receipt : said.event;
  if (iat * 1000 + SKEW_MS > verified.statement.iat * 1000) {
    throw new Error(
      "the bundle was not signed later than the other file, by a minute at least; get a newer bundle",
    );
  }
  if ("receipt" in said) yield* againstReceipt(verified, said.receipt);
  else yield* againstEvent(verified, said.event);
}

function* againstReceipt({ bundle, statement, pieces }: Verified, receipt: Receipt): Generator<string> {
  if (receipt.sub !== statement.payment || receipt.iss !== statement.iss) {
    return yield "the receipt is of another payment";
  }
  const signed = `the receipt of ${timeOf(receipt.iat)} says ${receipt.status}`;
  const moves = bundle.entries.filter(({ record }) => /^payment\.[A-Z]/.test(record.event));
  const isThen = (at: number): boolean => at <= receipt.iat * 1000 + SKEW_MS;
  const former = moves.filter(({ record }) => isThen(record.at));
  const own = former.findLastIndex(({ record }) => record.event === `payment.${receipt.status}`);
  const next = former[own + 1];
  const isTold = own >= 0 || mayBeWithheld(bundle, statement.payment, receipt.status, isThen);
  if (!isTold) yield `${signed}, and the bundle has no such entry of until then`;
  else if (own >= 0 && next !== undefined && next.record.at < receipt.iat * 1000 - SKEW_MS) {
    yield `${signed}, and ${entryName(next)} is of ${new Date(next.record.at).toISOString()}`;
  }
  const terms = pieces.find(({ kind }) => TERMS.includes(kind));
  for (const [name, path, ending] of RECEIPT_TERMS) {
    const found = path.reduce((value: unknown, member) => Object(value)[member], terms?.content);
    const isSame = ending ? String(found).endsWith(String(receipt[name])) : found === receipt[name];
    if (terms !== undefined && !isSame) {
      yield `the receipt says ${name} ${receipt[name]}, and the ${terms.kind} ${found}`;
    }
  }
}

const TERMS: readonly Piece["kind"][] = ["consent_request", "payment_request", "order"];
const INITIATION = ["Data", "Initiation"] as const;
const PAYEE = [...INITIATION, "CreditorAccount"] as const;

/** Claims of a receipt, where the requests have them, and whether only the end is the same. */
const RECEIPT_TERMS: readonly (readonly [keyof Receipt & string, readonly string[], true?])[] = [
  ["amount", [...INITIATION, "InstructedAmount", "Amount"]],
  ["currency", [...INITIATION, "InstructedAmount", "Currency"]],
  ["payee", [...PAYEE, "Name"]],
  ["payee_account_scheme", [...PAYEE, "SchemeName"]],
  ["payee_account_ending", [...PAYEE, "Identification"], true],
  ["end_to_end_identification", [...INITIATION, "EndToEndIdentification"]],
];

/** The steps of a dispute after which it has a status. */
const DISPUTED: Readonly<Record<string, readonly string[]>> = {
  Open: ["dispute.opened"],
  Answered: ["dispute.answered"],
  Decided: ["dispute.answered", "dispute.decided"],
  Withdrawn: ["dispute.withdrawn"],
};

/** Statuses that an operator can have brought, in an entry of which a participant's own bundle has the leaf alone. */
const BY_OPERATORS = ["Rejected", "Decided"];

function mayBeWithheld(
  { withheld = [] }: Bundle,
  subject: string,
  status: string | undefined,
  isThen: (at: number) => boolean,
): boolean {
  return BY_OPERATORS.includes(status ?? "") &&
    withheld.some((entry) => entry.subject === subject && isThen(entry.position));
}

/** The entries that events tell of, by the last segment of their type. */
const OF_EVENT: Readonly<Record<string, (entry: BundleEntry["record"], status?: string) => boolean>> = {
  "consent-authorised": ({ event }) => event === "consent.Authorized",
  "consent-rejected": ({ event, actor }) => event === "consent.Rejected" && actor !== "clock",
  "consent-expired": ({ event, actor }) => event === "consent.Rejected" && actor === "clock",
  "consent-consumed": ({ event }) => event === "consent.Consumed",
  "payment-status-changed": ({ event }, status) => event === `payment.${status}`,
  "dispute-changed": ({ event }, status) => DISPUTED[status ?? ""]?.includes(event) === true,
  "payment-closed": ({ event, actor }) => event === "payment.Rejected" && actor.startsWith("operator "),
};

function* againstEvent({ bundle, statement }: Verified, event: Event): Generator<string> {
  const types = `${statement.iss}/events/`;
  const [type, details] = Object.entries(event.events).find(([name]) => name.startsWith(types)) ?? [];
  const subject = [statement.consent, statement.payment].find((id) => event.sub.endsWith(`/${id}`));
  if (type === undefined || subject === undefined || !event.iss.startsWith(`${statement.iss}/`)) {
    return yield "the event is of another case";
  }
  const name = type.slice(types.length);
  const isOf = Object.hasOwn(OF_EVENT, name) ? OF_EVENT[name] : undefined;
  if (isOf === undefined) throw new Error(`an event ${name} is no step of a case`);
  const isNear = (at: number): boolean =>
    [event.iat, event.toe].some((seconds) => Math.abs(seconds * 1000 - at) <= SKEW_MS);
  const told = bundle.entries.some(({ record }) =>
    record.subject === subject && isOf(record, details?.status) && isNear(record.at)
  );
  if (told || mayBeWithheld(bundle, subject, details?.status, isNear)) return;
  yield `the event of ${timeOf(event.iat)} says ${name}${
    details?.status === undefined ? "" : ` (${details.status})`
  }, and the bundle has no such entry of that time`;
}

function timeOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}
