/** Requests to the platform: lost, late and repeated on the way, and tried again by the party that needs an answer. */
import type { Random } from "../prove/random.ts";
import { forged } from "./jwts.ts";
import { API, AUTH, type Party, PROXY_SECRET } from "./parties.ts";
import type { Cluster, PlatformProcess } from "./platform_process.ts";
import type { Simulation } from "./simulation.ts";

/** A request as its sender makes it. */
export interface Sent {
  readonly method: string;
  /** Below the host, with its query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Whose certificate; without one it is a browser's, or the operator's. */
  readonly as?: Party;
  readonly isOperator?: true;
  /** The sender gives up after this long, milliseconds. */
  readonly timeoutMs?: number;
}

/** An answer as it was received. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** To one of two copies of the request: the other one may have used up its single-use tokens. */
  readonly isRepeat: boolean;
  /** Steps of the run at which it was asked and told. */
  readonly asked: number;
  readonly told: number;
}

/** No answer came. */
export class Lost extends Error {}

export interface Line {
  readonly simulation: Simulation;
  readonly cluster: Cluster;
}

const TIMEOUT_MS = 20_000;
const MAX_TRIES = 60;
const LONGEST_PAUSE_MS = 300_000;

/** Sends once. @throws {Lost} if no answer comes in time */
export function send(line: Line, sent: Sent): Promise<Answer> {
  const { simulation } = line;
  const { scheduler } = simulation;
  const random = simulation.random(`calls of ${sent.as?.orgId ?? "browsers"}`);
  const request = simulation.nextRequest();
  const asked = scheduler.steps();
  simulation.note(
    `${request} ${sent.as?.orgId ?? "browser"} sends ${sent.method} ${sent.path.split("?")[0]}`,
  );
  return new Promise((resolve, reject) => {
    const answered = scheduler.after(sent.timeoutMs ?? TIMEOUT_MS, () => reject(new Lost(request)));
    const copies = copiesOf(simulation, random, sent);
    const isRepeat = copies.filter(({ isForged }) => !isForged).length > 1;
    for (const copy of copies) {
      scheduler.after(copy.delay, () => {
        deliver(line, request, copy, (answer) => {
          simulation.note(`${request} is answered ${answer.status}${copy.isForged ? " (forged)" : ""}`);
          if (copy.isForged || isLost(simulation, random)) return;
          scheduler.after(latency(simulation, random), () => {
            answered();
            resolve({ ...answer, isRepeat, asked, told: scheduler.steps() });
          });
        }, random);
      });
    }
  });
}

interface Copy extends Sent {
  readonly isForged: boolean;
  readonly delay: number;
}

function copiesOf(simulation: Simulation, random: Random, sent: Sent): readonly Copy[] {
  const repeated = simulation.fault("network")?.repeated ?? 0;
  const count = isLost(simulation, random) ? 0 : random.below(1000) < repeated ? 2 : 1;
  const copies = Array.from({ length: count }, () => ({
    ...sent,
    isForged: false,
    delay: latency(simulation, random),
  }));
  const isForged = random.below(1000) < (simulation.fault("forger")?.rate ?? 0);
  return isForged ? [...copies, { ...forgedCopy(sent), isForged, delay: 0 }] : copies;
}

/** The request by an attacker who has seen it and has no key: every single-use token is signed by another key. */
function forgedCopy(sent: Sent): Sent {
  const { dpop } = sent.headers ?? {};
  const form = sent.body?.includes("client_assertion=") ? new URLSearchParams(sent.body) : undefined;
  form?.set("client_assertion", forged(form.get("client_assertion") ?? ""));
  return {
    ...sent,
    ...(dpop === undefined ? {} : { headers: { ...sent.headers, dpop: forged(dpop) } }),
    ...(form === undefined ? {} : { body: String(form) }),
  };
}

function isLost(simulation: Simulation, random: Random): boolean {
  return random.below(1000) < (simulation.fault("network")?.lost ?? 0);
}

function latency(simulation: Simulation, random: Random): number {
  const late = simulation.fault("network")?.late ?? 0;
  return random.below(1000) < late ? random.below(15_000) : 1 + random.below(20);
}

type Told = (answer: Pick<Answer, "status" | "headers" | "text">) => void;

function deliver(line: Line, request: string, copy: Copy, told: Told, random: Random): void {
  const process = line.cluster.pick();
  const platform = process?.platform();
  if (process === undefined || platform === undefined) return; // no party listens
  const interactionId = uuidOf(random);
  if (copy.isForged) line.simulation.forgedPaths.add(copy.path);
  line.simulation.watch.delivering(interactionId, { request, isForged: copy.isForged });
  const handler = platform[hostOf(copy)];
  void answerOf(process, handler.fetch(asRequest(copy, interactionId)), told);
}

/** The answer, unless the process dies before it has left. */
async function answerOf(process: PlatformProcess, answering: Promise<Response>, told: Told): Promise<void> {
  const response = await answering;
  const text = await response.text();
  if (process.isAlive()) told({ status: response.status, headers: response.headers, text });
}

function hostOf({ as, isOperator }: Sent): "api" | "browser" | "operations" {
  if (isOperator === true) return "operations";
  return as === undefined ? "browser" : "api";
}

function asRequest(copy: Copy, interactionId: string): Request {
  const { method, path, headers = {}, body, as } = copy;
  const proxied = as === undefined
    ? {}
    : { "x-proxy-secret": PROXY_SECRET, "client-cert": `:${as.transport.certificate}:` };
  return new Request(`${hostOf(copy) === "browser" ? AUTH : API}${path}`, {
    method,
    headers: { ...headers, ...proxied, "x-fapi-interaction-id": interactionId },
    ...(body === undefined ? {} : { body }),
  });
}

/** An unused token id. */
export function freshId(random: Random): string {
  return Uint8Array.from({ length: 16 }, () => random.below(256)).toHex();
}

function uuidOf(random: Random): string {
  const hex = freshId(random);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${
    hex.slice(20)
  }`;
}

/**
 * Sends until an answer settles the matter; each try is a request of its own.
 *
 * @param make the request of a try, by its number
 */
export async function persistently(
  line: Line,
  make: (attempt: number) => Sent | Promise<Sent>,
): Promise<Answer> {
  const { simulation } = line;
  for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
    try {
      const answer = await send(line, await make(attempt));
      if (isSettled(simulation, answer)) return answer;
    } catch (error) {
      if (!(error instanceof Lost)) throw error;
    }
    await simulation.scheduler.sleep(Math.min(LONGEST_PAUSE_MS, 200 * 2 ** attempt));
  }
  throw new Lost(`${MAX_TRIES} tries`);
}

/** A second copy may be told that its tokens are used up, and a wrong clock rejects what is in time. */
function isSettled(simulation: Simulation, { status, isRepeat }: Answer): boolean {
  if (status >= 500 || status === 429) return false;
  return status < 400 || !(isRepeat || (status !== 403 && simulation.isClockWrong()));
}
