import { assertEquals } from "@std/assert";
import { readConfig } from "../../../src/platform/config.ts";
import { paid } from "support/orders.ts";
import { AUTH_URL, BASE_URL, openEnvironment } from "testing/environment.ts";
import { steps } from "support/steps.ts";
import { bearer, giveUp, LIST, openOperated, operate, redriveOf, TOKEN } from "./operated.ts";

const rejectedTokens: Record<string, Record<string, string>> = {
  "no token": {},
  "another token": { authorization: `Bearer ${TOKEN.replace("an", "on")}` },
  "a shorter token": { authorization: `Bearer ${TOKEN.slice(0, -1)}` },
  "a longer token": { authorization: `Bearer ${TOKEN}0` },
  "an empty token": { authorization: "Bearer " },
  "the token without its scheme": { authorization: TOKEN },
  "another scheme": { authorization: `DPoP ${TOKEN}` },
  "basic authentication": { authorization: `Basic ${btoa(`operator:${TOKEN}`)}` },
  "the token twice": { authorization: `Bearer ${TOKEN}, Bearer ${TOKEN}` },
};

Deno.test("The operator's routes reject everyone without the token, in one way", async (t) => {
  await using env = await openOperated();
  const { DomesticPaymentId: id } = await paid(env);
  await giveUp(env);
  const before = await env.snapshot();
  await steps(t, rejectedTokens, async (headers) => {
    for (const path of [LIST, redriveOf(id)]) {
      const answer = await operate(env, path, headers);
      assertEquals([answer.status, answer.headers.get("www-authenticate")], [401, "Bearer"]);
      assertEquals(await answer.json(), {
        error: "unauthorized",
        error_description: "The operator token is missing or wrong.",
      });
    }
    assertEquals(await env.snapshot(), before);
  });
});

Deno.test("The operator's routes reject what they do not understand with 400", async () => {
  await using env = await openOperated();
  for (const query of ["", "?state=alive", "?state=", "?state=dead&after=x"]) {
    const answer = await operate(env, `/operations/payment-orders${query}`);
    assertEquals([answer.status, (await answer.json()).error], [400, "invalid_request"], query);
  }
  const named = await operate(env, LIST, { ...bearer, "x-operator": "a b" });
  assertEquals([named.status, (await named.json()).error], [400, "invalid_request"]);
  const deleted = await env.api(new Request(`${BASE_URL}${LIST}`, { method: "DELETE", headers: bearer }));
  assertEquals([deleted.status, deleted.headers.get("allow")], [405, "GET"]);
});

Deno.test("Without OPERATOR_TOKEN there is nothing at the operator's addresses, on either host", async () => {
  await using env = await openEnvironment();
  for (const [method, path] of [["GET", LIST], ["POST", redriveOf(crypto.randomUUID())], ["DELETE", LIST]]) {
    for (const headers of [{}, bearer, { authorization: "Bearer undefined" }, { authorization: "Bearer " }]) {
      const answer = await env.api(new Request(`${BASE_URL}${path}`, { method: method ?? "", headers }));
      assertEquals(answer.status, 404);
      await answer.body?.cancel();
    }
    const atBrowserHost = await env.browser(new Request(`${AUTH_URL}${path}`, { method: method ?? "" }));
    assertEquals(atBrowserHost.status, 404);
    await atBrowserHost.body?.cancel();
  }
});

Deno.test("The operator's routes are no part of the published API document", async () => {
  await using env = await openOperated();
  const document = await (await env.browser(new Request(`${AUTH_URL}/openapi.json`))).json();
  assertEquals(Object.keys(document.paths).filter((path) => path.includes("operations")), []);
});

Deno.test("OPERATOR_TOKEN must be long and random, or absent", async () => {
  await using env = await openEnvironment();
  assertEquals(env.config.operatorToken, undefined);
  for (const token of ["short", "a".repeat(40), "has a space in it 0123456789abcdefghijkl"]) {
    let fault = "";
    try {
      readConfig({ OPERATOR_TOKEN: token });
    } catch (error) {
      fault = error instanceof Error ? error.message : "";
    }
    assertEquals([fault.includes("OPERATOR_TOKEN: must"), fault.includes(token)], [true, false]);
  }
});
