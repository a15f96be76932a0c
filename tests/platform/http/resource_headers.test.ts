/** The FAPI headers of resource calls (contract HD1 to HD10; Decision C10), caching, and the form of every rejection. */
import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { call, clientToken, consentBody, pay } from "testing/flows.ts";
import { authorised } from "testing/authorization_flow.ts";
import { assertCommonHeaders, assertFaults, errorBody, unchanged, UUID } from "testing/resource_answers.ts";
import { CONSENTS, PAYMENTS, resourceCalls } from "support/resource_calls.ts";
import { BASE_URL, type Environment, openEnvironment } from "testing/environment.ts";

const ID = "x-fapi-interaction-id";

/** One request for each way in which a resource endpoint can answer, by status. */
async function everyAnswer(
  env: Environment,
): Promise<readonly (readonly [string, number, (id?: string) => Promise<Response>])[]> {
  const { bound, payment, consentId } = await authorised(env);
  const made = await (await pay(env, await authorised(env))).json();
  const body = JSON.stringify(consentBody());
  const to =
    (path: string, options: Parameters<typeof call>[4] = {}, token = bound) =>
    (id?: string): Promise<Response> =>
      call(env, env.tpp, token, path, {
        ...options,
        headers: { ...options.headers, ...(id === undefined ? {} : { [ID]: id }) },
      });
  return [
    ["POST consent", 201, to(CONSENTS, { body })],
    ["GET consent", 200, to(`${CONSENTS}/${consentId}`)],
    ["GET funds", 200, to(`${CONSENTS}/${consentId}/funds-confirmation`)],
    ["GET payment", 200, to(`${PAYMENTS}/${made.Data.DomesticPaymentId}`)],
    ["idempotent replay", 201, to(CONSENTS, { body, idempotencyKey: "again" })],
    ["bad field", 400, to(CONSENTS, { body: "{}" })],
    ["no signature", 400, to(CONSENTS, { body, signature: null })],
    ["unknown consent", 400, to(`${CONSENTS}/${crypto.randomUUID()}`)],
    ["bad JSON", 400, to(CONSENTS, { body: "{" })],
    ["no token", 401, to(CONSENTS, { body, headers: { authorization: undefined } })],
    ["no proof", 401, to(`${CONSENTS}/${consentId}`, { proof: null })],
    ["no certificate", 401, to(CONSENTS, { body, as: null })],
    ["wrong grant", 403, to(CONSENTS, { body }, payment)],
    ["unknown bank", 404, to("/BANKC/domestic-payments/v1", { body })],
    ["unknown version", 404, to("/BANKA/domestic-payments/v2", { body })],
    ["wrong method", 405, to(CONSENTS, { body, method: "PATCH" })],
    ["wrong Accept", 406, to(CONSENTS, { body, headers: { accept: "text/html" } })],
    ["too large", 413, to(CONSENTS, { body: body.padEnd(70_000) })],
    ["wrong type", 415, to(CONSENTS, { body, headers: { "content-type": "text/plain" } })],
  ];
}

Deno.test("every answer carries x-fapi-interaction-id: the caller's, or a fresh one [HDR-01]", async (t) => {
  await using env = await openEnvironment();
  for (const [name, status, send] of await everyAnswer(env)) {
    await t.step(`${status} ${name}`, async () => {
      const mine = "93BAC548-D2DE-4546-B106-880A5018460D";
      const echoed = await send(mine);
      assertEquals([echoed.status, echoed.headers.get(ID)], [status, mine]);
      const [one, other] = [await send(), await send()];
      assertMatch(one.headers.get(ID) ?? "", UUID);
      assertNotEquals(one.headers.get(ID), other.headers.get(ID));
    });
  }
});

Deno.test("a malformed x-fapi-interaction-id is rejected where all else is good, and never comes back [HDR-01]", async (t) => {
  await using env = await openEnvironment();
  const junk = [
    "junk",
    "",
    "93bac548-d2de-4546-b106-880a5018460",
    "{93bac548-d2de-4546-b106-880a5018460d}",
    "<b>",
    "x".repeat(5000),
  ];
  for (const endpoint of await resourceCalls(env)) {
    for (const value of junk) {
      await t.step(`${endpoint.name}: ${value.slice(0, 40)}`, async () => {
        const response = await unchanged(env, () => endpoint.send({ headers: { [ID]: value } }));
        assertMatch(response.headers.get(ID) ?? "", UUID);
        const text = await response.clone().text();
        assert(value === "" || !text.includes(value));
        await assertFaults(response, 400, [["Header.Invalid", ID]]);
      });
    }
  }
  for (const [name, status, send] of await everyAnswer(env)) {
    if (status < 400 || status === 403) continue;
    await t.step(`rejected for something else: ${status} ${name}`, async () => {
      assertMatch((await send("junk")).headers.get(ID) ?? "", UUID);
    });
  }
});

