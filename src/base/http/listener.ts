/**
 * Listens for plain HTTP with limits on the connections, their time and the duration of a stop. `Deno.serve` has none of
 * these, and ends the process if an accept fails. Each accepted connection is passed to the function that `Deno.serve`
 * uses. Deno does not document that function, so an upgrade of Deno must pass this listener's tests.
 */
import type { Log } from "../observability/log_events.ts";
import {
  type Connection,
  type ConnectionTable,
  type ConnectionTimes,
  openConnectionTable,
} from "./connection_table.ts";

/** Answers a request; `remote` is the other end of its connection. */
export type Handle = (request: Request, remote: Deno.NetAddr) => Response | Promise<Response>;

export interface ListenerOptions {
  readonly hostname: string;
  readonly port: number;
  readonly handle: Handle;
  /** Answers for a handler that threw. */
  readonly onError: (error: unknown) => Response;
  /** Answers a request that arrives during a stop. */
  readonly onStopping: () => Response;
  readonly log: Log;
  readonly maxConnections: number;
  readonly times?: ConnectionTimes;
}

/** An open listener. */
export interface Listener {
  readonly addr: Deno.NetAddr;
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
const TIMES: ConnectionTimes = { header: 5, idle: 75 };
/** Pause after a failed accept. The reason is usually a lack of file descriptors, and the kernel keeps the connection. */
const ACCEPT_PAUSE_MS = 100;

/** Connections without a request that are cut after a failed accept. */
const FREED_AT_ONCE = 16;
/** Bounds the search for a moment without new connections. */
const QUIET_ATTEMPTS = 100;
/** A busy computer may let one interval pass before it accepts what waits. */
const QUIET_INTERVALS = 2;
const QUIET_INTERVAL_MS = 5;

type Info = Deno.ServeHandlerInfo<Deno.NetAddr>;
type ServeOnConnection = (
  socket: Deno.TcpConn,
  /** An AbortSignal to Deno, which calls only this. */
  cut: { addEventListener(type: "abort", closeNow: () => void): void },
  handle: (request: Request, info: Info) => Promise<Response>,
  onError: (error: unknown) => Response,
  onListen: () => void,
) => Deno.HttpServer;

/** The part of the listener's state that its connections use. */
interface Phase {
  /** The number of connections since the start. */
  accepted: number;
  /** Each response ends its connection. */
  closing: boolean;
  /** New requests are rejected. */
  stopping: boolean;
}

/** Opens a listener. @throws {Error} as `Deno.listen` does */
export function openListener(options: ListenerOptions): Listener {
  const { hostname, port, maxConnections, log } = options;
  const serve = connectionServer(options);
  const socket = Deno.listen({ hostname, port });
  const table = openConnectionTable(maxConnections, options.times ?? TIMES);
  const phase: Phase = { accepted: 0, closing: false, stopping: false };
  const accepting = acceptConnections(socket, table, log, (accepted) => {
    phase.accepted += 1;
    serve(accepted, table, phase);
  });
  const close = (): void => {
    if (!phase.closing) socket.close();
    phase.closing = true;
  };
  const stop = async (): Promise<void> => {
    phase.stopping = true;
    await table.drained(); // to close a connection takes the body away from a request that has not read it
    close();
    await Promise.all([accepting, table.closeAll()]);
  };
  let stopped: Promise<void> | undefined;
  return {
    addr: socket.addr,
    connections: () => table.size(),
    async stopAccepting() {
      await quietMoment(phase); // connections are kept until then, so that proxies open few new ones
      close();
      await accepting;
    },
    stop: () => stopped ??= stop(),
  };
}

/** @throws {Error} if this version of Deno cannot serve one connection */
function connectionServer(
  { handle, onStopping, onError }: ListenerOptions,
): (accepted: Deno.TcpConn, table: ConnectionTable, phase: Phase) => void {
  const serve = serveOnConnection();
  return (accepted, table, phase) => {
    let closeNow: (() => void) | undefined;
    const connection = table.add({
      close: () => void server.shutdown().catch(() => {}),
      cut: () => unlessClosed(closeNow),
    });
    const answer = (request: Request, info: Info): Promise<Response> =>
      answerRequest(
        connection,
        phase,
        () => phase.stopping ? onStopping() : handle(request, info.remoteAddr),
      );
    const signal = { addEventListener: (_: "abort", listener: () => void) => void (closeNow = listener) };
    const server = serve(accepted, signal, answer, onError, () => {});
    server.finished.catch(() => {}).finally(() => connection.closed()); // a fault of the connection is its client's
  };
}

/**
 * Waits for a turn of the event loop in which no connection was accepted. The kernel resets connections that it has
 * established for a socket and that are not accepted when the socket is closed.
 */
async function quietMoment(phase: Phase): Promise<void> {
  let quiet = 0;
  for (let attempt = 0; attempt < QUIET_ATTEMPTS && quiet < QUIET_INTERVALS; attempt++) {
    const before = phase.accepted;
    await new Promise((resolve) => setTimeout(resolve, QUIET_INTERVAL_MS));
    quiet = phase.accepted === before ? quiet + 1 : 0;
  }
}

// The connection may be closing while its end has not been reported. A real AbortSignal would not let this be caught.
function unlessClosed(closeNow: (() => void) | undefined): void {
  try {
    closeNow?.();
  } catch (error) {
    if (!(error instanceof Deno.errors.BadResource)) throw error;
  }
}

async function answerRequest(
  connection: Connection,
  phase: Phase,
  answer: () => Response | Promise<Response>,
): Promise<Response> {
  connection.began();
  let closes = true;
  try {
    const answered = await answer();
    const response = phase.closing ? closingResponse(answered) : answered;
    closes = response.headers.get("connection") === "close"; // Deno waits for the rest of a body first
    return response;
  } finally {
    connection.answered(closes);
  }
}

function closingResponse(response: Response): Response {
  const closing = new Response(response.body, response); // the headers of the original may be immutable
  closing.headers.set("connection", "close");
  return closing;
}

async function acceptConnections(
  socket: Deno.TcpListener,
  table: ConnectionTable,
  log: Log,
  take: (accepted: Deno.TcpConn) => void,
): Promise<void> {
  let failing = false;
  while (true) {
    try {
      const accepted = await socket.accept();
      failing = false;
      await table.room();
      take(accepted);
    } catch (error) {
      if (error instanceof Deno.errors.BadResource) return; // closed
      if (!failing) log.error("listener.accept_failed", { why: String(error), connections: table.size() });
      failing = true;
      for (let cut = 0; cut < FREED_AT_ONCE && table.cutWaiting(); cut++);
      await new Promise((resolve) => setTimeout(resolve, ACCEPT_PAUSE_MS));
    }
  }
}

function serveOnConnection(): ServeOnConnection {
  const internal: unknown = Reflect.get(Deno, Reflect.get(Deno, "internal"));
  const serve: unknown = Object(internal)["serveHttpOnConnection"];
  if (typeof serve === "function") return serve as ServeOnConnection;
  throw new Error(
    `Deno ${Deno.version.deno} cannot serve HTTP on one connection; use the documented version of Deno`,
  );
}
