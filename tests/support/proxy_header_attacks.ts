/** Client input for headers that only the proxy may set (contract H2-H5, H8, H13, H14, H16, H17, H20, H23). */
import { assert, assertEquals } from "@std/assert";
import { type EchoSite, testSite } from "./echo_site.ts";
import { API_HOST, AUTH_HOST, type ProxyUnderTest } from "./proxy_program.ts";
import { PROXY_SECRET } from "testing/environment.ts";
import { stepsOf } from "./steps.ts";

const SPOOFED = [
  "Client-Cert",
  "client-cert",
  "CLIENT-CERT",
  "Client_Cert",
  "client.cert",
  "Client-Cert-Chain",
  "client_cert_chain",
  "X-Client-Cert",
  "X-SSL-Cert",
  "X-SSL-Client-Cert",
  "x_ssl_client_cert",
  "X-SSL-Client_Cert",
  "X-SSL-Client-Verify",
  "X-SSL-Client-S-DN",
  "X-SSL-Client-Serial",
  "X-SSL-Client-Fingerprint",
  "SSL-Client-Cert",
  "ssl_client_verify",
  "X-Forwarded-Client-Cert",
  "x_forwarded_client_cert",
  "X-Proxy-Secret",
  "X_PROXY_SECRET",
  "x-proxy_secret",
  "Forwarded",
  "X-Forwarded-For",
  "X-Forwarded-Host",
  "x_forwarded_host",
  "X-Forwarded-Port",
  "X-Forwarded-Prefix",
  "X-Forwarded-Proto",
  "X-Forwarded-Server",
  "X-Original-URL",
  "X-Real-IP",
  "X-Rewrite-URL",
];
const VALUES = ["spoofed", `:${btoa("spoofed")}:`, PROXY_SECRET, "", " ", "\t:spoofed:\t"];
const OWN = ["x-proxy-secret", "x-ssl-client-cert", "client-cert"];

