/**
 * What the signer answers: the key set, signatures and decrypted content keys, by kid, and wrapped and unwrapped data keys,
 * by the id of a wrapping key. The key of a certificate authority signs certificates, by its modulus. A key does the operations of its `use`. A digest has 32 bytes and an encrypted key as many
 * as the modulus, so a request is never longer.
 */
import { z } from "zod";
import { UNDECRYPTABLE } from "../../../src/base/http/signer_client.ts";
import { monotonicClock } from "../../../src/base/kernel/clock.ts";
import type { SignerLog } from "../../../src/base/observability/signer_events.ts";
import { type KeyOperation, type Modulus, type Token, TokenLost } from "./token.ts";
import { type Use, wrappingUse } from "./wrapping_uses.ts";
import { jsonIfAny } from "../../../src/base/kernel/json.ts";

export interface ServiceDeps {
  readonly tokens: readonly Token[];
  /** Returns the key file: a JWK set without private members. */
  readonly readKeys: () => Promise<string>;
  readonly log: SignerLog;
  /** Is called if a request has found that a token is lost. */
  readonly onLost: () => void;
}

/** Answers requests. The key file is read when the service opens, and at each `GET /keys`. */
export interface Service {
  readonly keyCount: number;
  answer(request: Request): Promise<Response>;
}

interface ServedKey {
  readonly kid: string;
  readonly operation: KeyOperation;
  readonly modulus: Modulus;
  readonly token: Token;
}

interface ServedKeys {
  readonly text: string;
  readonly byKid: ReadonlyMap<string, ServedKey>;
}

const MAX_BODY_BYTES = 512;
const DIGEST_BYTES = 32;
/** A modulus of 2048 to 4096 bits. */
const MODULUS = /^[A-Za-z0-9_-]{342,683}$/;
const USES = { sig: "sign", enc: "decrypt" } as const;
const OPERATIONS = ["sign", "decrypt", "wrap", "unwrap", "certify"] as const;
/** What the log and the counts have in place of a kid: the key of a certificate authority is not in the key file. */
const AUTHORITY = "authority";

type Operation = typeof OPERATIONS[number];

const keyFile = z.object({
  keys: z.array(
    z.object({
      kid: z.string().min(1),
      use: z.enum(["sig", "enc"]),
      n: z.base64url().min(1),
      d: z.never({ error: "is a private member" }).optional(),
    }),
  ).max(64),
});

/** @throws {Error} if the file cannot be used, or a key is in no token or could leave it */
export async function openService({ tokens, readKeys, log, onLost }: ServiceDeps): Promise<Service> {
  let keys = await findKeys(await readKeys(), tokens);
  const uses = new Map<string, number>(); // bounded by the keys that this process has had
  const useOf = async (operation: Operation, kid: string, url: string): Promise<Use | undefined> => {
    if (operation === "sign" || operation === "decrypt") return rsaUse(keys.byKid.get(kid), operation);
    if (operation === "certify") return await authorityUse(kid, keys, tokens);
    return await wrappingUse(tokens, operation, kid, new URL(url).searchParams.get("name") ?? "");
  };
  const use = async (operation: Operation, name: string, request: Request): Promise<Response> => {
    const began = monotonicClock();
    const kid = operation === "certify" ? AUTHORITY : name;
    let known = keys.byKid.has(kid);
    const response = await orUnavailable({ log, onLost }, operation, async () => {
      const found = await useOf(operation, name, request.url);
      known ||= found !== undefined;
      return await answerUse(found, operation, request);
    });
    const milliseconds = Math.round(monotonicClock() - began);
    log.info("signer.used", {
      operation,
      kid: known ? kid : undefined,
      status: response.status,
      milliseconds,
    });
    if (known) uses.set(kid, (uses.get(kid) ?? 0) + 1);
    return response;
  };
  return {
    get keyCount(): number {
      return keys.byKid.size;
    },
    async answer(request) {
      const [, first = "", kid, rest] = new URL(request.url).pathname.split("/");
      const target = kid === undefined ? `${request.method} ${first}` : "";
      if (target === "GET keys") {
        return await orUnavailable({ log, onLost }, "keys", async () => {
          keys = await findKeys(await readKeys(), tokens);
          log.info("signer.keys_read", { keys: keys.byKid.size });
          return new Response(keys.text, { headers: { "content-type": "application/jwk-set+json" } });
        });
      }
      if (target === "GET health") {
        return await orUnavailable({ log, onLost }, "health", async () => {
          await Promise.all(tokens.map((token) => token.probe()));
          return Response.json({ uses: Object.fromEntries(uses) });
        });
      }
      const operation = OPERATIONS.find((name) => name === first && request.method === "POST");
      const name = kid === undefined ? undefined : decoded(kid);
      if (operation === undefined || name === undefined || rest !== undefined) {
        return answer(404, "no such resource");
      }
      return await use(operation, name, request);
    },
  };
}

