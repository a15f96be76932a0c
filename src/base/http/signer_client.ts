/**
 * The signer as the platform sees it: a process of its own beside this one, which alone can use the keys of a token. HTTP
 * over a Unix domain socket: `GET /keys` returns the JWK set, `POST /sign/{kid}` takes a SHA-256 digest,
 * `POST /decrypt/{kid}` an encrypted content key, and `POST /wrap/{id}` and `/unwrap/{id}` a data key with its `name`. What
 * is signed never leaves this process.
 */
import { Agent, request } from "node:http";
import { setTimeout } from "node:timers";
import type { Token } from "../jose/own_key.ts";
import { ApiError } from "../kernel/api_error.ts";
import { monotonicClock } from "../kernel/clock.ts";
import { sha256Bytes } from "../kernel/identifiers.ts";
import { joinChunks } from "./body.ts";
import type { Probe } from "../observability/health.ts";

/** The signer of this process. */
export interface Signer extends Token, WrappingToken, AuthorityToken {
  /** Returns the JWK set of the token's keys. @throws {ApiError} `platform.unavailable` */
  keySet(): Promise<string>;
  /** Whether the token answers. */
  readonly probe: Probe;
  /** From then on `watcher` is told of calls, and when the signer fails and works again. */
  watch(watcher: SignerWatcher): void;
}

/** Keys of certificate authorities in a token. */
export interface AuthorityToken {
  /**
   * RSASSA-PKCS1-v1_5 with SHA-256 (RFC 8017 §8.2).
   *
   * @param n modulus of the authority's key, base64url
   * @throws {ApiError} `platform.unavailable`
   */
  certify(n: string, input: Bytes): Promise<Bytes>;
}

/** Wrapping keys of a token, by their ids. Every method throws {ApiError} `platform.unavailable`. */
export interface WrappingToken {
  /** AES-256-GCM. @param name authenticated with the content */
  wrap(id: string, name: string, content: Bytes): Promise<Bytes>;
  /** Returns undefined unless {@link WrappingToken.wrap} has made the box, with this key and name. */
  unwrap(id: string, name: string, box: Bytes): Promise<Bytes | undefined>;
}

export type SignerOperation = "keys" | "sign" | "decrypt" | "wrap" | "unwrap" | "certify" | "probe";

export interface SignerWatcher {
  called(operation: SignerOperation, seconds: number, succeeded: boolean): void;
  failing(why: string): void;
  working(failedSeconds: number): void;
}

/** Longer than the signer's own deadline for its token, so that its answer says why. */
const DEADLINE_MS = 3000;
const MAX_CONNECTIONS = 32;
/** More than the set of every key that is worth keeping. */
const MAX_ANSWER_BYTES = 1_048_576;
/** What the signer answers to bytes that the key cannot decrypt. */
export const UNDECRYPTABLE = 422;

/** What the variable of the keys begins with if they are in a token. */
const PREFIX = "signer:";

/** Returns the path of a signer's socket, if a variable names one. */
export function signerPath(value: string): string | undefined {
  return value.startsWith(PREFIX) ? value.slice(PREFIX.length) : undefined;
}

type Bytes = Uint8Array<ArrayBuffer>;

interface Answer {
  readonly status: number;
  readonly body: Bytes;
}

/**
 * Opens no connection yet.
 *
 * @param path of the signer's socket
 * @param deadlineMs how long a call may take
 */
export function openSigner(path: string, deadlineMs: number = DEADLINE_MS): Signer {
  const agent = new Agent({ keepAlive: true, maxSockets: MAX_CONNECTIONS });
  const state = openState();
  const call: CallSigner = async (operation, target, body) => {
    const began = monotonicClock();
    try {
      const answer = await exchange({ agent, path, target, body, deadlineMs });
      if (answer.status !== 200 && answer.status !== UNDECRYPTABLE) throw new Error(faultOf(answer));
      state.succeeded(operation, monotonicClock() - began);
      return answer;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      state.failed(operation, monotonicClock() - began, why);
      throw new ApiError("platform.unavailable", { detail: `signer: ${why}`, retryAfterSeconds: 1 });
    }
  };
  return {
    key: (kid) => ({
      sign: async (input) =>
        (await call("sign", `/sign/${encodeURIComponent(kid)}`, await sha256Bytes(input))).body,
      async decrypt(encrypted) {
        const answer = await call("decrypt", `/decrypt/${encodeURIComponent(kid)}`, encrypted);
        return answer.status === UNDECRYPTABLE ? undefined : answer.body;
      },
    }),
    certify: async (n, input) => (await call("certify", `/certify/${n}`, await sha256Bytes(input))).body,
    ...wrappingBy(call),
    keySet: async () => new TextDecoder().decode((await call("keys", "/keys")).body),
    async probe() {
      await call("probe", "/health").catch(() => {});
      const why = state.fault();
      return why === undefined ? { ok: true } : { ok: false, detail: why };
    },
    watch: state.watch,
  };
}

