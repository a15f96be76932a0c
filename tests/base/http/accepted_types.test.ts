/** Content negotiation by `Accept`. */
import { assertEquals } from "@std/assert";
import { acceptsJson } from "../../../src/base/http/body.ts";

Deno.test("acceptsJson takes the most specific range, and q=0 as a refusal [HD9]", () => {
  const good = [
    undefined,
    "",
    " , ",
    "*",
    "text/html, image/gif, *; q=.2, */*; q=.2",
    "*/*",
    "application/*;q=0.1",
    "application/json",
    "APPLICATION/JSON; charset=utf-8; Q=0.001",
    "*/*;q=0, application/json",
    "application/*;q=0, application/json;q=1",
  ];
  for (const accept of good) assertEquals(acceptsJson(accept), true, accept);
  const bad = [
    "text/html",
    "application/json;q=0",
    "application/json;q=0.000, */*",
    "application/*;q=0, */*",
    "*/*;q=0",
    "*;q=0",
    "image/*, text/plain",
  ];
  for (const accept of bad) assertEquals(acceptsJson(accept), false, accept);
});
