/** Fills a store, before the platform opens it, with as much as it may hold one day. */
import { asBankCode, asClientId, newConsentId, paymentIdOf } from "../../../src/base/kernel/identifiers.ts";
import {
  auditKey,
  consentDeadlineKey,
  consentKey,
  paymentKey,
  paymentOrdersKey,
  spentJwtKey,
} from "../../../src/platform/config/store_keys.ts";
import type { Key, Store, Write } from "../../../src/base/store/store.ts";
import { consentBody, DEBTOR_ACCOUNT, paymentBody } from "../../testing/flows.ts";
import { BANK } from "./steps.ts";

/** Rows of one commit stay below Deno KV's limits of 1,000 mutations and 800 KiB. */
const CONSENTS_A_COMMIT = 100;
/** Every so many consents are still awaited: their deadlines pass, evenly, in the next hour, and are swept. */
const AWAITED_EVERY = 20;
const HOUR_MS = 3_600_000;
const BODY = consentBody();

/** Writes `count` consents, each with a payment, a spent id and their histories; `say` is told how far it is. */
export async function fill(store: Store, count: number, say: (text: string) => void): Promise<void> {
  const now = Date.now();
  for (let first = 0; first < count; first += CONSENTS_A_COMMIT) {
    const writes: Write[] = [];
    for (let index = first; index < Math.min(count, first + CONSENTS_A_COMMIT); index++) {
      writes.push(...await rowsOf(index, count, now));
    }
    await store.commit({ checks: [], writes });
    if ((first + CONSENTS_A_COMMIT) % 100_000 === 0) say(`filled ${first + CONSENTS_A_COMMIT} of ${count}`);
  }
}

async function rowsOf(index: number, count: number, now: number): Promise<readonly Write[]> {
  const [bank, clientId] = [asBankCode(BANK), asClientId(`SC-${crypto.randomUUID()}`)];
  if (bank === undefined || clientId === undefined) throw new Error("an id is malformed");
  const id = newConsentId();
  const createdAt = now - 1000 * (count - index);
  const awaited = index % AWAITED_EVERY === 0;
  const authoriseBy = awaited ? now + Math.floor((index / count) * HOUR_MS) : createdAt + HOUR_MS;
  const times = { createdAt, statusUpdatedAt: createdAt, authoriseBy };
  const status = awaited ? "AwaitingAuthorisation" : "Consumed";
  const consent = { id, clientId, bank, request: BODY, status, ...times };
  const created = {
    at: createdAt,
    event: "consent.AwaitingAuthorisation",
    actor: clientId,
    reason: "created",
  };
  const spent = spentJwtKey("dpop", "x".repeat(43), crypto.randomUUID());
  const rows: Write[] = [
    set(consentKey(id), consent),
    set(auditKey(id, createdAt), created),
    { ...set(spent, { expiresAt: now + HOUR_MS }), expiresAt: now + HOUR_MS },
  ];
  if (awaited) return [...rows, set(consentDeadlineKey(authoriseBy, id), id)];
  const paymentId = await paymentIdOf(id);
  const payment = {
    id: paymentId,
    consentId: id,
    clientId,
    bank,
    initiation: paymentBody(id, BODY).Data.Initiation,
    debtorAccount: DEBTOR_ACCOUNT,
    readRefundAccount: false,
    status: "AcceptedSettlementCompleted",
    charges: [],
    createdAt,
    statusUpdatedAt: createdAt,
  };
  const order = `${String(createdAt).padStart(15, "0")}-${paymentId}`;
  return [...rows, set(paymentKey(paymentId), payment), set([...paymentOrdersKey(bank), order], paymentId)];
}

function set(key: Key, value: unknown): Extract<Write, { kind: "set" }> {
  return { kind: "set", key, value };
}
