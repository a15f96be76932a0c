/** Which addresses are called at all, and which `htu` is the request's: against WHATWG URL, over hostile spellings. */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { addressFault } from "../../src/directory/participants/web_address.ts";
import { isCallable } from "../../src/base/http/outgoing.ts";
import { ApiError } from "../../src/base/kernel/api_error.ts";
import { isAllowedUrl } from "../../src/platform/core/participants/guarded_fetch.ts";
import { openDpopVerifier } from "../../src/platform/guards/security/dpop_proof.ts";
import { dpopProof } from "testing/jwts.ts";
import { testKey } from "testing/keys.ts";
import { attemptLater, mutated, runs } from "./runs.ts";

const hosts = fc.constantFrom(
  "directory.example",
  "directory.example.evil.example",
  "evil.example",
  "localhost",
  "127.0.0.1",
  "2130706433",
  "0x7f.1",
  "017700000001",
  "[::1]",
  "[::ffff:127.0.0.1]",
  "169.254.169.254",
  "10.0.0.1",
  "db",
  "metadata.google.internal",
  "printer.local",
  "LOCALHOST",
  "localhost.",
  "directory.example.",
  "dir\u00adectory.example",
  "\uff4cocalhost",
);
const spelled = fc.tuple(
  fc.constantFrom(
    "https://",
    "http://",
    "HTTPS://",
    "https:\\\\",
    "ftp://",
    "file://",
    "//",
    "https:",
    "javascript:",
  ),
  fc.constantFrom("", "user@", "user:password@", ":@", "directory.example@", "@"),
  hosts,
  fc.constantFrom("", ":443", ":80", ":8443", ":0", ":65536", ":"),
  fc.constantFrom(
    "",
    "/",
    "/jwks",
    "/jwks?x=1",
    "/jwks#x",
    "\\@evil.example",
    "/..//evil.example",
    "?@evil.example",
  ),
).map((parts) => parts.join(""));
const address = fc.oneof(
  spelled,
  fc.webUrl(),
  fc.string(),
  mutated("https://directory.example/jwks", "@:/\\.# \t\n%25"),
);

const DIRECTORY = { allowedHosts: ["directory.example"], loopbackHttp: false };

Deno.test("isAllowedUrl lets the platform fetch from the directory's host over https, and from nowhere else [DC4]", () => {
  fc.assert(
    fc.property(address, (text) => {
      if (!isAllowedUrl(DIRECTORY, text)) return;
      const { protocol, host, username, password } = new URL(text);
      assertEquals([protocol, host, username, password], ["https:", "directory.example", "", ""]);
    }),
    runs(3000),
  );
});

const INTERNAL =
  /^(localhost|127\.|10\.|169\.254\.|192\.168\.|\[|\d+\.\d+\.\d+\.\d+$)|\.(local|internal|localhost)\.?$/;

Deno.test("isCallable and addressFault let through https on public names alone [DC4]", () => {
  let callable = 0;
  fc.assert(
    fc.property(address, (text) => {
      if (isCallable(text, { loopback: false })) {
        callable += 1;
        const { protocol, hostname, username, password } = new URL(text);
        assertEquals([protocol, username, password], ["https:", "", ""]);
        assert(hostname.includes(".") && !INTERNAL.test(hostname), hostname);
      }
      if (addressFault(text, { loopback: false }) === undefined) {
        assert(isCallable(text, { loopback: false }), `vouched for, yet not callable: ${text}`);
        assert(/^https:\/\/[a-z0-9]/.test(text) && !text.includes("#") && !text.includes("@evil"), text);
      }
    }),
    runs(3000),
  );
  assert(callable > 100, `only ${callable} were callable`);
});

const EXPECTED = "https://api.platform.example/BANKA/token.oauth2/v1";

Deno.test("a proof's htu is the request's URL in any spelling of RFC 3986, and no other URL [DP9]", async () => {
  const key = await testKey(9);
  const env = { now: 1_700_000_000_000 };
  const htu = fc.oneof(
    mutated(EXPECTED, "@:/\\.#? \t\n%2eE"),
    fc.webUrl(),
    fc.string(),
    fc.nat(EXPECTED.length - 1).map((at) =>
      EXPECTED.slice(0, at) + `%${EXPECTED.charCodeAt(at).toString(16)}` + EXPECTED.slice(at + 1)
    ),
    fc.tuple(fc.constantFrom("?", "#"), fc.webPath()).map((rest) => EXPECTED + rest.join("")),
  );
  let accepted = 0;
  const verify = openDpopVerifier(() => env.now);
  await fc.assert(
    fc.asyncProperty(htu, async (claimed) => {
      const header = await dpopProof(env, key, { method: "POST", url: EXPECTED }, {
        claims: { htu: claimed },
      });
      const proof = await attemptLater(() => verify({ header, method: "POST", url: EXPECTED }));
      if (proof instanceof ApiError) return assertEquals(proof.reason, "dpop.invalid_proof");
      accepted += 1;
      const { origin, pathname, username } = new URL(claimed);
      assertEquals([origin + decodeURIComponent(pathname), username], [EXPECTED, ""]);
      assert(!/[\s\\]/.test(claimed), JSON.stringify(claimed));
    }),
    runs(150),
  );
  assert(accepted > 5, `only ${accepted} were accepted`);
});
