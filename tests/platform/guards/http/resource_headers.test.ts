/** The FAPI headers of resource calls (contract HD1 to HD10; Decision C10), caching, and the form of every rejection. */
import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { assertFaults, UUID } from "testing/resource_answers.ts";
import { resourceCalls } from "support/resource_calls.ts";
import { everyAnswer, ID } from "./every_answer.ts";
import { stepsOf } from "support/steps.ts";
import { test } from "support/environment_test.ts";
import { unchanged } from "testing/store_contents.ts";

test("every answer carries x-fapi-interaction-id: the caller's, or a fresh one [HDR-01]", async ({ env, t }) => {
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

test("a malformed x-fapi-interaction-id is rejected where all else is good, and never comes back [HDR-01]", async ({ env, t }) => {
  const junk = [
    "junk",
    "",
    "93bac548-d2de-4546-b106-880a5018460",
    "{93bac548-d2de-4546-b106-880a5018460d}",
    "<b>",
    "x".repeat(5000),
  ];
  for (const endpoint of await resourceCalls(env)) {
    await stepsOf(t, junk, (value) => `${endpoint.name}: ${value.slice(0, 40)}`, async (value) => {
      const response = await unchanged(env, () => endpoint.send({ headers: { [ID]: value } }));
      assertMatch(response.headers.get(ID) ?? "", UUID);
      const text = await response.clone().text();
      assert(value === "" || !text.includes(value));
      await assertFaults(response, 400, [["Header.Invalid", ID]]);
    });
  }
  for (const [name, status, send] of await everyAnswer(env)) {
    if (status < 400 || status === 403) continue;
    await t.step(`rejected for something else: ${status} ${name}`, async () => {
      assertMatch((await send("junk")).headers.get(ID) ?? "", UUID);
    });
  }
});

test("x-fapi-auth-date is an HTTP date or absent [HDR-02]", async ({ env, t }) => {
  const [, consent] = await resourceCalls(env);
  if (consent === undefined) throw new Error("endpoint is missing");
  const send = (value: string): Promise<Response> => consent.send({ headers: { "x-fapi-auth-date": value } });
  assertEquals((await send("Tuesday, 11-Sep-12 19:43:31 GMT")).status, 200);
  // other forms: tests/base/kernel/http_date.test.ts
  await stepsOf(t, ["today", "", "2012-09-11T19:43:31Z"], (value) => `rejects ${value}`, async (value) => {
    await assertFaults(await unchanged(env, () => send(value)), 400, [[
      "Header.Invalid",
      "x-fapi-auth-date",
    ]]);
  });
});

test("x-fapi-customer-ip-address is an IP address or absent [HDR-02]", async ({ env, t }) => {
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
  await stepsOf(t, bad, (value) => `rejects ${value}`, async (value) => {
    const response = await unchanged(env, () => send(value));
    await assertFaults(response, 400, [["Header.Invalid", "x-fapi-customer-ip-address"]]);
  });
});
