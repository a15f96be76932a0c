/**
 * Registered clients, updated with the directory's newest statements. If the status list names a newer statement than
 * the client's, the statement is fetched, verified as at registration and applied to the record in one commit. An
 * older statement is never applied. While that fails, the former record is used for at most 900 s.
 */
import { releasePlaceWhile } from "../../../base/http/context.ts";
import { inRandomBatches } from "../../../base/kernel/batches.ts";
import type { SteadyClock } from "../../../base/kernel/clock.ts";
import type { ClientId } from "../../../base/kernel/identifiers.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";
import { because, faultText, ok, type Reason, type Result } from "../../../base/kernel/result.ts";
import type { Log } from "../../observed/log_events.ts";
import {
  type SoftwareStatement,
  type SoftwareStatementDeps,
  verifySoftwareStatement,
} from "../participants/software_statement.ts";
import type { ListedStatus, StatusList } from "../participants/status_list.ts";
import type { Reader, Store } from "../../../base/store/store.ts";
import { transact, type TransactDeps, type Transaction } from "../../../base/store/transaction.ts";
import { applyStatement, asBank, type BankClient, bankCodeOf, type Client } from "./client.ts";
import type { ClientStore, Registered } from "./client_store.ts";
import { isRedirectUri } from "./client_metadata.ts";
import { cellOf } from "../../config/cells.ts";
import type { Config } from "../../config/config.ts";

export interface CurrentClientsDeps extends TransactDeps {
  /** For ages and waits. */
  readonly steady: SteadyClock;
  readonly log: Log;
  readonly clients: ClientStore;
  readonly statuses: Pick<StatusList, "find">;
  readonly statements: SoftwareStatementDeps;
  /** Fetches the newest statement of an organisation from the directory. */
  readonly fetchStatement: (orgId: string) => Promise<Result<string, Reason>>;
  readonly loopbackRedirects: boolean;
}

/** Reads clients. Both methods throw `platform.unavailable` if a newer statement could not be applied for 900 s. */
export type CurrentClients = Pick<ClientStore, "find" | "findBank">;

/** The attempts to apply a newer statement to a client. Times in milliseconds. */
interface Attempt {
  readonly issuedAt: number;
  /** When this process first knew of the statement. */
  readonly since: number;
  triedAt: number;
  applying?: Promise<Client | undefined>;
}

const BATCH = 20;
const RETRY_MS = 10_000;
const MAX_STALE_MS = 900_000;

export function openCurrentClients(deps: CurrentClientsDeps): CurrentClients {
  const attempts = new Map<ClientId, Attempt>();
  const current = async (client: Client | null): Promise<Client | null> => {
    if (client === null) return null;
    const listed = await newerStatement(deps, client);
    return listed === undefined ? client : await attemptOn(deps, attempts, client, listed);
  };
  return {
    find: async (from, clientId) => await current(await deps.clients.find(from, clientId)),
    async findBank(from, code) {
      const bank = await current(await deps.clients.findBank(from, code));
      return bank === null ? null : asBank(bank);
    },
  };
}

/**
 * Background work: applies new statements of the directory, so that no request waits for them. `random` returns 0 to
 * less than 1, for the order of batches.
 */
export async function followDirectory(
  statuses: Pick<StatusList, "refresh">,
  clients: CurrentClients,
  store: Reader,
  random: () => number,
): Promise<number> {
  const changed = await statuses.refresh();
  for (const batch of inRandomBatches(changed, BATCH, random)) {
    await Promise.allSettled(batch.map(({ clientId }) => clients.find(store, clientId))); // failures are logged and retried
  }
  return changed.length;
}

/** Returns undefined if the client has the newest statement, or if there is none to apply. */
async function newerStatement(deps: CurrentClientsDeps, client: Client): Promise<ListedStatus | undefined> {
  try {
    const listed = await deps.statuses.find(client.clientId);
    const applies = listed?.standing === "active" && listed.statementIssuedAt > client.statementIssuedAt;
    return applies ? listed : undefined; // inactive ones get no statements
  } catch (error) {
    if (error instanceof ApiError && error.reason === "platform.unavailable") return undefined; // the check of the standing reports it
    throw error;
  }
}

/**
 * Runs one update at a time per client. After a failure the former record is used for a while, so that requests do
 * not wait.
 */
