/**
 * A TPP's receiver of pushed events (RFC 8935) over TLS, which answers as its plan says: it acknowledges, fails before
 * or after it has stored the event, or does not answer. It records every push, and judges none.
 */
import { createServer } from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { openAuthority, serverIdentity } from "../../../src/sandbox/ecosystem/authority.ts";
import { keyPairAt } from "../../../src/sandbox/ecosystem/key_files.ts";
import { sandboxFiles } from "../../../src/sandbox/ecosystem/sandbox_files.ts";
import { pause } from "./calls.ts";
import { type PlannedPush, planPush } from "./plan.ts";

/** One push as the receiver saw it. */
export interface Delivery {
  /** The token as it came. */
  readonly token: string;
  /** When the request was there and when its exchange was over: places in one order of all pushes. */
  readonly begun: number;
  readonly ended: number;
  /** The status that was sent, or undefined if the connection ended before. */
  readonly answer: number | undefined;
  /** Whether the receiver has kept the event. */
  readonly isStored: boolean;
}

export interface PushReceiver extends AsyncDisposable {
  /** For `event_notification_uri`. */
  readonly uri: string;
  /** File of the authority that the platform must trust, PEM. */
  readonly caFile: string;
  /** The pushes so far, in the order in which they ended. */
  readonly deliveries: readonly Delivery[];
  /** From here on it acknowledges every push. */
  heal(): void;
}

/** Faulty answers to one event, so that it arrives within a bounded time. */
const MAX_FAULTS = 3;
const MAX_BYTES = 65_536;

/** Opens a receiver on a free port of this computer. */
export async function openPushReceiver(seed: number): Promise<PushReceiver> {
  const dir = await Deno.makeTempDir({ prefix: "receiver-proof-" });
  const files = sandboxFiles(dir);
  const now = Date.now();
  const [authority, keys] = await Promise.all([openAuthority(files, now), keyPairAt(files.serverKey)]);
  const { certificatePem: cert, privateKeyPem: key } = await serverIdentity(files, keys, authority, now);
  const deliveries: Delivery[] = [];
  const planned = openPlan(seed);
  const order = { last: 0 };
  const server = createServer({ cert, key }, (request, response) => {
    take(request, response, planned, order).then((delivery) => {
      if (delivery !== undefined) deliveries.push(delivery);
    }, () => response.destroy()); // the platform was killed while it sent the request
  });
  server.keepAliveTimeout = 1;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    uri: `https://localhost:${port}/events`,
    caFile: files.caCertificate,
    deliveries,
    heal: planned.heal,
    async [Symbol.asyncDispose](): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await Deno.remove(dir, { recursive: true });
    },
  };
}

interface Planned {
  next(token: string): PlannedPush;
  heal(): void;
}

function openPlan(seed: number): Planned {
  const faults = new Map<string, number>();
  let pushes = 0;
  let isHealed = false;
  return {
    next(token) {
      const plan = planPush(seed, pushes++);
      const event = token.split(".")[1] ?? "";
      const before = faults.get(event) ?? 0;
      if (isHealed || before === MAX_FAULTS || plan === "taken") return "taken";
      faults.set(event, before + 1);
      return plan;
    },
    heal: () => void (isHealed = true),
  };
}

/** The answer after which an event is stored or not, and how long it takes, milliseconds. No status: no answer. */
const ANSWERS: Readonly<
  Record<PlannedPush, readonly [isStored: boolean, status?: number, afterMs?: number]>
> = {
  taken: [true, 202],
  taken_late: [true, 202, 1500],
  unavailable: [false, 503],
  failed: [true, 500],
  rejected: [false, 400],
  busy: [false, 429],
  not_taken: [false, 200],
  reset: [false],
  lost: [true],
  silent: [true],
};

/** Returns undefined if the whole request did not come. */
async function take(
  request: IncomingMessage,
  response: ServerResponse,
  planned: Planned,
  order: { last: number },
): Promise<Delivery | undefined> {
  let isGone = false;
  const gone = new Promise<void>((resolve) => void response.once("close", resolve))
    .then(() => void (isGone = true));
  const token = await readText(request);
  const begun = ++order.last;
  const plan = planned.next(token);
  const [isStored, answer, afterMs = 0] = ANSWERS[plan];
  if (afterMs > 0) await Promise.race([pause(afterMs), gone]);
  if (plan === "reset" || plan === "lost") request.socket.destroy();
  if (plan === "silent") await gone;
  const sent = isGone ? undefined : answer;
  if (sent !== undefined) send(response, sent);
  return { token, begun, ended: ++order.last, answer: sent, isStored };
}

function send(response: ServerResponse, status: number): void {
  response.statusCode = status;
  if (status === 429) response.setHeader("retry-after", "1");
  response.end(status === 400 ? JSON.stringify({ err: "invalid_request" }) : "");
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new Error("a push is too large");
    chunks.push(chunk);
  }
  return await new Blob(chunks as BlobPart[]).text();
}
