/** Who may use which endpoint of the operations API, and where it does not exist. */
import { assertEquals, assertThrows } from "@std/assert";
import { bodyOf, type LogLine, type OpenApi, rejectionOf } from "testing/answers.ts";
import { newCredential, openCredentials, readCredentials } from "../../../src/base/http/credentials.ts";
import { composePlatform } from "../../../src/platform/process/compose.ts";
import { openKeyRing } from "../../../src/base/jose/key_ring.ts";
import type { MountedEndpoint } from "../../../src/platform/guards/http/endpoint.ts";
import { guardOperations, operation } from "../../../src/platform/guards/security/operation.ts";
import { OPERATION_ROLES, OPERATORS, ROLES } from "../../../src/platform/guards/security/operator_roles.ts";
import { AUTH_URL, BASE_URL, type Environment, openEnvironment } from "testing/environment.ts";
import { MARIA, OPERATIONS_URL, OPERATOR_TOKENS, type TestOperator } from "testing/operators.ts";
import { besideAttempts } from "support/attempts.ts";
import { steps, stepsOf } from "support/steps.ts";

const LIST = "/operations/payment-orders?state=dead";
const TOKEN = OPERATOR_TOKENS.maria;
const API_ENDPOINTS = Object.keys(OPERATION_ROLES).filter((name) => name.includes(" /operations/"));

/** Sent to every endpoint: nothing that it names exists. */
function callOf({ method, path }: MountedEndpoint): readonly [string, RequestInit] {
  const sent = path.replace(":bank", "BANKX").replaceAll(/:\w+/g, crypto.randomUUID());
  return [sent, { method }];
}

function guarded(env: Environment): readonly MountedEndpoint[] {
  return env.platform.endpoints.operations.filter(({ path }) => path.startsWith("/operations/"));
}

Deno.test("each endpoint admits the declared roles, no others, and no one without credentials [OP2, O1]", async (t) => {
  await using env = await openEnvironment();
  const before = await besideAttempts(env);
  const changes = guarded(env).filter(({ method }) => method === "POST");
  const reads = guarded(env).filter(({ method }) => method !== "POST");
  await admitsDeclaredRoles(t, env, changes);
  assertEquals(await besideAttempts(env), before, "nothing that exists was named");
  await admitsDeclaredRoles(t, env, reads);
  assertEquals(guarded(env).length, API_ENDPOINTS.length, "a role of no endpoint");
});

async function admitsDeclaredRoles(
  t: Deno.TestContext,
  env: Environment,
  endpoints: readonly MountedEndpoint[],
): Promise<void> {
  await stepsOf(t, endpoints, ({ method, path }) => `${method} ${path}`, async (endpoint) => {
    const [path, init] = callOf(endpoint);
    const name = `${endpoint.method} ${endpoint.path.replaceAll(/:(\w+)/g, "{$1}")}`;
    const anonymous = await env.platform.operations.fetch(new Request(`${OPERATIONS_URL}${path}`, init));
    assertEquals([anonymous.status, anonymous.headers.get("www-authenticate")], [401, "Bearer"]);
    await anonymous.body?.cancel();
    for (const role of ROLES) {
      const answer = await env.asOperator(path, init, role);
      await answer.body?.cancel();
      const isAdmitted = answer.status !== 401 && answer.status !== 403;
      assertEquals(isAdmitted, OPERATION_ROLES[name]?.includes(role), `${role}: ${answer.status}`);
    }
  });
}

Deno.test("an endpoint without declared roles does not start [OP2]", () => {
  const route = {
    method: "get",
    path: "/operations/new",
    responses: { 200: { description: "Fine" } },
  } as const;
  const endpoints = [operation(route, [], (c) => c.text("fine"))];
  const deps = {
    identify: () => Promise.resolve({}),
    clock: Date.now,
    log: { ...console, debug() {} },
    recordRead: () => Promise.resolve(),
  };
  assertThrows(
    () => guardOperations(deps as never, () => Promise.resolve({ name: "x", roles: [] }), endpoints),
    Error,
    "GET /operations/new: declare its roles",
  );
});

