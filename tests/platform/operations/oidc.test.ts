/** Operators with access tokens of a real OpenID provider. */
import { assert, assertEquals } from "@std/assert";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { generateKeyPair, importJWK, type JWTPayload, SignJWT } from "jose";
import { Provider } from "oidc-provider";
import { bodyOf, type LogLine, type PlatformKeys, present, type TokenAnswer } from "testing/answers.ts";
import { historyOf } from "testing/histories.ts";
import { type Environment, openEnvironment } from "testing/environment.ts";
import { platformKeySet } from "testing/platform_keys.ts";
import { newCredential, openCredentials } from "../../../src/base/http/credentials.ts";
import { OPERATORS } from "../../../src/platform/guards/security/operator_roles.ts";
import { type ProposedBody, REASON } from "support/four_eyes.ts";
import { stepsOf } from "support/steps.ts";

const AUDIENCE = "https://operations.platform.example";

const ISSUER = "https://id.example";
/** As its TLS proxy tells the provider. */
const PROXIED = { "x-forwarded-proto": "https", "x-forwarded-host": "id.example" };

interface OidcFixture extends AsyncDisposable {
  /** Sends the platform's request to the provider. */
  fetch(request: Request): Promise<Response>;
  /** An access token of the client `console`, with these roles and this organisation. */
  token(roles: unknown, organisation?: unknown): Promise<string>;
}

