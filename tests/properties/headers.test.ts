/** Headers of others: client certificates from each kind of proxy, FAPI headers, and what they may be taken for. */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { Hono, type MiddlewareHandler } from "hono";
import { X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import type { PlatformKeys } from "testing/answers.ts";
import type { RequestVariables } from "../../src/base/http/context.ts";
import { fapiHeaders } from "../../src/platform/guards/http/endpoint.ts";
import { spkiThumbprint } from "../../src/base/jose/rsa_key.ts";
import { ApiError } from "../../src/base/kernel/api_error.ts";
import type { ProxyCertificateSource } from "../../src/base/profile.ts";
import {
  certificateReader,
  type CertificateVariables,
  clientCertificate,
} from "../../src/platform/guards/security/client_certificate.ts";
import { headerOf, SOURCES } from "support/client_certificates.ts";
import { malformedCertificates } from "support/malformed_certificates.ts";
import { stepsOf } from "support/steps.ts";
import { platformKeySet } from "testing/platform_keys.ts";
import { mutated, runs } from "./runs.ts";

const SECRET = "a-secret-between-proxy-and-platform-0123456789";
const VALID_AT = Date.UTC(2040, 0, 15);

type Variables = RequestVariables & CertificateVariables;

/** The result of the guards: the response of the handler after them, or the rejection's reason. */
async function outcome(
  guard: MiddlewareHandler<{ Variables: Variables }> | typeof fapiHeaders,
  headers: Readonly<Record<string, string>>,
): Promise<string> {
  const app = new Hono<{ Variables: Variables }>();
  app.use(async (c, next) => {
    c.set("facts", { interactionId: crypto.randomUUID() });
    await next();
  });
  app.onError((error, c) => {
    if (error instanceof ApiError) return c.text(error.reason);
    throw error;
  });
  app.get("/", guard, (c) => c.text(c.get("certificate")?.spkiThumbprint ?? "passed"));
  return await (await app.request("/", { headers })).text();
}

/** A value that a header can have; what Fetch would reject is replaced. */
function sendable(value: string): string {
  return value.replaceAll(/[^\x20-\x7e\x80-\xff\t]/g, "~");
}

/** A certificate whose base64 ends with padding: the serial number of each one is random. */
async function paddedCertificate(key: number, notAfter = Date.UTC(2046, 0, 1)): Promise<string> {
  const { keys } = JSON.parse(await platformKeySet(key, 13, notAfter)) as PlatformKeys;
  const [made = ""] = keys[0]?.x5c ?? [];
  return made.endsWith("=") ? made : await paddedCertificate(key, notAfter + 1000);
}

const [der, otherDer] = await Promise.all([paddedCertificate(12), paddedCertificate(11)]);
const thumbprint = await spkiThumbprint(
  new Uint8Array(
    new X509Certificate(`-----BEGIN CERTIFICATE-----\n${der}\n-----END CERTIFICATE-----`).publicKey.export({
      type: "spki",
      format: "der",
    }),
  ).buffer,
);

function headersFrom(source: ProxyCertificateSource): fc.Arbitrary<string> {
  const octets = Uint8Array.fromBase64(der);
  const altered = fc.array(fc.tuple(fc.nat(octets.length - 1), fc.nat(255)), { minLength: 1, maxLength: 3 })
    .map((changes) => changes.reduce((bytes, [at, by]) => bytes.with(at, by), octets));
  const cut = fc.nat(octets.length).map((end) => octets.subarray(0, end));
  const longer = fc.uint8Array({ minLength: 1, maxLength: 8 }).map((more) =>
    new Uint8Array([...octets, ...more])
  );
  const certificate = fc.oneof(altered, cut, longer, fc.uint8Array()).map((bytes) =>
    headerOf(source, bytes.toBase64())
  );
  return fc.oneof(
    fc.string(),
    fc.string({ unit: "binary" }),
    mutated(headerOf(source, der), 'A:=%,;" \t\\+/-_'),
    certificate,
  )
    .map(sendable);
}

/** A header of exactly so many characters: PEM may have empty lines, and any character may be escaped. */
function ofLength(escaped: string, length: number): string {
  const escapes = (length - escaped.length) % 3 * 2 % 3; // each adds two characters
  const lines = "%0A".repeat((length - escaped.length - 2 * escapes) / 3);
  const escape = (character: string): string => `%${character.charCodeAt(0).toString(16)}`;
  return escaped.replace("%0A", `%0A${lines}`)
    .replace(
      /(?<=%0A)[A-Za-z]{2}/,
      (two) => [...two].map((one, at) => at < escapes ? escape(one) : one).join(""),
    );
}

Deno.test("certificateReader takes a header of 16,384 characters and a certificate from its first to its last millisecond [H9, H20]", async () => {
  const { validFromDate, validToDate } = new X509Certificate(
    `-----BEGIN CERTIFICATE-----\n${der}\n-----END CERTIFICATE-----`,
  );
  const [first, last] = [validFromDate.getTime(), validToDate.getTime()];
  const source = "x-ssl-client-cert";
  const escaped = headerOf(source, der);
  let now = VALID_AT;
  const read = certificateReader({ clock: () => now, source, proxySecret: SECRET });
  const why = async (header: string): Promise<unknown> => {
    const found = await read(new Headers({ "x-proxy-secret": SECRET, [source]: header }));
    return found.ok ? found.value.notAfter : found.fault.why;
  };
  for (const length of [16_382, 16_383, 16_384, 16_385]) {
    const header = ofLength(escaped, length);
    assertEquals([header.length, await why(header)], [
      length,
      length > 16_384 ? "malformed certificate header" : last,
    ]);
  }
  for (const [at, found] of [[first - 1, false], [first, true], [last, true], [last + 1, false]] as const) {
    now = at;
    assertEquals(await why(escaped), found ? last : "certificate not valid now");
  }
});

for (const source of SOURCES) {
  const guard = clientCertificate(certificateReader({ clock: () => VALID_AT, source, proxySecret: SECRET }));

  Deno.test(`clientCertificate takes one certificate from ${source} and names its key, or rejects [H5] [H6] [H7]`, async () => {
    assertEquals(
      await outcome(guard, { "x-proxy-secret": SECRET, [source]: headerOf(source, der) }),
      thumbprint,
    );
    await fc.assert(
      fc.asyncProperty(headersFrom(source), async (value) => {
        const found = await outcome(guard, { "x-proxy-secret": SECRET, [source]: value });
        assert(found === "certificate.missing" || /^[A-Za-z0-9_-]{43}$/.test(found), found);
      }),
      runs(400),
    );
  });

  Deno.test(`clientCertificate takes nothing that is malformed from ${source} [H5] [H6] [H7] [H20] [H23]`, async (t) => {
    await stepsOf(t, malformedCertificates(source, der, otherDer), ([what]) => what, async ([, value]) => {
      const found = await outcome(guard, { "x-proxy-secret": SECRET, [source]: value });
      assertEquals(found, "certificate.missing");
    });
  });

  Deno.test(`clientCertificate without the proxy's whole secret takes nothing from ${source} [H1]`, async () => {
    const secret = fc.oneof(
      fc.string(),
      mutated(SECRET, "a-0 \t"),
      fc.nat(SECRET.length - 1).map((end) => SECRET.slice(0, end)),
    );
    for (let at = 0; at <= SECRET.length; at++) {
      const sent = `${SECRET.slice(0, at)}~${SECRET.slice(at + 1)}`;
      const headers = { "x-proxy-secret": sent, [source]: headerOf(source, der) };
      assertEquals(await outcome(guard, headers), "certificate.missing", sent);
    }
    await fc.assert(
      fc.asyncProperty(secret.map(sendable), async (sent) => {
        fc.pre(sent.trim() !== SECRET);
        const headers = { "x-proxy-secret": sent, [source]: headerOf(source, der) };
        assertEquals(await outcome(guard, headers), "certificate.missing");
      }),
      runs(200),
    );
  });

  Deno.test(`clientCertificate reads long and hostile values of ${source} in no time [H20]`, async () => {
    const pieces = [
      "a=",
      'a="',
      '"',
      "\\",
      ";",
      ",",
      'a="\\',
      "Cert=",
      "%",
      "%0A",
      "=",
      ":",
      "A",
      " ",
      "----",
      "a=;",
      '";a="',
    ];
    const begun = performance.now();
    for (const piece of pieces) {
      const value = piece.repeat(Math.floor(16_000 / piece.length));
      for (const header of [value, `:${value}:`, `Cert="${value}"`, `${value}!`]) {
        const found = await outcome(guard, { "x-proxy-secret": SECRET, [source]: header });
        assertEquals(found, "certificate.missing");
      }
    }
    assert(
      performance.now() - begun < 5000,
      `${performance.now() - begun} ms for ${pieces.length * 4} headers of 16 kB`,
    );
  });
}

const IP = "x-fapi-customer-ip-address";
const DATE = "x-fapi-auth-date";

Deno.test("fapiHeaders takes the IP addresses that node:net knows, and no other [C10]", async () => {
  const address = fc.oneof(
    fc.ipV4(),
    fc.ipV6(),
    mutated("192.168.100.200", "0123456789. :x"),
    mutated("2001:db8:0:1:1:1:1:1", "0123456789abcdefg:. "),
    mutated("::ffff:192.0.2.128", "0123456789abcdef:. "),
    fc.string().map(sendable),
  );
  let taken = 0;
  await fc.assert(
    fc.asyncProperty(address, async (value) => {
      fc.pre(value.trim() === value && value !== "" && !value.includes("%")); // zone ids are local matters (RFC 4007 §11.2)
      const passed = await outcome(fapiHeaders, { [IP]: value }) === "passed";
      assertEquals(passed, isIP(value) !== 0, value);
      taken += Number(passed);
    }),
    runs(800),
  );
  assert(taken > 200, `only ${taken} were taken`);
});

Deno.test("fapiHeaders takes every HTTP date that Date writes, and none that it would not write back [C10]", async () => {
  const date = fc.date({
    min: new Date("1970-01-01"),
    max: new Date("9999-12-31T23:59:59Z"),
    noInvalidDate: true,
  });
  await fc.assert(
    fc.asyncProperty(date, async (value) => {
      assertEquals(await outcome(fapiHeaders, { [DATE]: value.toUTCString() }), "passed");
    }),
    runs(200),
  );
  const text = fc.oneof(
    mutated("Sun, 06 Nov 1994 08:49:37 GMT", "0123456789:, GMTUC"),
    fc.string().map(sendable),
  );
  await fc.assert(
    fc.asyncProperty(text, async (value) => {
      const found = await outcome(fapiHeaders, { [DATE]: value });
      assert(found === "passed" || found === "request.header_invalid", found);
      if (found !== "passed") return;
      const written = new Date(value.replace("UTC", "GMT")).toUTCString();
      assertEquals(value.trim().replace("UTC", "GMT").slice(5), written.slice(5), value); // the weekday is for show
    }),
    runs(600),
  );
});

Deno.test("fapiHeaders passes or rejects any interaction id and Accept, and reflects neither [FAPI-G23]", async () => {
  const text = fc.oneof(
    fc.string(),
    mutated("7f3d1c9e-4b52-4d0a-9c55-0f6b6f2a1e11"),
    mutated("application/json;q=0.5, */*"),
  );
  await fc.assert(
    fc.asyncProperty(text.map(sendable), text.map(sendable), async (id, accept) => {
      const found = await outcome(fapiHeaders, { "x-fapi-interaction-id": id, accept });
      assert(["passed", "request.header_invalid", "request.not_acceptable"].includes(found), found);
    }),
    runs(600),
  );
});
