/** The listener on Node and Bun, with `node:http` and the limits of the connection table. */
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { once } from "node:events";
import { createServer as createHttpServer, type Server as HttpServer } from "node:http";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { type Connection, type ConnectionTable, openConnectionTable } from "./connection_table.ts";
import { answerRequest, listenerOn, openPhase, type Phase } from "./listener_phase.ts";
import { CONNECTION_TIMES, type Listener, type ListenerOptions } from "./listener.ts";

/** Of the request line and all header fields, bytes. A bank's result arrives in a query. */
const MAX_HEADER_BYTES = 65_536;
/**
 * Connections beyond the limit that wait for room. Node accepts on, and closes what comes after them; Deno leaves it to
 * the kernel.
 */
const MAX_WAITING = 32;
/** Of a request without a Host, such as the probe of a proxy. */
const UNNAMED_HOST = "localhost";
/** The connection table has the time limits. */
const NO_LIMITS = { headersTimeout: 0, requestTimeout: 0, keepAliveTimeout: 0, timeout: 0 } as const;

/** A connection and its state in the connection table. */
interface Accepted {
  readonly connection: Connection;
  /** The number of responses that are not written yet. */
  unwritten: number;
  /** It ends after the current response. */
  ends: boolean;
}

/** Opens a listener. @throws {Error} if the address cannot be used */
export async function openNodeListener(options: ListenerOptions): Promise<Listener> {
  const { hostname, port, maxConnections } = options;
  const table = openConnectionTable(maxConnections, options.times ?? CONNECTION_TIMES);
  const phase = openPhase();
  const accepted = new WeakMap<Socket, Accepted>();
  const http = openHttp(options, phase, accepted);
  const server = createServer({ pauseOnConnect: true, noDelay: true }, (socket) => {
    phase.accepted += 1;
    void take(socket, table, accepted, http);
  });
  server.maxConnections = maxConnections + MAX_WAITING;
  server.listen({ host: hostname, port, backlog: 1024 });
  await once(server, "listening");
  const { address, port: bound } = server.address() as AddressInfo; // a TCP server has one
  return listenerOn(phase, table, {
    addr: { hostname: address, port: bound },
    connections: () => table.size(),
    closeSocket: () => Promise.resolve(void server.close()),
  });
}

function openHttp(
  { handle, onError, onStopping, onMalformed = () => new Response(null, { status: 400 }) }: ListenerOptions,
  phase: Phase,
  accepted: WeakMap<Socket, Accepted>,
): HttpServer {
  const listener = getRequestListener(async (request, env) => {
    const { incoming, outgoing } = env as HttpBindings; // not HTTP/2
    const { socket } = incoming;
    const one = accepted.get(socket);
    if (one === undefined) return onStopping(); // unreachable: every socket is taken before it is read
    one.unwritten += 1;
    outgoing.once("close", () => noteWritten(socket, one));
    const remote = { hostname: socket.remoteAddress ?? "", port: socket.remotePort ?? 0 };
    const answer = (): Response | Promise<Response> =>
      phase.stopping
        ? onStopping()
        : isAsSent(request.url, incoming.url)
        ? handle(request, remote)
        : onMalformed();
    return await answerRequest(one.connection, phase, answer).catch(onError);
  }, { overrideGlobalObjects: false, errorHandler: onMalformed, hostname: UNNAMED_HOST });
  return createHttpServer(
    { ...NO_LIMITS, maxHeaderSize: MAX_HEADER_BYTES },
    (request, response) => void listener(request, response),
  );
}

/**
 * Whether the path of a URL is the one that the client sent. The URL parser resolves dot segments and backslashes, and a
 * proxy that routes by path may not.
 */
function isAsSent(url: string, target = ""): boolean {
  const path = target.replace(/^https?:\/\/[^/?]*/i, "").replace(/\?.*$/s, "");
  return URL.parse(url)?.pathname === (path === "" ? "/" : path);
}

function noteWritten(socket: Socket, one: Accepted): void {
  one.unwritten -= 1;
  if (one.ends && one.unwritten === 0) socket.end();
}

/** Passes a connection to the HTTP server when there is room for it. */
async function take(
  socket: Socket,
  table: ConnectionTable,
  accepted: WeakMap<Socket, Accepted>,
  http: HttpServer,
): Promise<void> {
  socket.on("error", () => {}); // a fault of the connection is its client's
  await table.room();
  const one: Accepted = {
    unwritten: 0,
    ends: false,
    connection: table.add({
      close() {
        one.ends = true;
        if (one.unwritten === 0) socket.end();
      },
      cut: () => socket.destroy(),
    }),
  };
  socket.once("close", () => one.connection.closed());
  if (socket.destroyed) return one.connection.closed();
  accepted.set(socket, one);
  http.emit("connection", socket);
  socket.resume();
}
