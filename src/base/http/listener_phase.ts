/** The phases of a listener: open, closing its connections with each response, and stopping. */
import type { Connection, ConnectionTable } from "./connection_table.ts";
import type { Listener } from "./listener.ts";

/** Bounds the search for a moment without new connections. */
const QUIET_ATTEMPTS = 100;
/** A busy computer may let one interval pass before it accepts what waits. */
const QUIET_INTERVALS = 2;
const QUIET_INTERVAL_MS = 5;

/** The part of the listener's state that its connections use. */
export interface Phase {
  /** The number of connections since the start. */
  accepted: number;
  /** Each response ends its connection. */
  closing: boolean;
  /** New requests are rejected. */
  stopping: boolean;
}

export function openPhase(): Phase {
  return { accepted: 0, closing: false, stopping: false };
}

/** The listener of a socket and its connections. @param socket.closeSocket resolves when no connection is accepted any more */
export function listenerOn(
  phase: Phase,
  table: ConnectionTable,
  { closeSocket, ...socket }: Pick<Listener, "addr" | "connections"> & { closeSocket(): Promise<void> },
): Listener {
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => {
    phase.closing = true;
    return closed ??= closeSocket();
  };
  const stop = async (): Promise<void> => {
    phase.stopping = true;
    await table.drained(); // to close a connection takes the body away from a request that has not read it
    await Promise.all([close(), table.closeAll()]);
  };
  let stopped: Promise<void> | undefined;
  return {
    ...socket,
    async stopAccepting() {
      await quietMoment(phase); // connections are kept until then, so that proxies open few new ones
      await close();
    },
    stop: () => stopped ??= stop(),
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

/** Answers a request and notes it in the connection table. */
export async function answerRequest(
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