/** The provider on a port of its own. Its tokens of client credentials are JWTs with the roles that a test sets. */
async function openProvider(jwk: JsonWebKey): Promise<OidcFixture> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let claims: object = {};
  const provider = new Provider(ISSUER, {
    clients: [{
      client_id: "console",
      client_secret: "a-secret-of-the-console",
      grant_types: ["client_credentials"],
      redirect_uris: [],
      response_types: [],
      id_token_signed_response_alg: "PS256",
    }],
    jwks: { keys: [jwk] },
    extraTokenClaims: () => claims,
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => AUDIENCE,
        getResourceServerInfo: () => ({
          scope: "operate",
          audience: AUDIENCE,
          accessTokenFormat: "jwt",
          accessTokenTTL: 600,
          jwt: { sign: { alg: "PS256" } },
        }),
      },
    },
  });
  provider.proxy = true;
  server.on("request", provider.callback());
  return {
    fetch: (request) => fetch(`${origin}${new URL(request.url).pathname}`, { headers: PROXIED }),
    async token(roles, organisation) {
      claims = { roles, organisation };
      const answer = await fetch(`${origin}/token`, {
        method: "POST",
        headers: { ...PROXIED, authorization: `Basic ${btoa("console:a-secret-of-the-console")}` },
        body: new URLSearchParams({ grant_type: "client_credentials", scope: "operate" }),
      });
      const { access_token } = await bodyOf<TokenAnswer>(answer);
      return access_token;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function statusOf(env: Environment, token: string, path = "requests"): Promise<number> {
  const answer = await env.asOperator(`/operations/${path}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  await answer.body?.cancel();
  return answer.status;
}

Deno.test("access tokens of an OpenID provider admit operators with their roles, and nothing else does [OP12]", async (t) => {
  const jwk = present(
    (JSON.parse(await platformKeySet()) as PlatformKeys).keys.find(({ use }) => use === "sig"),
  );
  await using provider = await openProvider({ ...jwk, alg: "PS256" });
  await using env = await openEnvironment({
    environment: { PLATFORM_OPERATIONS_OIDC_ISSUER: ISSUER, PLATFORM_OPERATIONS_OIDC_AUDIENCE: AUDIENCE },
  });
  const directory = env.network;
  env.network = (request) => request.url.startsWith(ISSUER) ? provider.fetch(request) : directory(request);
  env.now = Date.now();
  await t.step("roles", async () => {
    assertEquals(await statusOf(env, await provider.token(["viewer"])), 200);
    assertEquals(await statusOf(env, await provider.token("viewer auditor"), "audit"), 200);
    assertEquals(await statusOf(env, await provider.token(["viewer"]), "audit"), 403);
    for (const none of [undefined, [], ["root"], { viewer: true }, ["viewer "]]) {
      assertEquals(await statusOf(env, await provider.token(none)), 403, JSON.stringify(none));
    }
    const name = "operator console@id.example";
    const history = (await historyOf(env.store, name)).map(({ event }) => event);
    assertEquals(history, ["operator.read", ...Array(6).fill("operator.forbidden")]);
  });
  const own = await importJWK({ ...jwk, alg: "PS256" }, "PS256");
  const other = await generateKeyPair("ES256");
  const at = Math.floor(env.now / 1000);
  const claims: JWTPayload = {
    iss: ISSUER,
    aud: AUDIENCE,
    sub: "console",
    client_id: "console",
    jti: crypto.randomUUID(),
    iat: at,
    exp: at + 600,
    roles: ["viewer"],
  };
  const header = { alg: "PS256", typ: "at+jwt", kid: jwk.kid };
  const sign = (change: object = {}, head: object = {}, key: CryptoKey | Uint8Array = own): Promise<string> =>
    new SignJWT({ ...claims, ...change }).setProtectedHeader({ ...header, ...head }).sign(key);
  assertEquals(await statusOf(env, await sign()), 200, "the nearest valid token");
  const secret = new TextEncoder().encode(JSON.stringify(jwk));
  const rejected: Readonly<Record<string, Promise<string>>> = {
    "another issuer": sign({ iss: `${ISSUER}/` }),
    "another audience": sign({ aud: "https://elsewhere.example" }),
    "no audience": sign({ aud: undefined }),
    "expired": sign({ exp: at - 6 }),
    "without an end": sign({ exp: undefined }),
    "not yet valid": sign({ nbf: at + 60 }),
    "issued in the future": sign({ iat: at + 60 }),
    "issued long ago": sign({ iat: at - 90_000 }),
    "without a subject": sign({ sub: undefined }),
    "without a client": sign({ client_id: undefined }),
    "without an id": sign({ jti: undefined }),
    "an ID token": sign({}, { typ: "JWT" }),
    "without a type": sign({}, { typ: undefined }),
    "another key": sign({}, { alg: "ES256" }, other.privateKey),
    "an unknown key": sign({}, { alg: "ES256", kid: "x" }, other.privateKey),
    "a public key as a secret": sign({}, { alg: "HS256" }, secret),
    "no signature": sign().then((token) =>
      `${btoa('{"alg":"none","typ":"at+jwt"}').replaceAll("=", "")}.${token.split(".")[1]}.`
    ),
    "a changed payload": sign().then((token) =>
      token.replace(/\.[^.]+\./, `.${btoa(JSON.stringify({ ...claims, sub: "root" })).replaceAll("=", "")}.`)
    ),
  };
  await stepsOf(t, Object.entries(rejected), ([name]) => name, async ([, token]) => {
    const status = await statusOf(env, await token);
    assert(status === 401 || status === 429, `${status}`); // after ten wrong tokens in a row
  });
  const lines = env.logged.map((line) => JSON.parse(line) as LogLine);
  const whys = lines.filter(({ event }) => event === "operator.token_rejected").map(({ why }) => why);
  assert(whys.length > 0 && whys.every((why) => typeof why === "string" && why !== ""), JSON.stringify(whys));
});

Deno.test("without its provider's keys no token is accepted, and operators of the list are [OP12]", async () => {
  await using env = await openEnvironment({
    environment: {
      PLATFORM_OPERATIONS_OIDC_ISSUER: "https://id.example",
      PLATFORM_OPERATIONS_OIDC_AUDIENCE: AUDIENCE,
    },
  });
  assertEquals(await statusOf(env, "a.b.c"), 503);
  const answer = await env.asOperator("/operations/requests");
  assertEquals(answer.status, 200);
  await answer.body?.cancel();
});

Deno.test("tokens of a provider admit a participant's person to what the organisation owns [OWN1]", async () => {
  const jwk = present(
    (JSON.parse(await platformKeySet()) as PlatformKeys).keys.find(({ use }) => use === "sig"),
  );
  await using provider = await openProvider({ ...jwk, alg: "PS256" });
  for (const claim of ["organisation", "org", undefined]) {
    await using env = await openEnvironment({
      environment: {
        PLATFORM_OPERATIONS_OIDC_ISSUER: ISSUER,
        PLATFORM_OPERATIONS_OIDC_AUDIENCE: AUDIENCE,
        ...(claim === undefined ? {} : { PLATFORM_OPERATIONS_OIDC_ORGANISATION: claim }),
      },
    });
    const directory = env.network;
    env.network = (request) => request.url.startsWith(ISSUER) ? provider.fetch(request) : directory(request);
    env.now = Date.now();
    const admitted = claim === "organisation" ? 200 : 403;
    assertEquals(await statusOf(env, await provider.token("participant", "BANKA"), "own/reports"), admitted);
    const everything = await provider.token(["participant", "viewer"], "BANKA");
    assertEquals(await statusOf(env, everything), claim === undefined ? 200 : 403, "never an operator too");
    assertEquals(await statusOf(env, everything, "own/reports"), admitted);
    for (const claimed of ["BANKA", "", 7, ["BANKA"]]) { // a claim of the organisation without the role
      const status = await statusOf(env, await provider.token(["viewer"], claimed));
      assertEquals(status, claim === "organisation" ? 403 : 200, JSON.stringify(claimed));
    }
    for (const none of [undefined, "", 7, ["BANKA"]]) {
      assertEquals(await statusOf(env, await provider.token(["participant"], none), "own/reports"), 403);
    }
  }
});

Deno.test("a person with a token and an account at the provider is one person, and an unknown one may be [FE8]", async (t) => {
  const jwk = present(
    (JSON.parse(await platformKeySet()) as PlatformKeys).keys.find(({ use }) => use === "sig"),
  );
  await using provider = await openProvider({ ...jwk, alg: "PS256" });
  const cases: Readonly<Record<string, readonly [person: string | undefined, status: number]>> = {
    "a token of no known person": [undefined, 409],
    "a token of this person": ["console@id.example", 409],
    "a token of another person": ["luis@id.example", 200],
  };
  for (const [name, [person, status]] of Object.entries(cases)) {
    await t.step(name, async () => {
      const { credential, token } = await newCredential(
        OPERATORS,
        { name: "console", roles: ["security"], person },
        Date.now(),
      );
      const text = JSON.stringify({ operators: [credential] });
      const file = { version: () => Promise.resolve(""), text: () => Promise.resolve(text) };
      await using env = await openEnvironment({
        operators: openCredentials(OPERATORS, file, Date.now),
        environment: {
          PLATFORM_OPERATIONS_OIDC_ISSUER: ISSUER,
          PLATFORM_OPERATIONS_OIDC_AUDIENCE: AUDIENCE,
          PLATFORM_FOUR_EYES: "block-organisation,unblock-organisation",
        },
      });
      const directory = env.network;
      env.network = (request) =>
        request.url.startsWith(ISSUER) ? provider.fetch(request) : directory(request);
      env.now = Date.now();
      const post = async (path: string, as: string): Promise<{ status: number; body: ProposedBody }> => {
        const headers = { authorization: `Bearer ${as}`, "content-type": "application/json" };
        const body = JSON.stringify({ Data: { Reason: REASON } });
        const answer = await env.asOperator(`/operations${path}`, { method: "POST", headers, body });
        return { status: answer.status, body: await bodyOf<ProposedBody>(answer) };
      };
      const atProvider = await provider.token(["security"]);
      for (const [one, other] of [[token, atProvider], [atProvider, token]] as const) {
        const made = await post("/organisations/BANKA/block", one);
        const approved = await post(`/proposals/${made.body.Data?.ProposalId}/approve`, other);
        assertEquals([made.status, approved.status], [202, status], JSON.stringify(approved.body));
        if (status === 200) return; // the block is in force
      }
    });
  }
});
