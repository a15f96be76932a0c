/** The constants of external parties agree with those that the platform enforces. */
import { assertEquals } from "@std/assert";
import * as limits from "../../../src/base/limits.ts";
import * as client from "../../../src/client/party/profile.ts";
import * as platform from "../../../src/base/profile.ts";

Deno.test("every constant of the client's profile has the platform's value", () => {
  const enforced: Readonly<Record<string, unknown>> = { ...limits, ...platform };
  for (const [name, value] of Object.entries(client)) assertEquals(value, enforced[name], name);
});