const rejectedTokens: Record<string, Record<string, string>> = {
  "another token": { authorization: `Bearer ${TOKEN.replace("maria", "mario")}` },
  "another person's id": { authorization: `Bearer ${TOKEN.replace("0.a", "1.a")}` },
  "a shorter token": { authorization: `Bearer ${TOKEN.slice(0, -1)}` },
  "a longer token": { authorization: `Bearer ${TOKEN}0` },
  "an empty token": { authorization: "Bearer " },
  "the token without its scheme": { authorization: TOKEN },
  "another scheme": { authorization: `DPoP ${TOKEN}` },
  "basic authentication": { authorization: `Basic ${btoa(`operator:${TOKEN}`)}` },
  "the token twice": { authorization: `Bearer ${TOKEN}, Bearer ${TOKEN}` },
};

Deno.test("a wrong token is rejected in one way, and is not in the log", async (t) => {
  await using env = await openEnvironment();
  await steps(t, rejectedTokens, async (headers) => {
    const answer = await env.asOperator(LIST, { headers });
    assertEquals([answer.status, answer.headers.get("www-authenticate")], [401, "Bearer"]);
    assertEquals(await answer.json(), {
      error: "unauthorized",
      error_description: "The operator's token is missing or wrong.",
    });
  });
  assertEquals(env.logged.filter((line) => line.includes("a-token-of")), []);
  const lines = env.logged.map((line) => JSON.parse(line) as LogLine)
    .filter(({ event }) => event === "operator.wrong_credential");
  assertEquals(
    new Set(lines.map(({ credential }) => credential)),
    new Set(["oper-0000000000000000", "oper-0000000000000001"]),
  );
});

Deno.test("wrong tokens are slowed down, and right ones are not", async () => {
  await using env = await openEnvironment();
  const headers = { authorization: `Bearer ${TOKEN}x` };
  const statuses: number[] = [];
  for (let guess = 0; guess < 12; guess++) {
    const answer = await env.asOperator(LIST, { headers });
    await answer.body?.cancel();
    statuses.push(answer.status);
  }
  assertEquals(statuses, [...Array(10).fill(401), 429, 429]);
  const right = await env.asOperator(LIST);
  assertEquals(right.status, 200);
  await right.body?.cancel();
});

Deno.test("the participants' hosts have no operations API [OP1]", async () => {
  await using env = await openEnvironment();
  for (const path of [LIST, "/operations/openapi.json", "/operations"]) {
    for (const host of [env.api, env.browser]) {
      const url = `${host === env.api ? BASE_URL : AUTH_URL}${path}`;
      const answer = await host(new Request(url, { headers: MARIA }));
      assertEquals(answer.status, 404);
      await answer.body?.cancel();
    }
  }
  const document = await bodyOf<OpenApi>(env.browser(new Request(`${AUTH_URL}/openapi.json`)));
  assertEquals(Object.keys(document.paths).filter((path) => path.includes("operations")), []);
});

Deno.test("without operators the operations host answers health alone", async () => {
  await using env = await openEnvironment();
  const { config, store } = env;
  const clock = (): number => env.now;
  const keys = await openKeyRing(config.keys);
  const platform = await composePlatform({
    config,
    store,
    clock,
    monotonic: clock,
    fetch,
    log: () => {},
    keys,
  });
  const statuses: number[] = [];
  for (const path of [LIST, "/operations/openapi.json", "/health/live", "/health/serving"]) {
    const answer = await platform.operations.fetch(
      new Request(`${OPERATIONS_URL}${path}`, { headers: MARIA }),
    );
    statuses.push(answer.status);
    await answer.body?.cancel();
  }
  assertEquals(statuses, [404, 404, 200, 200]);
  await platform.stop();
});

