/** The token guard of the TPP's resource endpoints: the same wrong thing at all of them. */
import { assertEquals, assertNotEquals } from "@std/assert";
import { bodyOf } from "testing/answers.ts";
import { clientToken, dpopKey } from "testing/flows.ts";
import { authorise, codeOf, redeem, toBank } from "testing/authorization_flow.ts";
import { dpopProof } from "testing/jwts.ts";
import { assertBare, assertChallenge } from "testing/resource_answers.ts";
import { type ResourceCall, resourceCalls } from "support/resource_calls.ts";
import { type Environment } from "testing/environment.ts";
import { stepsOf } from "support/steps.ts";
import { test } from "support/environment_test.ts";
import { unchanged } from "testing/store_contents.ts";

const NO_ERROR = 'DPoP algs="PS256"';
const INVALID_REQUEST = 'DPoP error="invalid_request", algs="PS256"';
const INVALID_TOKEN = 'DPoP error="invalid_token", algs="PS256"';

type Attempt = (endpoint: ResourceCall, env: Environment) => Promise<Response>;

/** A call whose Authorization header is made from the token. */
function authorization(header: (token: string) => string | undefined, proof?: null): Attempt {
  return ({ send, bound }) =>
    send({ ...(proof === undefined ? {} : { proof }), headers: { authorization: header(bound.token) } });
}

/** A call with another token text than the one issued. */
function tokenText(change: (token: string) => string): Attempt {
  return ({ send, bound }) => send({ token: { ...bound, token: change(bound.token) } });
}

const REJECTIONS: readonly (readonly [name: string, status: 400 | 401, challenge: string, Attempt])[] = [
  ["no Authorization [RG-N1]", 401, NO_ERROR, authorization(() => undefined)],
  ["Bearer with a good proof [RG-N2]", 401, NO_ERROR, authorization((token) => `Bearer ${token}`)],
  ["Bearer without a proof [RG-N2]", 401, NO_ERROR, authorization((token) => `Bearer ${token}`, null)],
  ["Basic", 401, NO_ERROR, authorization(() => "Basic dXNlcjpwYXNz")],
  ["the bare token", 401, NO_ERROR, authorization((token) => token)],
  ["the bare scheme", 401, NO_ERROR, authorization(() => "DPoP")],
  ["an empty Authorization", 401, NO_ERROR, authorization(() => "")],
  ["DPoP twice [RG-N3]", 400, INVALID_REQUEST, authorization((token) => `DPoP ${token}, DPoP ${token}`)],
  ["DPoP and Bearer [RG-N3]", 400, INVALID_REQUEST, authorization((t) => `DPoP ${t}, Bearer ${t}`)],
  ["Bearer and DPoP [RG-N3]", 400, INVALID_REQUEST, authorization((t) => `Bearer ${t}, DPoP ${t}`)],
  ["a token in the query too [RG-N4]", 400, INVALID_REQUEST, (endpoint, env) => inQuery(endpoint, env, true)],
  [
    "a token in the query alone [RG-N4]",
    400,
    INVALID_REQUEST,
    (endpoint, env) => inQuery(endpoint, env, false),
  ],
  ["a random token [RG-N5]", 401, INVALID_TOKEN, tokenText(() => "f".repeat(43))],
  ["a truncated token [RG-N5]", 401, INVALID_TOKEN, tokenText((token) => token.slice(0, -1))],
  ["a lengthened token [RG-N5]", 401, INVALID_TOKEN, tokenText((token) => `${token}A`)],
  ["a token in other letter case [RG-N5]", 401, INVALID_TOKEN, tokenText(swapCase)],
  ["an enormous token [RG-N5]", 401, INVALID_TOKEN, tokenText(() => "A".repeat(20_000))],
  [
    "another TPP's certificate [RG-N11]",
    401,
    INVALID_TOKEN,
    ({ send }, { otherTpp }) => send({ as: otherTpp }),
  ],
  ["the bank's certificate [RG-N11]", 401, INVALID_TOKEN, ({ send }, { bankA }) => send({ as: bankA })],
  ["no certificate [RG-N11]", 401, INVALID_TOKEN, ({ send }) => send({ as: null })],
  [
    "another TPP with token, key and its own certificate [RG-N11]",
    401,
    INVALID_TOKEN,
    ({ send }, { otherTpp }) => send({ caller: otherTpp }),
  ],
];

async function inQuery(endpoint: ResourceCall, env: Environment, headerToo: boolean): Promise<Response> {
  const { method, url, bound, body } = endpoint;
  const headers = new Headers({
    dpop: await dpopProof(env, bound.key, { method, url, accessToken: bound.token }),
  });
  if (headerToo) headers.set("authorization", `DPoP ${bound.token}`);
  const init = body === undefined ? { method, headers } : { method, headers, body };
  return await env.api(new Request(`${url}?access_token=${bound.token}`, init), env.tpp);
}

function swapCase(text: string): string {
  return [...text].map((c) => c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase()).join("");
}

