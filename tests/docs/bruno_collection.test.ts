/** The Bruno collection in `examples/bruno` is that of the platform's OpenAPI document. */
import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { brunoRequests } from "../../scripts/collections/bruno.ts";
import { currentRequests, writtenRequests } from "../../scripts/collections/main.ts";

Deno.test("examples/bruno is current: if this fails, run `deno task collections`", async () => {
  assertEquals(await writtenRequests(), await currentRequests());
});

Deno.test("examples/bruno has no operation of banks, browsers and operators, and all others", async () => {
  const names = Object.keys(await currentRequests());
  assertEquals(names.filter((name) => /backChannel|PaymentOrder|getLiveness|returnFromBank/i.test(name)), []);
  assertEquals(names.filter((name) => name.startsWith("payment/")).length, 17);
  assertMatch(names.join("\n"), /^more\/listDomesticPaymentConsents\.bru$/m);
});

Deno.test("a step whose operation is gone is a fault", () => {
  const hosts = { base_url: "https://api", auth_url: "https://auth" };
  assertThrows(
    () => brunoRequests({ paths: {}, components: { schemas: {} } }, hosts),
    Error,
    "no operation getAuthorizationServerMetadata",
  );
});