Deno.test("x-fapi-auth-date is an HTTP date or absent [HDR-02]", async (t) => {
  await using env = await openEnvironment();
  const [, consent] = await resourceCalls(env);
  if (consent === undefined) throw new Error("endpoint is missing");
  const send = (value: string): Promise<Response> => consent.send({ headers: { "x-fapi-auth-date": value } });
  for (
    const good of [
      "Tue, 11 Sep 2012 19:43:31 GMT",
      "Sun, 15 Jan 2040 11:59:59 UTC",
      "Thu, 29 Feb 2024 00:00:00 GMT",
    ]
  ) {
    await t.step(`takes ${good}`, async () => assertEquals((await send(good)).status, 200));
  }
  const bad = [
    "today",
    "",
    "2012-09-11T19:43:31Z",
    "Tue, 11 Sep 2012 19:43:31 +0100",
    "Tue, 11 Sep 2012 19:43:31",
    "Tue, 1 Sep 2012 19:43:31 GMT",
    "tue, 11 sep 2012 19:43:31 gmt",
    "Tuesday, 11-Sep-12 19:43:31 GMT",
    "Tue, 31 Feb 2012 19:43:31 GMT",
    "Tue, 00 Sep 2012 19:43:31 GMT",
    "Tue, 11 Sep 2012 24:43:31 GMT",
    "Tue, 11 Sep 2012 19:60:31 GMT",
  ];
  for (const value of bad) {
    await t.step(`rejects ${value}`, async () => {
      await assertFaults(await unchanged(env, () => send(value)), 400, [[
        "Header.Invalid",
        "x-fapi-auth-date",
      ]]);
    });
  }
});

Deno.test("x-fapi-customer-ip-address is an IP address or absent [HDR-02]", async (t) => {
  await using env = await openEnvironment();
  const [, consent] = await resourceCalls(env);
  if (consent === undefined) throw new Error("endpoint is missing");
  const send = (value: string): Promise<Response> =>
    consent.send({ headers: { "x-fapi-customer-ip-address": value } });
  const good = [
    "0.0.0.0",
    "192.0.2.255",
    "2001:db8::1",
    "::",
    "2001:DB8:0:0:8:800:200C:417A",
    "::ffff:192.0.2.1",
  ];
  for (const value of good) {
    await t.step(`takes ${value}`, async () => assertEquals((await send(value)).status, 200));
  }
  const bad = [
    "",
    "localhost",
    "192.0.2",
    "192.0.2.256",
    "192.0.2.1.1",
    "192.0.2.01",
    "192.0.2.1:80",
    "192.0.2.1, 192.0.2.2",
    "192.0.2.0/24",
    "2001:db8::1::2",
    "2001:db8::g",
    "[2001:db8::1]",
    "fe80::1%eth0",
    "::1]/?:",
    "::1]:80/x",
    "::ffff:192.0.2.256",
  ];
  for (const value of bad) {
    await t.step(`rejects ${value}`, async () => {
      const response = await unchanged(env, () => send(value));
      await assertFaults(response, 400, [["Header.Invalid", "x-fapi-customer-ip-address"]]);
    });
  }
});

Deno.test("one rejection names both FAPI headers where both are malformed [HDR-02] [C10]", async () => {
  await using env = await openEnvironment();
  const [, consent] = await resourceCalls(env);
  const headers = { "x-fapi-auth-date": "today", "x-fapi-customer-ip-address": "here" };
  const response = await unchanged(env, () => consent?.send({ headers }) ?? Promise.reject());
  await assertFaults(response, 400, [
    ["Header.Invalid", "x-fapi-auth-date"],
    ["Header.Invalid", "x-fapi-customer-ip-address"],
  ]);
});

Deno.test("the FAPI headers are looked at by every resource endpoint, and x-fapi-financial-id by none [HDR-02]", async (t) => {
  await using env = await openEnvironment();
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

Deno.test("no answer of a resource endpoint may be cached or sniffed [RG-N15]", async (t) => {
  await using env = await openEnvironment();
  for (const [name, status, send] of await everyAnswer(env)) {
    await t.step(`${status} ${name}`, async () => {
      const response = await send();
      assertEquals(response.status, status);
      assertCommonHeaders(response);
      assertEquals(response.headers.get("access-control-allow-origin"), null);
    });
  }
});

Deno.test("every rejection with a body is an OBErrorResponse1 with an Id of its own [ERR-01]", async (t) => {
  await using env = await openEnvironment();
  const ids: string[] = [];
  for (const [name, status, send] of await everyAnswer(env)) {
    if (![400, 403, 413, 415].includes(status)) continue;
    await t.step(`${status} ${name}`, async () => {
      for (let time = 0; time < 2; time++) ids.push((await errorBody(await send(), status)).Id);
    });
  }
  await t.step("all Ids differ", () => assertEquals(new Set(ids).size, ids.length));
});

Deno.test("a failure of the platform itself is a 500 without words about it, and nothing is kept [ERR-01]", async () => {
  await using env = await openEnvironment();
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

Deno.test("what a rejection says never repeats what was sent [ERR-01]", async () => {
  await using env = await openEnvironment();
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