/** Registers the tests. */
export function headerAttacks(proxy: ProxyUnderTest): void {
  const test = testSite(proxy);

  test("passes on its own word alone, whatever the client writes [H2, H4, H8, H13, H14, H17]", async ({ site, t }) => {
    await stepsOf(t, SPOOFED, (name) => name, async (name) => {
      for (const value of VALUES) await spoof(site, [[name, value]]);
      await spoof(site, [[name, "spoofed"], [name, "spoofed again"], [name.toLowerCase(), PROXY_SECRET]]);
    });
    await t.step("all of them at once", () => spoof(site, SPOOFED.map((name) => [name, "spoofed"])));
    await t.step(
      "named as hop-by-hop",
      () => spoof(site, [["Connection", ["close", ...OWN].join(", ")], ["Client-Cert", "spoofed"]]),
    );
    await t.step(
      "bytes above ASCII [H23]",
      () => spoof(site, [["Client-Cert", "\xff\xe9:"], ["X-Real-IP", "\xa0"]]),
    );
  });

  test("vouches for nothing on the browser host [H3, H22]", async ({ site }) => {
    await site.send(
      request("/jwks", SPOOFED.map((name) => [name, "spoofed"]), { host: AUTH_HOST }),
      undefined,
    );
    const [seen] = site.received;
    assertEquals(seen?.path, "/jwks");
    assert(!JSON.stringify(seen).includes("spoofed"), JSON.stringify(seen));
    for (const name of OWN) assert(!(name in (seen?.headers ?? {})), name);
  });

  test("says whose connection it is, request by request [H16, H18]", async ({ site }) => {
    for (let round = 0; round < 6; round++) {
      const who = round % 2 === 0 ? site.alice : site.bob;
      // Two on one connection of the client, then the other client: over connections that the proxy keeps open.
      await site.send(request("/1", [], { connection: "keep-alive" }) + request("/2", []), who);
      for (const { headers } of site.received.slice(-2)) assertVouched(site, headers, who);
    }
    assertEquals(site.received.length, 12);
  });

  test("keeps the host that it was set up with, whatever the request says [H14]", async ({ site }) => {
    for (const host of ["evil.example", AUTH_HOST]) {
      const absolute = `https://${host}/jwks?a=b`;
      await site.send(request(absolute, [], { host }), site.alice);
      await site.send(request(absolute, []), site.alice);
      await site.send(request("/jwks?a=b", [], { host }), site.alice);
    }
    await site.send(request("/jwks?a=b", []), undefined); // the API host's name, after a handshake for the other
    await site.send(request("/jwks?a=b", [["X-Forwarded-Host", "evil.example"]]), site.alice);
    for (const { headers, path } of site.received) {
      assertEquals([path, /evil/.test(JSON.stringify(headers))], ["/jwks?a=b", false]);
      // A request with certificate headers must have come with a certificate, and to the API host.
      if (headers["host"] === API_HOST) assertVouched(site, headers, site.alice);
      else assertEquals([headers["host"], headers["x-proxy-secret"]], [AUTH_HOST, undefined]);
    }
    assert(site.received.length >= 1);
  });

  test("rejects what is too large: 413 and 431 [H20, FAPI-G11]", async ({ site }) => {
    const head = (size: number): string =>
      `POST /big HTTP/1.1\r\nHost: ${API_HOST}\r\nConnection: close\r\nContent-Length: ${size}\r\n\r\n`;
    assertEquals((await site.send(head(65_537), site.alice)).status, 413);
    await site.send(head(200_000) + "x".repeat(200_000), site.alice); // HAProxy may close the connection while the client still sends
    const wide = request("/", [["X-Wide", "x".repeat(17_000)], ["X-Wider", "x".repeat(14_000)]]);
    assertEquals((await site.send(wide, site.alice)).status, 431);
    assertEquals(site.received, []);
    assertEquals((await site.send(head(65_536) + "x".repeat(65_536), site.alice)).status, 200);
    const roomy = request("/roomy", [["X-Roomy", "x".repeat(9000)]]);
    assertEquals((await site.send(roomy, site.alice)).status, 200);
  });

  test("slows down an address that asks the browser host too often", async ({ site }) => {
    const many = request("/jwks", [], { connection: "keep-alive", host: AUTH_HOST }).repeat(399);
    const { text } = await site.send(many + request("/jwks", [], { host: AUTH_HOST }), undefined);
    const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status);
    assertEquals(new Set(statuses), new Set(["200", "429"]));
    assert(site.received.length >= 100 && site.received.length < 400, String(site.received.length));
  });
}

async function spoof(site: EchoSite, fields: readonly (readonly [string, string])[]): Promise<void> {
  const before = site.received.length;
  const { status, text } = await site.send(request("/spoof", fields), site.alice);
  const seen = site.received.slice(before);
  if (status === 400) return assertEquals(seen, [], "rejected and passed on");
  assertEquals([status, seen.length], [200, 1], text);
  assertVouched(site, seen[0]?.headers ?? {}, site.alice);
}

/** Asserts that the headers name this client, with the proxy's secret, and contain no value of the client's choice. */
function assertVouched(
  site: EchoSite,
  headers: Readonly<Record<string, string>>,
  who: EchoSite["alice"],
): void {
  const said = Object.fromEntries(Object.entries(headers).filter(([name]) => OWN.includes(name)));
  assertEquals(said, { "x-proxy-secret": PROXY_SECRET, ...site.certificateHeader(who) });
  const names = Object.keys(headers).map((name) => name.replaceAll(/[_.]/g, "-"));
  const spoofable = SPOOFED.map((name) => name.toLowerCase().replaceAll(/[_.]/g, "-"));
  assertEquals(names.filter((name) => spoofable.includes(name)).sort(), Object.keys(said).sort());
  assert(!/spoofed/.test(JSON.stringify(headers)), JSON.stringify(headers));
}

function request(
  path: string,
  fields: readonly (readonly [string, string])[],
  { connection = "close", host = API_HOST }: { connection?: string; host?: string } = {},
): string {
  const own = fields.some(([name]) => name === "Connection") ? [] : [["Connection", connection] as const];
  const lines = [["Host", host] as const, ...own, ...fields].map(([name, value]) => `${name}: ${value}\r\n`);
  return `GET ${path} HTTP/1.1\r\n${lines.join("")}\r\n`;
}
