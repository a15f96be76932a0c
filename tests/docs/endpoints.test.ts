/** The checks of the endpoints, as their declarations list them. */
import { assert, assertEquals } from "@std/assert";
import { CHECKS } from "../../src/platform/operations/traces/check_names.ts";
import { openEnvironment } from "testing/environment.ts";

Deno.test("the page of a trace has words for each check that a participant or a customer meets [TRC12]", async () => {
  await using env = await openEnvironment();
  const { api, browser } = env.platform.endpoints;
  const names = new Set([...api, ...browser].flatMap(({ checks }) => checks));
  assertEquals([...names].filter((name) => name !== "prefetch" && !Object.hasOwn(CHECKS, name)), []);
  assertEquals(Object.keys(CHECKS).filter((name) => !names.has(name)), []);
});

/** Cheap checks before dear ones; what is verified before what is parsed. Endpoints have some of them. */
const ORDER = [
  "certificate",
  "rateLimit",
  "prefetch",
  "bank",
  "accessToken",
  "bankItself",
  "fapiHeaders",
  "sealedBody",
  "jsonBody",
  "payloadSignature",
  "strictJson",
  "idempotency",
  "activeBank",
  "decode",
];

Deno.test("the checks of every resource endpoint have one order, from the certificate to the decoding", async () => {
  await using env = await openEnvironment();
  const resources = env.platform.endpoints.api.filter(({ surface }) => surface === "resource");
  assert(resources.length > 10);
  for (const { method, path, checks } of resources) {
    assertEquals(checks, ORDER.filter((name) => checks.includes(name)), `${method} ${path}`);
    const ofBank = path.startsWith("/:bank/") ? ["bank"] : [];
    for (const name of ["certificate", "rateLimit", ...ofBank, "accessToken", "fapiHeaders"]) {
      assert(checks.includes(name), `${method} ${path} lacks ${name}`);
    }
    const hasBody = method === "POST" || method === "PUT";
    const isSigned = hasBody && !/^\/:bank\/((back-channel-)?events|authorization-results)\/v1/.test(path); // contract EVT3, EVT15, EVT19, ARS1
    assertEquals(checks.includes("payloadSignature"), isSigned, `${method} ${path}`);
  }
});
