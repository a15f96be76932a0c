/** The consents and payments of an organisation: those of its software, or those at its bank (contract OWN5). */
import { decide, type Present } from "../../evidence/personal_data.ts";
import { z } from "zod";
import { asConsentId, asPaymentId, type BankCode } from "../../../base/kernel/identifiers.ts";
import { readPage } from "../../../base/store/page.ts";
import { openRequestReads } from "../../../base/store/request_reads.ts";
import type { Reader } from "../../../base/store/store.ts";
import { asOf, type Consent } from "../../core/consents/consent.ts";
import { DAY_MS, dayOf } from "../../observed/figures/figures.ts";
import { isWalkCursor, type ListedKind, type Span, walkLists } from "../../guards/lists/lookup_store.ts";
import type { Payment, ReadablePayment } from "../../core/payments/payment.ts";
import type { Organisation, Owned } from "../../guards/security/organisation.ts";
import type { OwnReadDeps } from "./own_reads.ts";
import { listedPlace } from "../../config/store_keys.ts";
import {
  type OwnConsent,
  type OwnPayment,
  representOwnConsent,
  representPayment,
} from "./own_representation.ts";
import { invalidRequest } from "../../guards/security/operation_body.ts";

/** A page of an organisation's list. */
export interface OwnPage<T extends object> {
  readonly found: readonly Owned<T>[];
  readonly next: string | undefined;
}

/** Days of creation, UTC, and where the page begins. */
export interface OwnAsked extends Span {
  readonly after: string | undefined;
}

const PAGE = 50;
const DEFAULT_DAYS = 7;
const query = z.object({
  from: z.iso.date().optional(),
  until: z.iso.date().optional(),
  after: z.string().refine(isWalkCursor).optional(),
});

/** @throws {ApiError} `operations.invalid_request` */
export function readOwnAsked(sent: Readonly<Record<string, string>>, now: number): OwnAsked {
  const parsed = query.safeParse(sent);
  if (!parsed.success) {
    throw invalidRequest(
      "from and until must be days, such as 2040-01-15, and after the After of an earlier page",
    );
  }
  const { until = dayOf(now), after } = parsed.data;
  const end = Date.parse(until) + DAY_MS;
  const from = parsed.data.from === undefined ? end - DEFAULT_DAYS * DAY_MS : Date.parse(parsed.data.from);
  if (from >= end) throw invalidRequest("until must not be before from");
  return { from, until: end, after };
}

/** Returns a page of consents with their current statuses, in the order of banks, TPPs and times. */
export async function ownConsents(
  deps: OwnReadDeps,
  organisation: Organisation,
  asked: OwnAsked,
): Promise<OwnPage<OwnConsent>> {
  const { consents, store, clock } = deps;
  const { ids, next } = await walkOwn(store, organisation, "consent", asked);
  const reads = openRequestReads(store);
  const read = await Promise.all(ids.map(async (text) => {
    const id = asConsentId(text);
    return id === undefined ? null : await consents.find(reads, id);
  }));
  const readable = read.flatMap((entry) => entry === null ? [] : shownToOwner(entry.value) ?? []);
  const names = await namesOfParties(deps, reads, readable);
  const found = readable.flatMap((one) => {
    const consent = asOf(one, clock());
    return organisation.recognise(representOwnConsent(consent, names), consent) ?? [];
  });
  return { found, next };
}

/** Returns a page of payments: of a bank oldest first, of a TPP in the order of banks, software and times. */
export async function ownPayments(
  deps: OwnReadDeps,
  organisation: Organisation,
  asked: OwnAsked,
): Promise<OwnPage<OwnPayment>> {
  const bank = bankOf(organisation);
  const { payments, next } = bank === undefined
    ? await madePayments(deps, organisation, asked)
    : await paymentsAt(deps, bank, asked);
  const names = await namesOfParties(deps, deps.store, payments);
  const found = payments.flatMap((payment) =>
    organisation.recognise(representPayment(payment, names), payment) ?? []
  );
  return { found, next };
}

/** Returns the names of the TPPs and the banks of these. */
async function namesOfParties(
  { clients }: OwnReadDeps,
  from: Reader,
  made: readonly (Consent | Payment)[],
): Promise<ReadonlyMap<string, string>> {
  const codes = [...new Set(made.map(({ bank }) => bank))];
  const [tpps, banks] = await Promise.all([
    clients.namesOf(from, made.map(({ clientId }) => clientId)),
    Promise.all(codes.map((code) => clients.findBank(from, code))),
  ]);
  return new Map([
    ...tpps,
    ...banks.flatMap((one) => one === null ? [] : [[one.code, one.orgName] as const]),
  ]);
}

interface Payments {
  readonly payments: readonly ReadablePayment[];
  readonly next: string | undefined;
}

async function madePayments(
  { payments, store }: OwnReadDeps,
  organisation: Organisation,
  asked: OwnAsked,
): Promise<Payments> {
  const { ids, next } = await walkOwn(store, organisation, "payment", asked);
  const reads = openRequestReads(store);
  const read = await Promise.all(ids.map(async (text) => {
    const id = asPaymentId(text);
    return id === undefined ? null : await payments.find(reads, id);
  }));
  const found = read.flatMap((entry) => entry === null ? [] : shownToOwner(entry.value) ?? []);
  return { payments: found, next };
}

async function paymentsAt({ payments }: OwnReadDeps, bank: BankCode, asked: OwnAsked): Promise<Payments> {
  const first = listedPlace(asked.from);
  const after = asked.after !== undefined && asked.after > first ? asked.after : first;
  const { found, next } = await readPage({ after, limit: PAGE }, async (place: string | undefined, limit) => {
    const listed = await payments.listOrders(bank, place, limit);
    return listed.filter(({ createdAt }) => createdAt < asked.until).map(({ place, payment }) => ({
      place,
      shown: payment === undefined ? undefined : shownToOwner(payment),
    }));
  });
  return { payments: found, next };
}

/** Returns the value if its personal data can be read: erased and lost ones are not listed. */
function shownToOwner<T extends Consent | Payment>(value: T): Present<T> | undefined {
  return decide(value, { present: (readable) => readable, erased: () => undefined, lost: () => undefined });
}

async function walkOwn(
  store: OwnReadDeps["store"],
  organisation: Organisation,
  kind: ListedKind,
  asked: OwnAsked,
): Promise<{ readonly ids: readonly string[]; readonly next: string | undefined }> {
  const bank = bankOf(organisation);
  const tpps = organisation.clients.map(({ clientId }) => clientId).toSorted();
  const tppsAt = (): "all" | readonly string[] => bank === undefined ? tpps : "all";
  const { found, next } = await walkLists(store, { ...asked, kind, bank, tppsAt }, PAGE);
  return { ids: found.map(({ id }) => id), next };
}

/** An organisation is a bank or a TPP. */
function bankOf({ clients }: Organisation): BankCode | undefined {
  return clients.find(({ bank }) => bank !== undefined)?.bank;
}