Deno.test("unusable queries are 400, other methods 405", async () => {
  await using env = await openEnvironment();
  for (const query of ["", "?state=alive", "?state=", "?state=dead&after=x"]) {
    const answer = await env.asOperator(`/operations/payment-orders${query}`);
    assertEquals([answer.status, (await rejectionOf(answer)).error], [400, "invalid_request"], query);
  }
  const deleted = await env.asOperator(LIST, { method: "DELETE" });
  assertEquals([deleted.status, deleted.headers.get("allow")], [405, "GET"]);
  await deleted.body?.cancel();
});

Deno.test("the operations document describes every guarded endpoint", async () => {
  await using env = await openEnvironment();
  const viewer: TestOperator = "viewer";
  const document = await bodyOf<OpenApi>(env.asOperator("/operations/openapi.json", {}, viewer));
  const described = Object.entries(document.paths)
    .flatMap(([path, item]) => Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`));
  assertEquals(described.toSorted(), API_ENDPOINTS.toSorted());
});

Deno.test("a changed list of operators counts from the next request on, and an unreadable one admits no one [OP3]", async () => {
  const kind = OPERATORS;
  const [ana, luis] = await Promise.all(
    ["ana", "luis"].map((name) => newCredential(kind, { name, roles: ["viewer"] }, 0)),
  );
  let text: string | undefined = JSON.stringify({ operators: [ana?.credential] });
  const operators = openCredentials(kind, {
    version: () => Promise.resolve(String(text)),
    text: () => text === undefined ? Promise.reject(new Error("is gone")) : Promise.resolve(text),
  }, () => 0);
  await using env = await openEnvironment({ operators });
  const statusOf = async (token = ""): Promise<number> => {
    const answer = await env.asOperator("/operations/requests", {
      headers: { authorization: `Bearer ${token}` },
    });
    await answer.body?.cancel();
    return answer.status;
  };
  assertEquals([await statusOf(ana?.token), await statusOf(luis?.token)], [200, 401]);
  const revoked = { ...ana?.credential, revoked_at: new Date(0).toISOString() };
  text = JSON.stringify({ operators: [revoked, luis?.credential] });
  assertEquals([await statusOf(ana?.token), await statusOf(luis?.token)], [401, 200]);
  text = JSON.stringify({ operators: [{ ...luis?.credential, roles: ["root"] }] });
  assertEquals(await statusOf(luis?.token), 503);
  text = undefined;
  assertEquals(await statusOf(luis?.token), 503);
});

Deno.test("an operator's token ends after 90 days, or as many as it was made for [OP20]", async () => {
  let now = Date.parse("2040-01-01T00:00:00.000Z");
  const made = await Promise.all([
    newCredential(OPERATORS, { name: "ana", roles: ["viewer"] }, now),
    newCredential(OPERATORS, { name: "luis", roles: ["viewer"], days: 1 }, now),
  ]);
  const text = JSON.stringify({ operators: made.map(({ credential }) => credential) });
  const file = { version: () => Promise.resolve(""), text: () => Promise.resolve(text) };
  const operators = openCredentials(OPERATORS, file, () => now);
  const inForce = async (): Promise<readonly (string | undefined)[]> =>
    await Promise.all(made.map(async ({ token }) => (await operators.identify(token)).name));
  assertEquals(await inForce(), ["ana", "luis"]);
  now += 86_400_000 - 1;
  assertEquals(await inForce(), ["ana", "luis"]);
  now += 1;
  assertEquals(await inForce(), ["ana", undefined]);
  now += 89 * 86_400_000;
  assertEquals(await inForce(), [undefined, undefined]);
});

Deno.test("a list with a token that has no end is rejected [OP20]", async () => {
  const { credential } = await newCredential(OPERATORS, { name: "ana", roles: ["viewer"] }, 0);
  const { expires_at: _, ...endless } = credential;
  assertThrows(
    () => readCredentials(OPERATORS, JSON.stringify({ operators: [endless] }), 0),
    Error,
    "look at: operators.0.expires_at",
  );
});
