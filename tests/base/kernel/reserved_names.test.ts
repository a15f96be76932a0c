/** Bank codes never collide with fixed paths of the platform or of the reference proxies. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { endpoint, listed } from "../../../src/platform/http/endpoint.ts";
import { asBankCode } from "../../../src/base/kernel/identifiers.ts";
import { openEnvironment } from "../../../scripts/testing/environment.ts";

Deno.test("no first segment of a route of either host can be a bank code, and every one with that form is reserved", async () => {
  await using env = await openEnvironment({
    environment: { OPERATOR_TOKEN: "an-operator-token-of-32-characters-x" },
  });
  const document = await (await env.browser(new Request("https://auth.platform.example/openapi.json")))
    .json();
  const listed = Object.keys(document.paths).map((path) => path.split("/")[1] ?? "");
  const hidden = ["assets", "problem", "docs", "operations"]; // not in the document
  const fixed = new Set([...listed, ...hidden].filter((segment) => !segment.startsWith("{")));
  for (const segment of fixed) assertEquals(asBankCode(segment), undefined, segment);
  for (const known of ["register", "jwks", "health", "openapi.json", ".well-known"]) {
    assert(fixed.has(known), known);
  }
});

Deno.test("a route cannot be mounted at a first segment that a bank could have as its code", () => {
  const at = (path: string): string => {
    const route = { method: "get", path, responses: { 200: { description: "" } } } as const;
    return listed(endpoint("oauth", "public", route, [], (c) => c.text(""))).path;
  };
  assertThrows(() => at("/reports/{id}"), Error, "reserve reports");
  assertEquals(at("/{bank}/reports"), "/:bank/reports");
  assertEquals(at("/health/new"), "/health/new");
});

Deno.test("no path that the reference proxies treat apart can be a bank's", async () => {
  const segments = new Set<string>();
  for (const name of ["nginx.conf", "haproxy.cfg"]) {
    const text = await Deno.readTextFile(new URL(`../../../scripts/proxy/${name}.template`, import.meta.url));
    for (const [, pattern = ""] of text.matchAll(/(?:location (?:[~=] )?|path -m reg )([\^/]\S+)/g)) {
      for (const name of pattern.replaceAll("\\.", ".").matchAll(/[A-Za-z_.-]{2,}/g)) segments.add(name[0]);
    }
  }
  for (const known of ["health", "operations", "docs", ".well-known"]) assert(segments.has(known), known);
  for (const segment of segments) assertEquals(asBankCode(segment), undefined, segment);
});

Deno.test("names of every object's members are no bank codes; codes that resemble reserved names are", () => {
  for (const name of ["__proto__", "constructor", "toString", "valueOf", "hasOwnProperty", "Docs", "JWKS"]) {
    assertEquals(asBankCode(name), undefined, name);
  }
  for (const name of ["HEALTHBANK", "docs1", "BANKA", "prototype-bank"]) {
    assertEquals<unknown>(asBankCode(name), name);
  }
});
