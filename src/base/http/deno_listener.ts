/**
 * The listener on Deno. `Deno.serve` has no limits on the connections, their time and the duration of a stop, and it ends
 * the process if an accept fails. Therefore each accepted connection is passed to the function that `Deno.serve` uses.
 * Deno does not document that function, so an upgrade of Deno must pass this listener's tests.
 */
import type { Log } from "../observability/log_events.ts";
import { type ConnectionTable, openConnectionTable } from "./connection_table.ts";
import { answerRequest, listenerOn, openPhase, type Phase } from "./listener_phase.ts";
import { CONNECTION_TIMES, type Listener, type ListenerOptions } from "./listener.ts";

/** Pause after a failed accept. The reason is usually a lack of file descriptors, and the kernel keeps the connection. */
const ACCEPT_PAUSE_MS = 100;

/** Connections without a request that are cut after a failed accept. */
const FREED_AT_ONCE = 16;

type Info = Deno.ServeHandlerInfo<Deno.NetAddr>;
type ServeOnConnection = (
  socket: Deno.TcpConn,
  /** An AbortSignal to Deno, which calls only this. */
  cut: { addEventListener(type: "abort", closeNow: () => void): void },
  handle: (request: Request, info: Info) => Promise<Response>,
  onError: (error: unknown) => Response,
  onListen: () => void,
) => Deno.HttpServer;

/** Opens a listener. @throws {Error} as `Deno.listen` does */
export function openListener(options: ListenerOptions): Listener {
  const { hostname, port, maxConnections, log } = options;
  const serve = connectionServer(options);
  const socket = Deno.listen({ hostname, port });
  const table = openConnectionTable(maxConnections, options.times ?? CONNECTION_TIMES);
  const phase = openPhase();
  const accepting = acceptConnections(socket, table, log, (accepted) => {
    phase.accepted += 1;
    serve(accepted, table, phase);
  });
  return listenerOn(phase, table, {
    addr: socket.addr,
    connections: () => table.size(),
    async closeSocket() {
      socket.close();
      await accepting;
    },
  });
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

// The connection may be closing while its end has not been reported. A real AbortSignal would not let this be caught.
function unlessClosed(closeNow: (() => void) | undefined): void {
  try {
    closeNow?.();
  } catch (error) {
    if (!(error instanceof Deno.errors.BadResource)) throw error;
  }
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
