/** Where the platform may fetch keys from, and how it asks (Decision A9; contract DC4). */
import { assertEquals } from "@std/assert";
import { guardedFetch, isAllowedUrl } from "../../../../src/platform/core/participants/guarded_fetch.ts";

const HOSTS = ["directory.example", "keys.example:8443", "localhost:8442", "127.0.0.1:8442", "[::1]:8442"];
const PRODUCTION = { allowedHosts: HOSTS, loopbackHttp: false };
const SANDBOX = { allowedHosts: HOSTS, loopbackHttp: true };

Deno.test("isAllowedUrl allows https to the listed hosts and ports [A9]", () => {
  for (
    const url of [
      "https://directory.example/jwks",
      "https://directory.example:443/jwks",
      "https://DIRECTORY.example/jwks?a=1",
      "https://keys.example:8443/participants/x/jwks",
    ]
  ) assertEquals([url, isAllowedUrl(PRODUCTION, url)], [url, true]);
});

Deno.test("isAllowedUrl rejects every other host, port, scheme and spelling [A9] [DC4]", () => {
  for (
    const url of [
      "https://evil.example/jwks",
      "https://directory.example.evil.example/jwks",
      "https://sub.directory.example/jwks",
      "https://directory.example.:443/jwks",
      "https://directory.example:8443/jwks",
      "https://keys.example/jwks",
      "https://directory.example@evil.example/jwks",
      "https://user@directory.example/jwks",
      "https://:secret@directory.example/jwks",
      "https://directory.example\\@evil.example/jwks",
      "https://169.254.169.254/latest/meta-data",
      "https://[fd00:ec2::254]/latest",
      "http://directory.example/jwks",
      "ftp://directory.example/jwks",
      "file:///etc/passwd",
      "data:application/json,{}",
      "blob:https://directory.example/1",
      "javascript:1",
      "//directory.example/jwks",
      "/jwks",
      "",
    ]
  ) {
    // "\" is "/" in an https URL, so that one does name the directory; what matters is that both readers agree.
    const expected = url === "https://directory.example\\@evil.example/jwks";
    assertEquals([url, isAllowedUrl(PRODUCTION, url)], [url, expected]);
    assertEquals([url, isAllowedUrl(SANDBOX, url)], [url, expected]);
  }
});

Deno.test("isAllowedUrl allows http in the sandbox only, and there on this computer only [A9]", () => {
  for (const host of ["localhost:8442", "127.0.0.1:8442", "[::1]:8442"]) {
    assertEquals([isAllowedUrl(PRODUCTION, `http://${host}/jwks`)], [false]);
    assertEquals([isAllowedUrl(SANDBOX, `http://${host}/jwks`)], [true]);
  }
  for (const host of ["localhost", "localhost:8443", "127.0.0.2:8442", "directory.example", "0.0.0.0:8442"]) {
    assertEquals([host, isAllowedUrl(SANDBOX, `http://${host}/jwks`)], [host, false]);
  }
});

Deno.test("guardedFetch sends nothing to a URL that is not allowed [A9]", async () => {
  const asked: string[] = [];
  const fetchJson = guardedFetch({
    ...PRODUCTION,
    fetch: (input): Promise<Response> => {
      asked.push(String(input));
      return Promise.resolve(Response.json({}));
    },
  });
  assertEquals(await fetchJson("http://localhost:8442/jwks"), {
    ok: false,
    fault: { why: "url not allowed" },
  });
  assertEquals(asked, []);
  assertEquals(await fetchJson("https://directory.example/jwks"), { ok: true, value: {} });
  assertEquals(asked, ["https://directory.example/jwks"]);
});

Deno.test("guardedFetch asks without credentials, for JSON, and follows no redirect [A9]", async () => {
  const requests: Request[] = [];
  const fetchJson = guardedFetch({
    ...PRODUCTION,
    fetch: (input, init): Promise<Response> => {
      requests.push(new Request(input, init));
      return Promise.resolve(
        new Response(null, { status: 302, headers: { location: "https://directory.example/other" } }),
      );
    },
  });
  assertEquals(await fetchJson("https://directory.example/jwks"), {
    ok: false,
    fault: { why: "status 302" },
  });
  const [request] = requests;
  assertEquals(requests.length, 1);
  assertEquals([request?.method, request?.redirect], ["GET", "manual"]);
  assertEquals([...request?.headers ?? []], [["accept", "application/json"]]);
});
