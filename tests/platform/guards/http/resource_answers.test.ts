import { assert, assertEquals } from "@std/assert";
import { call, clientToken, consentBody } from "testing/flows.ts";
import { assertCommonHeaders, assertFaults, errorBody } from "testing/resource_answers.ts";
import { CONSENTS, resourceCalls } from "support/resource_calls.ts";
import { test } from "support/environment_test.ts";
import { BASE_URL } from "testing/environment.ts";
import { everyAnswer, ID } from "./every_answer.ts";
import { unchanged } from "testing/store_contents.ts";

test("one rejection names both FAPI headers where both are malformed [HDR-02] [C10]", async ({ env }) => {
  const [, consent] = await resourceCalls(env);
  const headers = { "x-fapi-auth-date": "today", "x-fapi-customer-ip-address": "here" };
  const response = await unchanged(env, () => consent?.send({ headers }) ?? Promise.reject());
  await assertFaults(response, 400, [
    ["Header.Invalid", "x-fapi-auth-date"],
    ["Header.Invalid", "x-fapi-customer-ip-address"],
  ]);
});

test("the FAPI headers are looked at by every resource endpoint, and x-fapi-financial-id by none [HDR-02]", async ({ env, t }) => {
  for (const endpoint of await resourceCalls(env)) {
    for (const name of ["x-fapi-auth-date", "x-fapi-customer-ip-address"]) {
      await t.step(`${endpoint.name}: ${name}`, async () => {
        const response = await unchanged(env, () => endpoint.send({ headers: { [name]: "rubbish" } }));
        await assertFaults(response, 400, [["Header.Invalid", name]]);
      });
    }
    await t.step(`${endpoint.name}: good ones, a user agent and any financial id`, async () => {
      const headers = {
        "x-fapi-auth-date": "Tue, 11 Sep 2012 19:43:31 GMT",
        "x-fapi-customer-ip-address": "2001:db8::1",
        "x-fapi-financial-id": "any thing, really",
        "x-customer-user-agent": "Mozilla/5.0",
      };
      assertEquals((await endpoint.send({ headers })).status, endpoint.status);
    });
  }
});

test("no answer of a resource endpoint may be cached or sniffed [RG-N15]", async ({ env, t }) => {
  for (const [name, status, send] of await everyAnswer(env)) {
    await t.step(`${status} ${name}`, async () => {
      const response = await send();
      assertEquals(response.status, status);
      assertCommonHeaders(response);
      assertEquals(response.headers.get("access-control-allow-origin"), null);
    });
  }
});

const ERRORS = "https://auth.platform.example/docs/errors#";
const REASONS: Readonly<Record<string, string>> = {
  "bad field": "resource-invalid-fields",
  "no signature": "signature-missing",
  "unknown consent": "resource-not-found",
  "bad JSON": "resource-invalid-format",
  "wrong grant": "token-insufficient-scope",
  "too large": "request-too-large",
  "wrong type": "request-unsupported-media-type",
};

test("every rejection with a body is an OBErrorResponse1 with an Id of its own [ERR-01]", async ({ env, t }) => {
  const ids: string[] = [];
  for (const [name, status, send] of await everyAnswer(env)) {
    if (![400, 403, 413, 415].includes(status)) continue;
    await t.step(`${status} ${name}`, async () => {
      for (let time = 0; time < 2; time++) {
        const { Id, Errors } = await errorBody(await send(), status);
        ids.push(Id);
        assertEquals([...new Set(Errors.map(({ Url }) => Url))], [`${ERRORS}${REASONS[name]}`]);
      }
    });
  }
  await t.step("all Ids differ", () => assertEquals(new Set(ids).size, ids.length));
});

test("a failure of the platform itself is a 500 without words about it, and nothing is kept [ERR-01]", async ({ env }) => {
  const token = await clientToken(env, env.tpp);
  const { commit } = env.store;
  env.store.commit = () => Promise.reject(new Error("disk on fire at /var/lib/platform.kv"));
  const response = await call(env, env.tpp, token, CONSENTS, {
    body: JSON.stringify(consentBody()),
    idempotencyKey: "k",
  });
  const body = await errorBody(response, 500);
  assertEquals(body.Errors.map(({ ErrorCode }: { ErrorCode: string }) => ErrorCode), [
    "UK.OBIE.UnexpectedError",
  ]);
  assert(!JSON.stringify(body).includes("fire"));
  assert(
    env.logged.some((line) =>
      line.includes("disk on fire") && line.includes(response.headers.get(ID) ?? "-")
    ),
  );
  env.store.commit = commit;
  const retry = await call(env, env.tpp, token, CONSENTS, {
    body: JSON.stringify(consentBody()),
    idempotencyKey: "k",
  });
  assertEquals(retry.status, 201, await retry.text());
});

test("what a rejection says never repeats what was sent [ERR-01]", async ({ env }) => {
  const token = await clientToken(env, env.tpp);
  const secret = "S3cr3t-V4lue";
  const body = JSON.stringify({
    Data: { [`${secret} <b>`]: secret, Initiation: { CreditorAccount: secret } },
    Risk: secret,
  });
  const response = await call(env, env.tpp, token, CONSENTS, {
    body,
    headers: { host: new URL(BASE_URL).host },
  });
  assert(!(await response.clone().text()).includes(secret));
  await errorBody(response, 400);
});