async function attemptOn(
  deps: CurrentClientsDeps,
  attempts: Map<ClientId, Attempt>,
  client: Client,
  { clientId, statementIssuedAt: issuedAt }: ListedStatus,
): Promise<Client> {
  const now = deps.steady();
  const last = attempts.get(clientId);
  const attempt = last?.issuedAt === issuedAt ? last : { issuedAt, since: now, triedAt: -Infinity };
  attempts.set(clientId, attempt);
  if (attempt.applying === undefined && now - attempt.triedAt >= RETRY_MS) {
    attempt.triedAt = now;
    attempt.applying = applyNewer(deps, client, issuedAt).finally(() => delete attempt.applying);
  }
  // All requests of this client wait for one update, so none keeps a place in work meanwhile.
  const updated = await releasePlaceWhile(async () => await attempt.applying);
  if (updated !== undefined) {
    attempts.delete(clientId);
    return updated;
  }
  if (now - attempt.since < MAX_STALE_MS) return client;
  throw new ApiError("platform.unavailable", {
    detail: `the newest statement about ${clientId} could not be applied`,
    retryAfterSeconds: RETRY_MS / 1000,
  });
}

/** Returns the client with the newer statement applied. If that fails, logs the failure and returns undefined. */
async function applyNewer(
  deps: CurrentClientsDeps,
  client: Client,
  issuedAt: number,
): Promise<Client | undefined> {
  const result = await apply(deps, client, issuedAt);
  if (result.ok) {
    const { clientId, statementIssuedAt } = result.value;
    deps.log.info("client.statement_applied", { clientId, issuedAt: statementIssuedAt });
    return result.value;
  }
  deps.log.error("client.statement_not_applied", { clientId: client.clientId, why: result.fault.why });
  return undefined;
}

async function apply(
  deps: CurrentClientsDeps,
  { clientId, orgId, role }: Client,
  issuedAt: number,
): Promise<Result<Client, Reason>> {
  const read = (from: Reader): Promise<Registered> =>
    deps.clients.readRegistered(from, clientId, bankCodeOf({ role, orgId }));
  const known = (await read(deps.store)).client?.value; // a request may have read its client before the last update
  if (known !== undefined && known.statementIssuedAt >= issuedAt) return ok(known);
  const statement = await verifyNewest(deps, orgId);
  if (!statement.ok) return statement;
  const { value } = statement;
  if (value.clientId !== clientId || value.orgId !== orgId || value.role !== role) {
    return because("about another client, organisation or role");
  }
  const options = { what: "client", lost: () => because("changed at the same time") };
  return await transact<Result<Client, Reason>>(deps, options, async (tx) => {
    const former = await read(tx);
    const before = former.client?.value;
    if (before === undefined) return because("the client is gone");
    if (before.statementIssuedAt >= issuedAt) return ok(before); // another process or a registration has applied it
    return stageStatement(deps, tx, former, before, value);
  });
}

function stageStatement(
  deps: CurrentClientsDeps,
  tx: Transaction,
  former: Registered,
  client: Client,
  statement: SoftwareStatement,
): Result<Client, Reason> {
  if (statement.issuedAt <= client.statementIssuedAt) return because("not newer");
  const updated = applyStatement(client, statement, deps.clock());
  if (updated === undefined) return because("a bank needs one redirect URL");
  if (!updated.redirectUris.every((uri) => isRedirectUri(uri, updated.role, deps.loopbackRedirects))) {
    return because("a redirect URL of a form that is not allowed");
  }
  const registration = { client: updated, softwareStatement: statement.text };
  deps.clients.stageRegistration(tx, registration, former, "directory");
  return ok(updated);
}

async function verifyNewest(
  deps: CurrentClientsDeps,
  orgId: string,
): Promise<Result<SoftwareStatement, Reason>> {
  const text = await deps.fetchStatement(orgId);
  if (!text.ok) return text;
  const statement = await verifySoftwareStatement(deps.statements, text.value, deps.clock);
  return statement.ok ? statement : because(`${statement.fault.reason}: ${faultText(statement.fault)}`);
}

// The clients as one cell has them. The banks of other cells do not exist there.

export interface CellClients {
  /** Registered clients, updated with the directory's newest statements. */
  readonly clients: ClientStore;
  /** Finds a bank of any cell. */
  readonly findAnyBank: ClientStore["findBank"];
  /** Lists the banks of this cell. */
  readonly listBanks: () => Promise<readonly BankClient[]>;
}

/** Banks that a list has at most. */
const MAX_BANKS = 1000;

export function clientsOfCell(
  { cell, cells }: Pick<Config, "cell" | "cells">,
  store: Store,
  clients: ClientStore,
): CellClients {
  const own = cellOf(cell, cells);
  const { findBank: findAnyBank } = clients;
  const findBank: typeof findAnyBank = async (from, code) =>
    own?.serves(code) === true ? await findAnyBank(from, code) : null;
  const listBanks = async (): Promise<readonly BankClient[]> =>
    (await clients.listBanks(store, MAX_BANKS)).filter(({ code }) => own?.serves(code) === true);
  return { clients: { ...clients, findBank }, findAnyBank, listBanks };
}
