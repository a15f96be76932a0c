/**
 * A listener for plain HTTP with limits on the connections, their time and the duration of a stop. Each runtime has its
 * own implementation.
 */
import type { Log } from "../observability/log_events.ts";
import type { ConnectionTimes } from "./connection_table.ts";

/** The other end of a connection, or the address of a listener. */
export interface Remote {
  readonly hostname: string;
  readonly port: number;
}

/** Answers a request; `remote` is the other end of its connection. */
export type Handle = (request: Request, remote: Remote) => Response | Promise<Response>;

export interface ListenerOptions {
  readonly hostname: string;
  readonly port: number;
  readonly handle: Handle;
  /** Answers for a handler that threw. */
  readonly onError: (error: unknown) => Response;
  /**
   * Answers a request whose target or Host makes no URL, or another path than the one that was sent. Deno's listener
   * passes such requests to `handle` as they are.
   */
  readonly onMalformed?: () => Response;
  /** Answers a request that arrives during a stop. */
  readonly onStopping: () => Response;
  readonly log: Log;
  readonly maxConnections: number;
  readonly times?: ConnectionTimes;
}

/** An open listener. */
export interface Listener {
  readonly addr: Remote;
  /** The number of open connections. */
  connections(): number;
  /**
   * Accepts no further connections. Requests on open connections are served, and each response ends its connection.
   * A proxy that cannot connect has sent nothing, and may try another process.
   */
  stopAccepting(): Promise<void>;
  /**
   * Answers new requests with `onStopping`, waits for the requests in work, closes every connection, and resolves.
   * A response that its client does not take in a second or two is cut.
   */
  stop(): Promise<void>;
}

/** Chosen for a proxy that keeps connections for 60 s and sends only complete requests. */
export const CONNECTION_TIMES: ConnectionTimes = { header: 5, idle: 75 };
