/** Stores registered clients by client id and, for banks, by bank code. Both are written in one commit. */
import { wireDateTime } from "../../../base/kernel/clock.ts";
import type { BankCode, ClientId } from "../../../base/kernel/identifiers.ts";
import { stageDocument } from "../../evidence/evidence_store.ts";
import { record } from "../../evidence/audit_trail.ts";
import { bankKey, clientKey, deletedClientKey, softwareStatementKey } from "../../config/store_keys.ts";
import type { Authentication } from "../../evidence/evidence.ts";
import type { Entry, Reader, Store } from "../../../base/store/store.ts";
import { check, remove, type Transaction } from "../../../base/store/transaction.ts";
import {
  asBank,
  type BankClient,
  type Client,
  type DeletedClient,
  nameOfClient,
  type Registration,
} from "./client.ts";
import { bankRecord, clientRecord, deletedClientRecord, softwareStatementRecord } from "./client_records.ts";

/** The existing entries that a registration replaces, with versions. */
export interface Registered {
  /** The client with this id. */
  readonly client: Entry<Client> | null;
  /** The bank with this code; null for a TPP. */
  readonly bank: Entry<BankClient> | null;
}

/** {@link Registered}, and what remains of a registration that the client has deleted. */
export interface Former extends Registered {
  /** Read if no client has this id. */
  readonly deleted?: Entry<DeletedClient> | null;
}

export interface ClientStore {
  find(from: Reader, clientId: ClientId): Promise<Client | null>;
  findBank(from: Reader, code: BankCode): Promise<BankClient | null>;
  /** Returns what people read for these clients, as registered. A deleted one has no name. */
  namesOf(from: Reader, clientIds: Iterable<ClientId>): Promise<ReadonlyMap<string, string>>;
  /** Returns clients in the order of their ids, as registered. */
  list(from: Store, after: ClientId | undefined, limit: number): Promise<readonly Client[]>;
  /** Returns banks in the order of their codes, as registered. */
  listBanks(from: Store, limit: number): Promise<readonly BankClient[]>;
  /** Returns the stored entries, for {@link ClientStore.stageRegistration}. */
  readRegistered(from: Reader, clientId: ClientId, code: BankCode | undefined): Promise<Registered>;
  /** Returns the signed software statement of the client. */
  findStatement(from: Reader, clientId: ClientId): Promise<string | null>;
  /**
   * Stages the client in place of the former entries. The commit fails if another registration committed meanwhile.
   * `actor` is recorded in the history, and is the client itself by default.
   */
  stageRegistration(
    tx: Transaction,
    registration: Registration,
    former: Former,
    by: Authentication | "directory",
  ): void;
  /** Returns what remains of a client that has deleted its registration. */
  findDeleted(from: Reader, clientId: ClientId): Promise<Entry<DeletedClient> | null>;
  /**
   * Stages the end of a TPP's registration. The commit fails if the registration has changed meanwhile.
   *
   * @param by how the client was authenticated, for its history
   */
  stageDeletion(tx: Transaction, former: Entry<Client>, at: number, by: Authentication): void;
}

export function openClientStore(): ClientStore {
  return {
    find: async (from, clientId) => (await clientRecord.get(from, clientKey(clientId)))?.value ?? null,
    findBank: async (from, code) => (await bankRecord.get(from, bankKey(code)))?.value ?? null,
    async namesOf(from, clientIds) {
      const ids = [...new Set(clientIds)];
      const found = await Promise.all(ids.map((id) => clientRecord.get(from, clientKey(id))));
      return new Map(
        found.flatMap((entry) =>
          entry === null ? [] : [[entry.value.clientId, nameOfClient(entry.value)] as const]
        ),
      );
    },
    async list(from, after, limit) {
      const entries = await clientRecord.list(from, { after: after && clientKey(after), limit });
      return entries.map(({ value }) => value);
    },
    listBanks: async (from, limit) => (await bankRecord.list(from, { limit })).map(({ value }) => value),
    async readRegistered(from, clientId, code) {
      const [client, bank] = await Promise.all([
        clientRecord.get(from, clientKey(clientId)),
        code === undefined ? null : bankRecord.get(from, bankKey(code)),
      ]);
      return { client, bank };
    },
    findStatement: async (from, clientId) =>
      (await softwareStatementRecord.get(from, softwareStatementKey(clientId)))?.value ?? null,
    stageRegistration,
    findDeleted: (from, clientId) => deletedClientRecord.get(from, deletedClientKey(clientId)),
    stageDeletion,
  };
}

const STATEMENT_KIND = { PISP: "tpp_statement", ASPSP: "bank_statement" } as const;

function stageRegistration(
  tx: Transaction,
  registration: Registration,
  former: Former,
  by: Authentication | "directory",
): void {
  const { client, softwareStatement } = registration;
  stageDocument(tx, { sha256: client.statementSha256, text: softwareStatement });
  const { deleted = null } = former;
  const recorded = record(tx, client.clientId, (former.client ?? deleted)?.value ?? null, {
    at: client.updatedAt,
    event: former.client === null ? "client.registered" : "client.updated",
    ...(by === "directory" ? { actor: by } : { actor: by.clientId, authentication: by }),
    reason: `software statement of ${wireDateTime(client.statementIssuedAt * 1000)}`,
    documents: [{ kind: STATEMENT_KIND[client.role], sha256: client.statementSha256 }],
  });
  clientRecord.replace(tx, clientKey(client.clientId), former.client, { ...client, ...recorded });
  softwareStatementRecord.set(tx, softwareStatementKey(client.clientId), softwareStatement);
  if (former.client === null) {
    check(tx, deletedClientKey(client.clientId), deleted?.version ?? null);
    if (deleted !== null) remove(tx, deletedClientKey(client.clientId));
  }
  const bank = asBank(client);
  if (bank !== null) bankRecord.replace(tx, bankKey(bank.code), former.bank, bank);
}

function stageDeletion(
  tx: Transaction,
  { value, version }: Entry<Client>,
  at: number,
  by: Authentication,
): void {
  const { clientId, orgId, role, statementIssuedAt, registration } = value;
  if (asBank(value) !== null) throw new Error("a bank's registration is not deleted");
  const event = { at, event: "client.deleted", actor: clientId, authentication: by };
  const recorded = record(tx, clientId, value, event);
  check(tx, clientKey(clientId), version);
  remove(tx, clientKey(clientId));
  remove(tx, softwareStatementKey(clientId));
  deletedClientRecord.set(tx, deletedClientKey(clientId), {
    deletedAt: at,
    orgId,
    role,
    statementIssuedAt,
    registration,
    ...recorded,
  });
}