test("resource endpoints reject bad credentials and change nothing [RG-N1..N5] [RG-N11] [RP-N1] [RS8]", async ({ env, t }) => {
  const endpoints = await resourceCalls(env);
  for (const [name, status, challenge, attempt] of REJECTIONS) {
    await stepsOf(t, endpoints, (endpoint) => `${endpoint.name}: ${name}`, async (endpoint) => {
      const response = await unchanged(env, () => attempt(endpoint, env));
      await assertChallenge(response, status, challenge);
    });
  }
  await t.step("the log says why a request is malformed", () => {
    const rejected = env.logged.filter((line) => line.includes('"reason":"token.malformed_request"'));
    const details = rejected.map((line) => (JSON.parse(line) as { readonly detail?: string }).detail);
    assertEquals(
      [...new Set(details)],
      [
        "Send one Authorization header with one access token.",
        "Send the access token in the Authorization header, not in the query.",
      ],
    );
  });
});

test("resource endpoints answer a good call [RG-N7]", async ({ env, t }) => {
  await stepsOf(t, await resourceCalls(env), (endpoint) => endpoint.name, async (endpoint) => {
    const response = await endpoint.send();
    assertEquals(response.status, endpoint.status, await response.text());
    assertEquals(response.headers.get("cache-control"), "no-store");
  });
});

test("resource endpoints take a token until 3600 s after its issue and not then [RG-N5] [PAY-05] [FAPI-G18] [RS3]", async ({ env, t }) => {
  const issued = env.now;
  const endpoints = await resourceCalls(env);
  for (const endpoint of endpoints.filter(({ method }) => method === "GET")) {
    await t.step(endpoint.name, async () => {
      env.now = issued + 3_599_999;
      const last = await endpoint.send();
      assertEquals(last.status, 200, await last.text());
      env.now = issued + 3_600_000;
      await assertChallenge(await endpoint.send(), 401, INVALID_TOKEN);
    });
  }
  for (const endpoint of endpoints.filter(({ method }) => method === "POST")) {
    await t.step(endpoint.name, async () => {
      env.now = issued + 3_600_000;
      await assertChallenge(await unchanged(env, () => endpoint.send()), 401, INVALID_TOKEN);
    });
  }
});

test("GET funds-confirmation and POST domestic-payments reject a token revoked by reuse of its code [RG-N5]", async ({ env, t }) => {
  const flow = await toBank(env);
  const code = codeOf(await authorise(env, flow));
  const first = await bodyOf(redeem(env, { consentId: flow.consentId, code }));
  const token = { token: first.access_token, key: await dpopKey() };
  const endpoints = (await resourceCalls(env)).filter(({ name }) => !name.includes("consents"));
  await stepsOf(t, endpoints, (endpoint) => `${endpoint.name} knows the token before`, async (endpoint) => {
    assertNotEquals((await endpoint.send({ token })).status, 401);
  });
  assertEquals((await redeem(env, { consentId: flow.consentId, code })).status, 400);
  await stepsOf(t, endpoints, (endpoint) => `${endpoint.name} rejects it after`, async (endpoint) => {
    await assertChallenge(await unchanged(env, () => endpoint.send({ token })), 401, INVALID_TOKEN);
  });
});

test("resource endpoints take the scheme in any case, several spaces, and the header DPOP [RG-N7] [RS1]", async ({ env, t }) => {
  const endpoints = (await resourceCalls(env)).filter(({ name }) => name !== "POST domestic-payments");
  for (const endpoint of endpoints) {
    for (const scheme of ["dPoP", "DPOP", "dpop", "DPoP  "]) {
      await t.step(`${endpoint.name} ${scheme}`, async () => {
        const { method, url, bound } = endpoint;
        const proof = await dpopProof(env, bound.key, { method, url, accessToken: bound.token });
        const response = await endpoint.send({
          proof: null,
          headers: { authorization: `${scheme} ${bound.token}`, DPOP: proof },
        });
        assertEquals(response.status, endpoint.status, await response.text());
      });
    }
  }
});

test("resource endpoints do not know another bank's token [RG-N8] [RP-N1] [RS5]", async ({ env, t }) => {
  const atB = await clientToken(env, env.tpp, "BANKB");
  await stepsOf(t, await resourceCalls(env), (endpoint) => endpoint.name, async (endpoint) => {
    const response = await unchanged(env, () => endpoint.send({ token: atB }));
    await assertChallenge(response, 401, INVALID_TOKEN);
  });
});

test("resource endpoints of an unknown bank are nowhere [VER-01] [RG-N8]", async ({ env, t }) => {
  for (const endpoint of await resourceCalls(env)) {
    for (const code of ["BANKC", "banka", "B", "x".repeat(33), "BANKA%2F", "%00"]) {
      await t.step(`${endpoint.name} ${code}`, async () => {
        const { method, bound, body } = endpoint;
        const url = endpoint.url.replace("BANKA", code);
        const proof = await dpopProof(env, bound.key, { method, url, accessToken: bound.token });
        const headers = { authorization: `DPoP ${bound.token}`, dpop: proof };
        const init = body === undefined ? { method, headers } : { method, headers, body };
        const response = await unchanged(env, () => env.api(new Request(url, init), env.tpp));
        await assertBare(response, 404);
      });
    }
  }
});
