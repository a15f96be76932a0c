/** Stores registered clients by client id and, for banks, by bank code. Both are written in one commit. */
import { wireDateTime } from "../../base/kernel/clock.ts";
import type { BankCode, ClientId } from "../../base/kernel/identifiers.ts";
import { record } from "../audit_trail.ts";
import { bankKey, clientKey, softwareStatementKey } from "../store_keys.ts";
import type { Entry, Reader, Store } from "../../base/store/store.ts";
import { check, set, type Transaction } from "../../base/store/transaction.ts";
import { asBank, type BankClient, type Client, type Registration } from "./client.ts";

/** The existing entries that a registration replaces, with versions. */
export interface Registered {
  /** The client with this id. */
  readonly client: Entry<Client> | null;
  /** The bank with this code; null for a TPP. */
  readonly bank: Entry<BankClient> | null;
}

export interface ClientStore {
  find(clientId: ClientId, from?: Reader): Promise<Client | null>;
  findBank(code: BankCode, from?: Reader): Promise<BankClient | null>;
  /** Returns the stored entries, for {@link ClientStore.stageRegistration}. */
  readRegistered(clientId: ClientId, code: BankCode | undefined): Promise<Registered>;
  /** Returns the signed software statement of the client. */
  findStatement(clientId: ClientId): Promise<string | null>;
  /**
   * Stages the client in place of the former entries. The commit fails if another registration committed meanwhile.
   * `actor` is recorded in the history, and is the client itself by default.
   */
  stageRegistration(tx: Transaction, registration: Registration, former: Registered, actor?: string): void;
}

export function openClientStore(store: Store): ClientStore {
  return {
    find: async (clientId, from = store) => (await from.get<Client>(clientKey(clientId)))?.value ?? null,
    findBank: async (code, from = store) => (await from.get<BankClient>(bankKey(code)))?.value ?? null,
    async readRegistered(clientId, code) {
      const [client, bank] = await Promise.all([
        store.get<Client>(clientKey(clientId)),
        code === undefined ? null : store.get<BankClient>(bankKey(code)),
      ]);
      return { client, bank };
    },
    findStatement: async (clientId) =>
      (await store.get<string>(softwareStatementKey(clientId)))?.value ?? null,
    stageRegistration(tx, { client, softwareStatement }, former, actor = client.clientId) {
      check(tx, clientKey(client.clientId), former.client?.version ?? null);
      set(tx, clientKey(client.clientId), client);
      set(tx, softwareStatementKey(client.clientId), softwareStatement);
      const bank = asBank(client);
      if (bank !== null) {
        check(tx, bankKey(bank.code), former.bank?.version ?? null);
        set(tx, bankKey(bank.code), bank);
      }
      record(tx, client.clientId, {
        at: client.updatedAt,
        event: former.client === null ? "client.registered" : "client.updated",
        actor,
        reason: `software statement of ${wireDateTime(client.statementIssuedAt * 1000)}`,
      });
    },
  };
}
