/** Bank codes never collide with fixed paths of the platform or of the reference proxies. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { endpoint, listed } from "../../../src/platform/guards/http/endpoint.ts";
import { asBankCode, FIRST_SEGMENTS } from "../../../src/base/kernel/identifiers.ts";
import { ZONES } from "../../../scripts/operators/proxy/render.ts";
import { test } from "support/environment_test.ts";

test("no reserved segment can be a bank code, and every one has a route", ({ env }) => {
  const routed = Object.values(env.platform.endpoints).flat()
    .map(({ path }) => path.split("/")[1] ?? "").filter((segment) => segment !== ":bank");
  assertEquals([...new Set(routed)].toSorted(), [...FIRST_SEGMENTS.keys()].toSorted());
  for (const segment of FIRST_SEGMENTS.keys()) assertEquals(asBankCode(segment), undefined, segment);
});

Deno.test("a route cannot be mounted at a first segment that a bank could have as its code", () => {
  const at = (path: string): string => {
    const route = { method: "get", path, responses: { 200: { description: "" } } } as const;
    return listed(endpoint("oauth", "public", route, [], (c) => c.text(""))).path;
  };
  assertThrows(() => at("/reports/{id}"), Error, "reserve reports");
  assertThrows(() => at("/health/new"), Error, "the proxies close");
  assertEquals(at("/{bank}/reports"), "/:bank/reports");
  assertEquals(at("/docs/new"), "/docs/new");
});

test("the proxies close the operator's routes, and have one zone for every other fixed path of the browser host", ({ env }) => {
  const { api, browser, operations } = env.platform.endpoints;
  const zonesOf = (path: string): string[] =>
    Object.entries(ZONES).filter(([, paths]) => RegExp(paths).test(path)).map(([name]) => name);
  for (const { path, traffic } of [...api, ...browser, ...operations]) {
    const zones = zonesOf(path);
    if (path.startsWith("/:bank") || path === "/problem" || /^\/(?:register|traces)\/v1/.test(path)) {
      assertEquals(zones, [], path);
    } else {
      assertEquals(zones.length, 1, path);
      assertEquals(zones[0] === "OPERATOR_PATHS", ["operator", "person", "probe"].includes(traffic), path);
    }
  }
  for (const code of ["healthy", "operationsbank", "docs1", "jwks2"]) assertEquals(zonesOf(`/${code}/x`), []);
});

Deno.test("the templates of the proxies name no path themselves", async () => {
  for (const name of ["nginx.conf", "haproxy.cfg"]) {
    const text = await Deno.readTextFile(
      new URL(`../../../scripts/operators/proxy/${name}.template`, import.meta.url),
    );
    for (const zone of Object.keys(ZONES)) assert(text.includes(`{{${zone}}}`), `${name}: ${zone}`);
    const named = [...text.matchAll(/(?:location ~|path -m reg) (\S+)/g)].map(([, paths = ""]) => paths);
    assertEquals(
      named.filter((paths) =>
        !/^(\{\{\w+_PATHS\}\}|\^\/\[\^\/\]\*%|\^\/\(\?:\{\{CELL_BANKS\}\}\)\/)$/.test(paths)
      ),
      [],
      name,
    );
  }
});

Deno.test("names of every object's members are no bank codes; codes that resemble reserved names are", () => {
  for (const name of ["__proto__", "constructor", "toString", "valueOf", "hasOwnProperty", "Docs", "JWKS"]) {
    assertEquals(asBankCode(name), undefined, name);
  }
  for (const name of ["HEALTHBANK", "docs1", "BANKA", "prototype-bank"]) {
    assertEquals<unknown>(asBankCode(name), name);
  }
});