/** Returns undefined if an escape is wrong. */
function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

function rsaUse(key: ServedKey | undefined, operation: KeyOperation): Use | undefined {
  if (key?.operation !== operation) return undefined;
  const { modulus, token } = key;
  if (operation === "sign") return { fault: digestFault, run: (digest) => token.sign(modulus, digest) };
  return {
    fault: (length) => length === modulus.length ? undefined : { status: UNDECRYPTABLE, text: "length" },
    run: (encrypted) => token.decrypt(modulus, encrypted),
  };
}

/** A private key of a token that is not in the key file: what is there has another use. `n` is base64url. */
async function authorityUse(
  n: string,
  { byKid }: ServedKeys,
  tokens: readonly Token[],
): Promise<Use | undefined> {
  if (!MODULUS.test(n)) return undefined;
  const modulus = Uint8Array.fromBase64(n, { alphabet: "base64url" });
  if ([...byKid.values()].some((key) => key.modulus.toHex() === modulus.toHex())) return undefined;
  const token = await tokenOf(AUTHORITY, modulus, tokens).catch(() => undefined);
  if (token === undefined) return undefined;
  return { fault: digestFault, run: (digest) => token.certify(modulus, digest) };
}

function digestFault(length: number): ReturnType<Use["fault"]> {
  return length === DIGEST_BYTES ? undefined : { status: 400, text: `a digest has ${DIGEST_BYTES} bytes` };
}

async function answerUse(use: Use | undefined, operation: Operation, request: Request): Promise<Response> {
  if (use === undefined) return answer(404, `no key of this name can ${operation}`);
  const length = Number(request.headers.get("content-length") ?? NaN);
  if (!(length <= MAX_BODY_BYTES)) return answer(413, `at most ${MAX_BODY_BYTES} bytes and their number`);
  const body = new Uint8Array(await request.arrayBuffer());
  const fault = use.fault(body.length);
  if (fault !== undefined) return answer(fault.status, fault.text);
  const made = await use.run(body);
  return made === undefined ? answer(UNDECRYPTABLE, "undecryptable") : new Response(made);
}

async function orUnavailable(
  { log, onLost }: Pick<ServiceDeps, "log" | "onLost">,
  operation: string,
  answerIt: () => Promise<Response>,
): Promise<Response> {
  try {
    return await answerIt();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    log.error("signer.failed", { operation, why });
    if (error instanceof TokenLost) onLost();
    return answer(503, why);
  }
}

function answer(status: number, text: string): Response {
  return new Response(text, { status, headers: { "content-type": "text/plain" } });
}

async function findKeys(text: string, tokens: readonly Token[]): Promise<ServedKeys> {
  const parsed = keyFile.safeParse(jsonIfAny(text));
  if (!parsed.success) {
    const where = parsed.error.issues.map(({ path }) => path.join(".")).join(", ");
    throw new Error(`the key file is not a JWK set without private members; look at: ${where || "keys"}`);
  }
  const found = await Promise.all(parsed.data.keys.map(async ({ kid, use, n }) => {
    const modulus = Uint8Array.fromBase64(n, { alphabet: "base64url" });
    return { kid, operation: USES[use], modulus, token: await tokenOf(kid, modulus, tokens) };
  }));
  return { text, byKid: new Map(found.map((key) => [key.kid, key])) };
}

async function tokenOf(kid: string, modulus: Modulus, tokens: readonly Token[]): Promise<Token> {
  for (const token of tokens) {
    const state = await token.find(modulus);
    if (state === "extractable") throw new Error(`the key ${kid} could leave its token`);
    if (state === "kept") return token;
  }
  throw new Error(`the key ${kid} is in none of the tokens ${tokens.map(({ label }) => label).join(", ")}`);
}
