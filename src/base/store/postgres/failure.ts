/** Tells failures of the database from bugs of the program. */
import { type FailureScope, StoreFailure } from "../store.ts";

/** A failure of PostgreSQL or of the connection to it. */
export class PostgresFailure extends StoreFailure {
  /**
   * @param isOutcomeUnknown whether the statement may have taken effect, because the connection ended before its answer
   * @param isHostRefusal whether this server takes no statement, and another host of the URL may
   */
  constructor(
    message: string,
    readonly isOutcomeUnknown: boolean,
    readonly isHostRefusal: boolean = false,
    scope: FailureScope = "database",
  ) {
    super(message, scope);
  }
}

/** Another commit has inserted an entry of this one at the same time (`migrations/0001_entry.sql`). */
export const INSERTED_MEANWHILE = "HB001";

/**
 * Error codes of a lost connection, also of one that PgBouncer has lost (class 08). The statement may have been executed.
 * The driver reports what the server said last at the next statement of that connection, too, which it has not sent.
 */
const LOST = /^(?:CONNECTION_(?:CLOSED|DESTROYED|ENDED)|ECONNRESET|EPIPE|08...|57P0[12])$/; // 57P01, 57P02: shutdown

/** Error codes of a connection that could not be made. */
const NOT_CONNECTED: ReadonlySet<string> = new Set([
  "CONNECT_TIMEOUT",
  "EAI_AGAIN",
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "ETIMEDOUT",
]);

/**
 * Classes of SQLSTATE (PostgreSQL, appendix A) that the program is not to blame for: connection, transaction state
 * (a standby), authorization, missing database, rollback for a retry, resources, operator's intervention, system.
 */
const OUTSIDE = /^(?:25006|28|3D|40|53|55P03|57|58|XX00[12])/;

/** Of them: a standby that lags or starts, a server without room, and one that does not know the user or database. */
const HOST_REFUSAL = /^(?:25006|28|3D|53300|57P03)/;

/**
 * Failures of one statement, which a repetition may pass: a deadlock or another conflict, a lock that was not free, the
 * end of its time, and {@link INSERTED_MEANWHILE}.
 */
const OF_STATEMENT = /^(?:40|55P03|57014|HB001)/;

/** Error codes of a certificate that does not prove the host. No statement was sent. */
const UNVERIFIED = /^(?:CERT_|DEPTH_ZERO_|ERR_SSL_|ERR_TLS_|SELF_SIGNED_|UNABLE_TO_)/;

/** Converts an error of the driver. Other errors have their SQLSTATE and message alone: the driver adds parameters. */
export function asFailure(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  const words = `${error.message} (${code})`;
  if (LOST.test(code)) return new PostgresFailure(words, true, false, "connection");
  if (NOT_CONNECTED.has(code) || UNVERIFIED.test(code)) return new PostgresFailure(words, false, true);
  if (OF_STATEMENT.test(code)) {
    return Object.assign(new PostgresFailure(words, false, false, "statement"), { code });
  }
  if (OUTSIDE.test(code)) return new PostgresFailure(words, false, HOST_REFUSAL.test(code));
  return code === "" ? error : Object.assign(new Error(`PostgreSQL: ${words}`), { code });
}
