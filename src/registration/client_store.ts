/** Registered clients, by client id and, for banks, by bank code; both in one commit. */
import type { BankCode, ClientId } from "../kernel/identifiers.ts";
import { auditKey, bankKey, clientKey } from "../store/keys.ts";
import type { Entry, Store } from "../store/store.ts";
import { check, set, type Transaction } from "../store/transaction.ts";
import { asBank, type BankClient, type Client } from "./client.ts";

/** Reads and stages clients. */
export interface ClientStore {
  find(clientId: ClientId): Promise<Client | null>;
  findBank(code: BankCode): Promise<BankClient | null>;
  /** As stored, with its version, for {@link ClientStore.stageRegistration}. */
  read(clientId: ClientId): Promise<Entry<Client> | null>;
  /** Stages the client in place of `former`; the commit fails if another registration came between. */
  stageRegistration(tx: Transaction, client: Client, former: Entry<Client> | null): void;
}

/** Opens the store of clients. */
export function openClientStore(store: Store): ClientStore {
  return {
    find: async (clientId) => (await store.get<Client>(clientKey(clientId)))?.value ?? null,
    findBank: async (code) => (await store.get<BankClient>(bankKey(code)))?.value ?? null,
    read: (clientId) => store.get<Client>(clientKey(clientId)),
    stageRegistration(tx, client, former) {
      check(tx, clientKey(client.clientId), former?.version ?? null);
      set(tx, clientKey(client.clientId), client);
      const bank = asBank(client);
      if (bank !== null) set(tx, bankKey(bank.code), bank);
      const event = {
        event: former === null ? "registered" : "updated",
        statementIssuedAt: client.statementIssuedAt,
      };
      set(tx, auditKey(client.clientId, client.registeredAt, crypto.randomUUID()), event);
    },
  };
}
