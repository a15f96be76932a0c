/** HEAD of the public endpoints of the browser host. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import type { MountedEndpoint } from "../../../../src/platform/guards/http/endpoint.ts";
import { test } from "support/environment_test.ts";

test("HEAD of everything that anyone may read answers like GET without content, and nothing else takes it [MD13]", async ({ env, t }) => {
  const open = (path: string, method = "GET"): Promise<Response> =>
    env.browser(new Request(`https://auth.platform.example${path}`, { method, redirect: "manual" }));
  const isOpen = ({ method, path, traffic }: MountedEndpoint): boolean =>
    method === "GET" && (traffic === "public" || traffic === "probe" || path === "/health/ready");
  const values: Readonly<Record<string, string>> = { ":bank": "BANKA", ":part": "consents" };
  const mounted = env.platform.endpoints.browser;
  assertEquals(mounted.filter(isOpen).length >= 12, true);
  for (const { path, method, ...endpoint } of mounted) {
    if (mounted.some((other) => other.path === path && other.method === "GET") && method !== "GET") continue;
    const address = path.replaceAll(/:\w+/g, (name) => values[name] ?? name);
    await t.step(`${method} ${path}`, async () => {
      const head = await open(address, "HEAD");
      assertEquals(await head.text(), "");
      if (!isOpen({ path, method, ...endpoint })) {
        assertEquals([head.status, head.headers.get("allow")?.includes("HEAD")], [405, false]);
        return;
      }
      const get = await open(address);
      await get.body?.cancel();
      const told = ({ status, headers }: Response): unknown => [
        status,
        ...["content-type", "etag", "cache-control", "location"].map((name) => headers.get(name)),
      ];
      assertEquals(told(head), told(get));
      const other = await open(address, "DELETE");
      await other.body?.cancel();
      assertStringIncludes(other.headers.get("allow") ?? "", "GET, HEAD");
    });
  }
});
