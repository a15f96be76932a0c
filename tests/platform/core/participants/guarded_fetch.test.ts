/** Where the platform may fetch keys from, and how it asks (Decision A9; contract DC4). */
import { assertEquals } from "@std/assert";
import {
  conditionalFetch,
  fetchStatement,
  guardedFetch,
  isAllowedUrl,
  keysOf,
} from "../../../../src/platform/core/participants/guarded_fetch.ts";

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
    assertEquals([isAllowedUrl(SANDBOX, `ftp://${host}/jwks`)], [false]);
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

Deno.test("a document is read up to its limit, and an answer of another status is ended unread [A9]", async () => {
  const url = "https://directory.example/jwks";
  let cancelled = 0;
  const unread = (): ReadableStream => new ReadableStream({ cancel: () => void cancelled++ });
  const answers: Readonly<Record<string, () => Response>> = {
    "of 10 bytes": () => new Response('{"a":"bc"}', { headers: { etag: '"1"' } }),
    "of 11 bytes": () => new Response('{"a":"bcd"}'),
    "without a tag": () => new Response("[]"),
    "no JSON": () => new Response("[1,"),
    "no UTF-8": () => new Response(new Uint8Array([34, 255, 34])),
    "304": () => new Response(null, { status: 304 }),
    "201": () => new Response(unread(), { status: 201 }),
    "500": () => new Response(unread(), { status: 500 }),
    "none": () => {
      throw new TypeError("refused");
    },
    "a fault": () => {
      throw "refused";
    },
  };
  const fetched: Record<string, unknown> = {};
  for (const [name, answer] of Object.entries(answers)) {
    const headers: unknown[] = [];
    const ask = conditionalFetch({
      ...PRODUCTION,
      fetch: (_input, init) => {
        headers.push(init?.headers);
        return Promise.resolve().then(answer);
      },
    });
    const found = [];
    for (const etag of [undefined, '"1"']) {
      const result = await ask(url, { etag, maxBytes: 10 });
      found.push(result.ok ? result.value : result.fault.why);
    }
    assertEquals(headers, [{ accept: "application/json" }, {
      accept: "application/json",
      "if-none-match": '"1"',
    }]);
    fetched[name] = found;
  }
  const twice = (one: unknown): readonly unknown[] => [one, one];
  assertEquals(fetched, {
    "of 10 bytes": twice({ unchanged: false, value: { a: "bc" }, etag: '"1"' }),
    "of 11 bytes": twice("too large, or not UTF-8"),
    "without a tag": twice({ unchanged: false, value: [], etag: undefined }),
    "no JSON": twice("is not one JSON value"),
    "no UTF-8": twice("too large, or not UTF-8"),
    "304": ["status 304", { unchanged: true }],
    "201": twice("status 201"),
    "500": twice("status 500"),
    "none": twice("TypeError"),
    "a fault": twice("failed"),
  });
  assertEquals(cancelled, 4);
});

Deno.test("a key set has up to 256 KiB, and a statement is the text of its member [A9]", async () => {
  const [url, urls]: [string, string[]] = ["https://directory.example", []];
  const of = (body: string) =>
    guardedFetch({
      ...PRODUCTION,
      fetch: (input) => Promise.resolve(new Response((urls.push(String(input)), body))),
    });
  const read = async (length: number): Promise<boolean> => (await of("[]".padEnd(length))(url)).ok;
  assertEquals([await read(262_144), await read(262_145)], [true, false]);
  urls.length = 0;
  const statements = [];
  for (const document of [{ software_statement: "a.b.c" }, { software_statement: 5 }, {}, null, "text"]) {
    const found = await fetchStatement(of(JSON.stringify(document)), url, "SHOP");
    statements.push(found.ok ? [found.value] : found.fault.why);
  }
  assertEquals(statements, [["a.b.c"], ...Array(4).fill("no statement")]);
  assertEquals(new Set(urls), new Set([`${url}/participants/SHOP/statement`]));
  const failed = await fetchStatement(of("["), url, "SHOP");
  assertEquals(!failed.ok && failed.fault.why, "is not one JSON value");
  const sets = [{ keys: [1] }, { keys: {} }, {}, null, "keys"].map(keysOf);
  assertEquals(sets.map((set) => set.ok ? set.value : set.fault.why), [[1], ...Array(4).fill("no key set")]);
});
