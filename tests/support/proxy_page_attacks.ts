/** How each reference proxy serves documentation, discovery and customers' pages. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { type EchoSite, testSite } from "./echo_site.ts";
import { API_HOST, AUTH_HOST, type ProxyUnderTest } from "./proxy_program.ts";

/** Registers the tests. */
export function pageAttacks(proxy: ProxyUnderTest): void {
  const test = testSite(proxy);

  test("slows down who floods the documentation, and nobody else at that address", async ({ site }) => {
    const statuses = async (path: string): Promise<Set<string>> => {
      const { text } = await site.send(get(path, "keep-alive").repeat(99) + get(path), undefined);
      return new Set([...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status = ""]) => status));
    };
    for (const path of ["/docs", "/docs/nothing", "/openapi.json", "/docs?q=x", "/"]) await statuses(path);
    const documentation = site.received.length;
    assert(documentation >= 40 && documentation < 140, `${documentation} of 500 reached the platform`);
    assert((await statuses("/docs")).has("429"));
    for (
      const path of ["/BANKA/authorization.oauth2", "/jwks", "/.well-known/x/BANKA", "/assets/platform.css"]
    ) {
      assertEquals((await site.send(get(path), undefined)).status, 200, path);
    }
    for (const path of ["/jwks", "/assets/platform.css", "/.well-known/x/BANKA"]) await statuses(path);
    assert((await statuses("/jwks")).has("429"));
    assertEquals((await site.send(get("/BANKA/authorization.oauth2"), undefined)).status, 200);
  });

  test("leads no spelling of a path to health or operations", async ({ site }) => {
    const paths = [
      "/health",
      "/health/live",
      "/%68ealth/live",
      "/healt%68/ready",
      "/%6F%70erations/payment-orders",
      "/operations",
      "http://x/health/live",
    ];
    for (const path of paths) {
      for (const [who, host] of [[site.alice, API_HOST], [undefined, AUTH_HOST]] as const) {
        const { status } = await site.send(get(path, "close", [], host), who);
        assert([400, 404, 421].includes(status), `${path} at ${host}: ${status}`);
      }
    }
    assertEquals(site.received.map(({ path }) => path), []);
  });

  test("compresses what is the same for everybody, and no page that can hold a secret", async ({ site }) => {
    const coding = async (path: string, who?: EchoSite["alice"]): Promise<string | undefined> => {
      const long = `${path}?${"x".repeat(3000)}`; // which the answer repeats
      const host = who === undefined ? AUTH_HOST : API_HOST;
      const { status, text } = await site.send(get(long, "close", ["Accept-Encoding: gzip"], host), who);
      assertEquals(status, 200, path);
      return /^content-encoding: (\w+)\r?$/im.exec(text.split("\r\n\r\n")[0] ?? "")?.[1];
    };
    for (const path of ["/docs", "/openapi.json", "/jwks", "/assets/platform.css"]) {
      assertEquals(await coding(path), "gzip", path);
    }
    for (const path of ["/BANKA/authorization.oauth2", "/BANKA/consent/1"]) {
      assertEquals(await coding(path), undefined);
    }
    assertEquals(await coding("/BANKA/domestic-payments/v1", site.alice), undefined);
  });

  test("logs the address of each client", async ({ site }) => {
    await site.send(get("/jwks"), undefined);
    await site.send(get("/BANKA/domestic-payments/v1", "close", [], API_HOST), site.alice);
    for (let attempt = 0; attempt < 100; attempt++) {
      const lines = (await site.log()).split("\n").filter((line) => line.includes('"method"'));
      if (lines.length >= 2) return lines.forEach((line) => assertMatch(line, /"client":"127\.0\.0\.1"/));
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error("the requests are not in the log");
  });
}

function get(path: string, connection = "close", fields: readonly string[] = [], host = AUTH_HOST): string {
  return [`GET ${path} HTTP/1.1`, `Host: ${host}`, `Connection: ${connection}`, ...fields, "", ""].join(
    "\r\n",
  );
}
