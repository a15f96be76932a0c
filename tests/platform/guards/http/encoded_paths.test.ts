/** Percent-encoded characters in paths. */
import { assertEquals } from "@std/assert";
import { call, clientToken } from "testing/flows.ts";
import { test } from "support/environment_test.ts";

test("a hyphen behind the first segment may be percent-encoded, and nothing else of a fixed part [HD11, DP-N21]", async ({ env }) => {
  const bound = await clientToken(env, env.tpp);
  const statuses = await Promise.all(
    [
      "/BANKA/domestic-payments/v1",
      "/BANKA/domestic%2Dpayments/v1",
      "/BANKA/domestic%2dpayment%2Dconsents/v1",
      "/BANKA/domestic%2Fpayments/v1",
      "/BANKA/domestic%252Dpayments/v1",
      "/BANKA/%64omestic-payments/v1",
      "/BANKA/domestic-payments%2Fv1",
    ].map(async (path) => (await call(env, env.tpp, bound, path)).status),
  );
  assertEquals(statuses, [200, 200, 200, 404, 404, 404, 404]);
  const health = await env.browser(new Request("https://auth.platform.example/well%2Dknown/x"));
  assertEquals(health.status, 404, "the first segment is taken as it is sent");
});