type CallSigner = (operation: SignerOperation, target: string, body?: Bytes) => Promise<Answer>;

function wrappingBy(call: CallSigner): WrappingToken {
  return {
    wrap: async (id, name, content) => (await call("wrap", wrappingTarget("wrap", id, name), content)).body,
    async unwrap(id, name, box) {
      const answer = await call("unwrap", wrappingTarget("unwrap", id, name), box);
      return answer.status === UNDECRYPTABLE ? undefined : answer.body;
    },
  };
}

function wrappingTarget(operation: "wrap" | "unwrap", id: string, name: string): string {
  return `/${operation}/${encodeURIComponent(id)}?name=${encodeURIComponent(name)}`;
}

function faultOf({ status, body }: Answer): string {
  return `answered ${status}: ${new TextDecoder().decode(body.subarray(0, 200))}`;
}

interface State {
  readonly watch: Signer["watch"];
  /** Why the last call failed; undefined if it succeeded. */
  fault(): string | undefined;
  succeeded(operation: SignerOperation, milliseconds: number): void;
  failed(operation: SignerOperation, milliseconds: number, why: string): void;
}

function openState(): State {
  let watcher: SignerWatcher | undefined;
  let failing: { readonly since: number; readonly why: string } | undefined;
  return {
    watch: (given) => void (watcher = given),
    fault: () => failing?.why,
    succeeded(operation, milliseconds) {
      watcher?.called(operation, milliseconds / 1000, true);
      if (failing !== undefined) watcher?.working(Math.round((monotonicClock() - failing.since) / 1000));
      failing = undefined;
    },
    failed(operation, milliseconds, why) {
      watcher?.called(operation, milliseconds / 1000, false);
      if (failing === undefined) watcher?.failing(why);
      failing = { since: failing?.since ?? monotonicClock(), why };
    },
  };
}

interface Exchange {
  readonly agent: Agent;
  readonly path: string;
  readonly target: string;
  readonly body?: Bytes | undefined;
  readonly deadlineMs: number;
}

/** Repeats a call whose kept connection has ended: every call may be made twice. */
async function exchange(parts: Exchange): Promise<Answer> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), parts.deadlineMs);
  try {
    return await send(parts, late.signal).catch((error) => {
      if (late.signal.aborted || !hasEnded(error)) throw error;
      return send(parts, late.signal);
    });
  } catch (error) {
    if (late.signal.aborted) throw new Error(`has not answered within ${parts.deadlineMs} ms`);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

function hasEnded(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ECONNRESET" || error.code === "EPIPE");
}

function send({ agent, path, target, body }: Exchange, signal: AbortSignal): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const method = body === undefined ? "GET" : "POST";
    const headers = { host: "signer", ...(body === undefined ? {} : { "content-length": body.length }) };
    const sent = request({ agent, socketPath: path, path: target, method, headers }, (received) => {
      const parts: Uint8Array[] = [];
      let length = 0;
      received.on("data", (part: Uint8Array) => {
        length += part.length;
        if (length > MAX_ANSWER_BYTES) received.destroy(new Error("the answer is too long"));
        else parts.push(part);
      });
      received.on("error", reject);
      received.on(
        "end",
        () => resolve({ status: received.statusCode ?? 0, body: joinChunks(parts, length) }),
      );
    });
    sent.on("error", reject);
    signal.addEventListener("abort", () => {
      reject(new Error("aborted")); // Deno's `destroy` alone emits no event for a response that is awaited
      sent.destroy();
    });
    sent.end(body);
  });
}
