/** Fills a store's file, before the platform opens it, with as much as it may hold one day. */
import { asBankCode, asClientId, newConsentId, paymentIdOf } from "../../src/base/kernel/identifiers.ts";
import {
  auditKey,
  consentDeadlineKey,
  consentKey,
  paymentKey,
  paymentOrdersKey,
  spentJwtKey,
} from "../../src/platform/store_keys.ts";
import type { Key } from "../../src/base/store/store.ts";
import { consentBody, DEBTOR_ACCOUNT, paymentBody } from "../testing/flows.ts";
import { BANK } from "./steps.ts";

interface Row {
  readonly key: Key;
  readonly value: unknown;
  /** Milliseconds. */
  readonly expireIn?: number;
}

/** Rows of one commit stay below Deno KV's limits of 1,000 mutations and 800 KiB. */
const CONSENTS_A_COMMIT = 100;
/** Every so many consents are still awaited: their deadlines pass, evenly, in the next hour, and are swept. */
const AWAITED_EVERY = 20;
const HOUR_MS = 3_600_000;
const BODY = consentBody();

/** Writes `count` consents, each with a payment, a spent id and their histories; `say` is told how far it is. */
export async function fill(path: string, count: number, say: (text: string) => void): Promise<void> {
  const kv = await Deno.openKv(path);
  const now = Date.now();
  for (let first = 0; first < count; first += CONSENTS_A_COMMIT) {
    let operation = kv.atomic();
    for (let index = first; index < Math.min(count, first + CONSENTS_A_COMMIT); index++) {
      for (const { key, value, ...expiry } of await rowsOf(index, count, now)) {
        operation = operation.set([...key], value, expiry);
      }
    }
    await operation.commit();
    if ((first + CONSENTS_A_COMMIT) % 100_000 === 0) say(`filled ${first + CONSENTS_A_COMMIT} of ${count}`);
  }
  kv.close();
}

async function rowsOf(index: number, count: number, now: number): Promise<readonly Row[]> {
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
  const spent = spentJwtKey("dpop", "x".repeat(43), `=${crypto.randomUUID()}`);
  const rows: Row[] = [
    { key: consentKey(id), value: consent },
    { key: auditKey(id, createdAt, crypto.randomUUID()), value: created },
    { key: spent, value: { expiresAt: now + HOUR_MS }, expireIn: HOUR_MS },
  ];
  if (awaited) return [...rows, { key: consentDeadlineKey(authoriseBy, id), value: id }];
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
  return [
    ...rows,
    { key: paymentKey(paymentId), value: payment },
    { key: [...paymentOrdersKey(bank), order], value: paymentId },
  ];
}
