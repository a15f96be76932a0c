/** The connections of a process to PostgreSQL. A server that falls silent is left, and the connections are replaced. */
import { readFile } from "node:fs/promises";
import { awaitFor } from "../../kernel/await_for.ts";
import { monotonicClock } from "../../kernel/clock.ts";
import postgres from "postgres";
import { openConcurrencyLimit } from "../group_commits.ts";
import { asFailure, PostgresFailure } from "./failure.ts";
import type { PostgresSettings } from "./settings.ts";

export type Sql = postgres.Sql<{ bytea: string }>;

export interface Connections {
  /**
   * Runs one statement on a free connection.
   *
   * @throws {PostgresFailure} if the database cannot be used now
   */
  run<T>(statement: (sql: Sql) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

interface Limits {
  /** The name that the server lists its sessions under (`pg_stat_activity.application_name`). */
  readonly application: string;
  /** The server ends a statement after this time, so that it cannot take effect later than the caller expects. */
  readonly statementMs: number;
  /** A server that has not answered by then, although it ends statements earlier, is out of reach or has stopped. */
  readonly silenceMs: number;
}

/** Of a program that serves requests. */
export const SERVING: Limits = { application: "hub", statementMs: 2000, silenceMs: 3000 };
/** Of a tool that changes a large table. */
export const UNHURRIED: Limits = {
  application: "hub_store",
  statementMs: 3_600_000,
  silenceMs: 3_660_000,
};
export const MAX_CONNECTION_WAIT_MS = 3000;
const CONNECT_SECONDS = 2;
/** How much longer a statement may take if hosts refuse it: one that does not answer, and then the next one. */
export const MAX_REFUSALS_MS = CONNECT_SECONDS * 1000;
const RECONNECT_SECONDS = 0.1;
const KEEP_ALIVE_SECONDS = 10;

/** Connects when the first statement runs. @throws {Error} if the file with the authority cannot be read */
export async function openConnections(
  settings: PostgresSettings,
  limits: Limits = SERVING,
): Promise<Connections> {
  const authority = settings.authorityFile === undefined
    ? undefined
    : await readFile(settings.authorityFile, "utf8");
  const limit = openConcurrencyLimit({ atOnce: settings.connections, maxWaitMs: MAX_CONNECTION_WAIT_MS });
  const pool = openPool((hosts) => connect({ ...settings, hosts }, authority, limits), settings.hosts);
  return {
    run: (statement) =>
      limit.run(async () => {
        const endsAt = monotonicClock() + MAX_REFUSALS_MS + limits.silenceMs;
        // Each connection of the driver tries the hosts in its own turn, and one that was refused tries the next one.
        for (let left = settings.hosts.length > 1 ? settings.connections : 0;; left--) {
          const [used, triedAt] = [pool.current(), monotonicClock()];
          try {
            const withinMs = Math.min(limits.silenceMs, endsAt - triedAt);
            return await answeredIn(withinMs, statement(used), () => pool.leave(used));
          } catch (error) {
            const failure = asFailure(error);
            if (left === 0 || !(failure instanceof PostgresFailure) || !failure.isHostRefusal) throw failure;
            const now = monotonicClock();
            if (now - triedAt >= CONNECT_SECONDS * 1000) pool.passOver(used, limits.silenceMs);
            if (endsAt - now < CONNECT_SECONDS * 1000) throw failure;
          }
        }
      }),
    close: () => pool.current().end({ timeout: 1 }),
  };
}

interface Pool {
  current(): Sql;
  /** Replaces the connections to a server that has fallen silent. */
  leave(silent: Sql): void;
  /** Lets new connections begin with the next host, or each would first wait for one that does not answer. */
  passOver(used: Sql, endWithinMs: number): void;
}

function openPool(open: (hosts: readonly string[]) => Sql, hosts: readonly string[]): Pool {
  let [order, sql] = [hosts, open(hosts)];
  const replace = (used: Sql, next: readonly string[], endWithinMs: number): void => {
    if (sql !== used) return;
    [order, sql] = [next, open(next)];
    void used.end({ timeout: endWithinMs / 1000 });
  };
  return {
    current: () => sql,
    leave: (silent) => replace(silent, order, 0),
    passOver: (used, endWithinMs) => replace(used, [...order.slice(1), ...order.slice(0, 1)], endWithinMs),
  };
}

async function answeredIn<T>(milliseconds: number, answer: Promise<T>, onSilence: () => void): Promise<T> {
  return await awaitFor(milliseconds, answer, () => {
    onSilence();
    throw new PostgresFailure(`no answer within ${milliseconds / 1000} s`, true);
  });
}

function connect(settings: PostgresSettings, authority: string | undefined, limits: Limits): Sql {
  const { hosts, user, password, database, isVerified, prepare } = settings;
  return postgres({
    host: hosts.join(","),
    username: user,
    password,
    database,
    ssl: isVerified
      ? { rejectUnauthorized: true, ...(authority === undefined ? {} : { ca: authority }) }
      : false,
    target_session_attrs: "primary",
    max: settings.connections,
    prepare,
    fetch_types: false,
    connect_timeout: CONNECT_SECONDS,
    backoff: () => RECONNECT_SECONDS,
    keep_alive: KEEP_ALIVE_SECONDS,
    onnotice: () => {},
    types: { bytea: BYTES_AS_TEXT },
    // A plan made while the table was small must not scan it when it has grown.
    connection: { application_name: limits.application, ...(prepare ? sessionOf(limits) : {}) },
  });
}

/** Keys are converted by `key_codec.ts`. */
const BYTES_AS_TEXT = {
  to: 17,
  from: [17],
  serialize: (text: string): string => text,
  parse: (text: string): string => text,
};

/** PgBouncer before 1.21 refuses them; the database role has them there (docs/operations). */
function sessionOf({ statementMs }: Limits): Record<string, string | number> {
  return { statement_timeout: statementMs, enable_seqscan: "off" };
}
