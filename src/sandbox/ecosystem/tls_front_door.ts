/**
 * The sandbox's TLS-terminating proxy. The handshake requires a client certificate of the sandbox's authority, and each
 * forwarded request carries the certificate of its connection (RFC 9440, Decision A8). It knows the platform only as a
 * Fetch handler.
 */
import { pipeline } from "node:stream/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { Socket } from "node:net";
import { type Forwarding, RejectedRequest, toFetchRequest } from "./front_door_request.ts";

/** Address, certificates and handler of a front door. */
interface FrontDoorOptions extends Omit<Forwarding, "maxBodyBytes"> {
  readonly hostname: string;
  /** 0 chooses a free port. */
  readonly port: number;
  /** PEM of the server's certificate and key, and of the authority that must have issued client certificates. */
  readonly tls: { readonly certificate: string; readonly key: string; readonly clientAuthority: string };
  handle(request: Request): Response | Promise<Response>;
  /** Called for failures of the handler; callers only see a 502. */
  onFailure?(error: unknown): void;
}

/** An open front door. */
export interface FrontDoor {
  readonly port: number;
  readonly hostname: string;
  /** Listens again after {@link FrontDoor.close}. */
  reopen(): Promise<void>;
  /** Lets running requests end, for at most two seconds. */
  close(): Promise<void>;
}

/** Twice the platform's limit, so that the platform itself rejects bodies that are moderately too large. */
const MAX_BODY_BYTES = 131_072;
const CLOSE_GRACE_MS = 2000;
const HANDSHAKE_MS = 10_000;
/** A rejected upload is read and discarded for this long, so that the caller receives the response. */
const REJECTED_UPLOAD_MS = 1000;

/** Opens a front door. Rejects with Node's error if the address cannot be bound. */
export async function openFrontDoor(options: FrontDoorOptions): Promise<FrontDoor> {
  const forwarding: Forwarding = { ...options, maxBodyBytes: MAX_BODY_BYTES };
  const server = createServer({
    cert: options.tls.certificate,
    key: options.tls.key,
    ca: [options.tls.clientAuthority],
    requestCert: true,
    rejectUnauthorized: true,
    minVersion: "TLSv1.2", // FAPI 2.0 §5.2.1
    handshakeTimeout: HANDSHAKE_MS,
  }, (incoming, outgoing) => void exchange(incoming, outgoing, forwarding, options));
  const sockets = trackSockets(server);
  await listen(server, options.hostname, options.port);
  const port = boundPort(server);
  return {
    port,
    hostname: options.hostname,
    reopen: () => listen(server, options.hostname, port),
    close: () => close(server, sockets),
  };
}

function listen(server: Server, hostname: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, hostname, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

async function exchange(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  forwarding: Forwarding,
  { handle, onFailure }: FrontDoorOptions,
): Promise<void> {
  const gone = new AbortController();
  outgoing.once("close", () => gone.abort());
  try {
    const request = await toFetchRequest(incoming, forwarding, gone.signal);
    await sendResponse(await handle(request), request.method, outgoing);
  } catch (error) {
    if (error instanceof RejectedRequest) return reject(error, incoming, outgoing);
    if (gone.signal.aborted) return;
    onFailure?.(error);
    // A body that fails must appear incomplete to the caller.
    if (outgoing.headersSent) outgoing.destroy();
    else sendPlain(502, "Bad gateway", outgoing);
  }
}

function reject(rejection: RejectedRequest, incoming: IncomingMessage, outgoing: ServerResponse): void {
  if (outgoing.destroyed) return;
  outgoing.setHeader("connection", "close");
  sendPlain(rejection.status, rejection.message, outgoing);
  incoming.resume();
  const timer = setTimeout(() => incoming.socket.destroy(), REJECTED_UPLOAD_MS);
  incoming.socket.once("close", () => clearTimeout(timer));
}

/** Tracks every TCP connection, including one whose handshake has not ended. Node's own `close` ignores those. */
function trackSockets(server: Server): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  return sockets;
}

function close(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      for (const socket of sockets) socket.destroy();
      server.closeAllConnections();
    }, CLOSE_GRACE_MS);
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
    server.closeIdleConnections();
  });
}

function boundPort(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the front door has no TCP address");
  return address.port;
}

const hopByHop = new Set(["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"]);

/** Writes a Fetch response, to which only `Date` is added; rejects if the caller disconnects or the body fails. */
async function sendResponse(
  response: Response,
  method: string,
  outgoing: ServerResponse,
): Promise<void> {
  outgoing.statusCode = response.status;
  for (const [name, value] of response.headers) {
    if (name !== "set-cookie" && !hopByHop.has(name)) outgoing.setHeader(name, value);
  }
  const cookies = response.headers.getSetCookie();
  if (cookies.length > 0) outgoing.setHeader("set-cookie", cookies);
  if (response.body === null || method === "HEAD" || isBodiless(response.status)) {
    await response.body?.cancel();
    outgoing.end();
    return;
  }
  await pipeline(response.body, outgoing);
}

/** Writes a plain-text response of the front door itself. */
function sendPlain(status: number, text: string, outgoing: ServerResponse): void {
  outgoing.statusCode = status;
  outgoing.setHeader("content-type", "text/plain; charset=utf-8");
  outgoing.setHeader("cache-control", "no-store");
  outgoing.end(`${text}\n`);
}

// RFC 9110 §6.4.1
function isBodiless(status: number): boolean {
  return status === 204 || status === 205 || status === 304;
}
