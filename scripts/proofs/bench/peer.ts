/**
 * The peer of `--against`: `oidc-provider` on Node, for the two requests that both serve. Its clients authenticate with the
 * same keys, and it binds tokens to the same DPoP keys.
 */
import { calculateJwkThumbprint } from "jose";
import { CLIENT_ASSERTION_TYPE } from "../../../src/base/profile.ts";
import { dpopProof, type Signer, signJwt } from "../../testing/jwts.ts";
import { testKey } from "../../testing/keys.ts";
import { bundle } from "../../testing/other_runtime.ts";
import { sendAll, type StageSample } from "./flows.ts";
import type { PeerSettings } from "./peer/provider.ts";
import { usageOf } from "./process.ts";
import { AT_ONCE, type Measured } from "./rounds.ts";
import type { StageName } from "./stages.ts";

/** A request that both serve. */
interface Kind {
  readonly name: StageName;
  readonly status: number;
  readonly path: string;
  readonly form: Readonly<Record<string, string>>;
  readonly hasProof: boolean;
}

const ISSUER = "https://peer.example";
const CLIENT = "shop";
const REDIRECT_URI = "https://shop.example/return";
const SOURCE = new URL("peer/provider.ts", import.meta.url).pathname;
const SCOPE = "payments";

const KINDS: readonly Kind[] = [
  {
    name: "token (client credentials)",
    status: 200,
    path: "/token",
    form: { grant_type: "client_credentials", scope: SCOPE },
    hasProof: true,
  },
  {
    name: "PAR",
    status: 201,
    path: "/request",
    form: {
      response_type: "code",
      redirect_uri: REDIRECT_URI,
      code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
      code_challenge_method: "S256",
      consent_id: "6dede227-f4e5-4409-85dd-0fd2b1128b98",
      scope: SCOPE,
      state: "af0ifjsldkj",
    },
    hasProof: false,
  },
];

/** Starts it. @param node path of the program @param warm requests of each kind that are sent before it is measured */
export async function openPeer(node: string, warm: number): Promise<Measured> {
  await using opening = new AsyncDisposableStack();
  const folder = await Deno.makeTempDir({ prefix: "peer-" });
  opening.defer(() => Deno.remove(folder, { recursive: true }));
  const program = `${folder}/provider.js`;
  await bundle(SOURCE, program);
  const signer = await newSigner();
  const env = { PEER: JSON.stringify(settingsOf(signer, `${folder}/peer.sqlite`)) };
  const child = new Deno.Command(node, { args: [program], env, stdout: "piped", stderr: "null" }).spawn();
  opening.defer(async () => {
    child.kill("SIGKILL");
    await child.status;
  });
  const origin = `http://127.0.0.1:${await firstLine(child.stdout)}`;
  const round: Measured["round"] = async ({ requests }, concurrency) => {
    const samples: StageSample[] = [];
    for (const kind of KINDS) {
      samples.push(await runKind(kind, { origin, signer, child }, requests, concurrency));
    }
    return samples;
  };
  await round({ requests: warm, payments: 0 }, AT_ONCE);
  const resources = opening.move();
  return { pid: child.pid, round, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

interface Running {
  readonly origin: string;
  readonly signer: Signer;
  readonly child: Deno.ChildProcess;
}

async function runKind(
  kind: Kind,
  { origin, signer, child }: Running,
  count: number,
  concurrency: number,
): Promise<StageSample> {
  const requests: Request[] = [];
  while (requests.length < count) requests.push(await requestOf(kind, origin, signer));
  const server = { api: (request: Request) => fetch(request) };
  const { answers, ...sample } = await sendAll(server, () => usageOf(child.pid), requests, concurrency);
  const failures = answers.filter(({ status }) => status !== kind.status).length;
  return { name: kind.name, ...sample, failures };
}

async function newSigner(): Promise<Signer> {
  const key = await testKey(1);
  return { key, kid: await calculateJwkThumbprint(key.publicJwk) };
}

function settingsOf({ key, kid }: Signer, file: string): PeerSettings {
  const client = {
    client_id: CLIENT,
    grant_types: ["client_credentials", "authorization_code"],
    response_types: ["code"],
    redirect_uris: [REDIRECT_URI],
    scope: SCOPE,
    token_endpoint_auth_method: "private_key_jwt",
    token_endpoint_auth_signing_alg: "PS256",
    id_token_signed_response_alg: "PS256",
    dpop_bound_access_tokens: true,
    jwks: { keys: [{ ...key.publicJwk, kid, alg: "PS256", use: "sig" }] },
  };
  return { issuer: ISSUER, file, client, key: { ...key.privateJwk, kid } };
}

async function requestOf(kind: Kind, origin: string, signer: Signer): Promise<Request> {
  const env = { now: Date.now() };
  const iat = Math.floor(env.now / 1000);
  const claims = { iss: CLIENT, sub: CLIENT, aud: ISSUER, iat, exp: iat + 60, jti: crypto.randomUUID() };
  const body = new URLSearchParams({
    ...kind.form,
    client_id: CLIENT,
    client_assertion_type: CLIENT_ASSERTION_TYPE,
    client_assertion: await signJwt(signer, claims),
  });
  const url = `${origin}${kind.path}`;
  const proof = kind.hasProof
    ? { dpop: await dpopProof(env, await testKey(9), { method: "POST", url }) }
    : {};
  return new Request(url, { method: "POST", body, headers: proof });
}

async function firstLine(output: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> {
  const { value = "" } = await output.pipeThrough(new TextDecoderStream()).getReader().read();
  if (value === "") throw new Error("the peer did not start");
  return value.trim();
}
