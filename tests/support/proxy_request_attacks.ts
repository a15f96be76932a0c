/** Requests whose end the proxy and the platform might see in different places (contract H15). */
import { assert, assertEquals } from "@std/assert";
import { type EchoSite, testSite } from "./echo_site.ts";
import { API_HOST, type ProxyUnderTest } from "./proxy_program.ts";
import { until } from "./raw_client.ts";
import { PROXY_SECRET } from "testing/environment.ts";
import { stepsOf } from "./steps.ts";

const HOST = `POST /outer HTTP/1.1\r\nHost: ${API_HOST}\r\n`;
/** A second request as Bob, had the proxy not looked at it. */
const hidden = (site: EchoSite): string => {
  const certificate = Object.entries(site.certificateHeader(site.bob)).map(([name, value]) =>
    `${name}: ${value}\r\n`
  );
  return `GET /hidden HTTP/1.1\r\nHost: ${API_HOST}\r\nx-proxy-secret: ${PROXY_SECRET}\r\n${
    certificate.join("")
  }\r\n`;
};
const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;

const ATTACKS: readonly (readonly [string, (inner: string) => string])[] = [
  [
    "CL.TE",
    (inner) =>
      `${HOST}Content-Length: ${inner.length + 5}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${inner}`,
  ],
  ["TE.CL", (inner) => `${HOST}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n${chunk(inner)}`],
  ["two lengths", (inner) => `${HOST}Content-Length: 0\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`],
  ["a list of lengths", (inner) => `${HOST}Content-Length: 0, ${inner.length}\r\n\r\n${inner}`],
  ["signed length", (inner) => `${HOST}Content-Length: +${inner.length}\r\n\r\n${inner}`],
  ["space before the colon", (inner) => `${HOST}Content-Length : ${inner.length}\r\n\r\n${inner}`],
  ["tab before the colon", (inner) => `${HOST}Transfer-Encoding\t: chunked\r\n\r\n0\r\n\r\n${inner}`],
  ["xchunked", (inner) => `${HOST}Transfer-Encoding: xchunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n${inner}`],
  ["chunked, identity", (inner) => `${HOST}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${inner}`],
  [
    "chunked twice",
    (inner) => `${HOST}Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n0\r\n\r\n${inner}`,
  ],
  ["folded", (inner) => `${HOST}Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n${inner}`],
  ["bare line feeds", (inner) => `POST /outer HTTP/1.1\nHost: ${API_HOST}\nContent-Length: 0\n\n${inner}`],
  ["bare carriage return", (inner) => `${HOST}X: y\rTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${inner}`],
  ["NUL", (inner) => `${HOST}X: \0\r\nContent-Length: 0\r\n\r\n${inner}`],
  [
    "two hosts",
    (inner) => `POST /outer HTTP/1.1\r\nHost: ${API_HOST}\r\nHost: y\r\nContent-Length: 0\r\n\r\n${inner}`,
  ],
  [
    "body on GET",
    (inner) => `GET /outer HTTP/1.1\r\nHost: ${API_HOST}\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`,
  ],
  [
    "chunk of bad size",
    (inner) => `${HOST}Transfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n0\r\n\r\n${inner}`,
  ],
  ["negative chunk", (inner) => `${HOST}Transfer-Encoding: chunked\r\n\r\n-1\r\n0\r\n\r\n${inner}`],
  [
    "trailer of a chunked body",
    (inner) => `${HOST}Transfer-Encoding: chunked\r\n\r\n0\r\nClient-Cert: :x:\r\n\r\n${inner}`,
  ],
  ["pipelined", (inner) => `GET /outer HTTP/1.1\r\nHost: ${API_HOST}\r\n\r\n${inner}`],
  [
    "upgrade to cleartext HTTP/2",
    (inner) =>
      `GET /outer HTTP/1.1\r\nHost: ${API_HOST}\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n${inner}`,
  ],
  ["HTTP/0.9", (inner) => `GET /outer\r\n${inner}`],
  [
    "HTTP/1.0 with chunks",
    (inner) => `POST /outer HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${inner}`,
  ],
];

/** Registers the tests. */
export function requestAttacks(proxy: ProxyUnderTest): void {
  const test = testSite(proxy);

  test("lets no request past its own headers, however it is hidden in another [H15]", async ({ site, t }) => {
    await stepsOf(t, ATTACKS, ([what]) => what, async ([, attack]) => {
      site.received.length = 0;
      await site.send(
        `${attack(hidden(site))}GET /last HTTP/1.1\r\nHost: ${API_HOST}\r\nConnection: close\r\n\r\n`,
        site.alice,
      );
      // Whatever came through came as Alice: what she hid was hers, or part of her body.
      for (const { path, headers } of site.received) {
        const own = { "x-proxy-secret": PROXY_SECRET, ...site.certificateHeader(site.alice) };
        const said = Object.fromEntries(Object.keys(own).map((name) => [name, headers[name]]));
        assertEquals(said, own, path);
      }
      await assertUndisturbed(site);
    });
  });
}

/** Registers the test of requests whose body does not arrive. */
export function slowBodies(proxy: ProxyUnderTest): void {
  const test = testSite(proxy);

  test("sends no request whose body has not arrived completely", async ({ site }) => {
    const { status } = await site.send(`${HOST}Content-Length: 100\r\n\r\nthe beginning`, site.alice);
    assertEquals(status, 0, "the client gave up waiting");
    await assertUndisturbed(site);
    assert(!site.begun.includes("/outer"), "the backend waits for a body");
  });
}

/** Registers the test of a participant with many requests under way. */
export function manyRequests(proxy: ProxyUnderTest): void {
  const test = testSite(proxy);

  test("lets one participant have 120 requests under way, and leaves connections to others", async ({ site }) => {
    const request = `GET /held HTTP/1.1\r\nHost: ${API_HOST}\r\nConnection: close\r\n\r\n`;
    const statuses: number[] = [];
    const begun = (): number => site.begun.filter((path) => path === "/held").length;
    const answers = Array.from(
      { length: 130 },
      () => site.send(request, site.alice).then(({ status }) => statuses.push(status)),
    );
    await until(() => begun() + statuses.length >= answers.length);
    assertEquals([begun(), statuses], [120, Array.from({ length: 10 }, () => 429)]);
    await assertUndisturbed(site);
    site.release();
    await Promise.all(answers);
    assertEquals(statuses.filter((status) => status === 200).length, 120);
  });
}

/** The next client's answer is to its own request. */
async function assertUndisturbed(site: EchoSite): Promise<void> {
  const path = `/${crypto.randomUUID()}`;
  const { status, text } = await site.send(
    `GET ${path} HTTP/1.1\r\nHost: ${API_HOST}\r\nConnection: close\r\n\r\n`,
    site.bob,
  );
  assertEquals(status, 200);
  assert(text.endsWith(JSON.stringify({ path })), text);
  const last = site.received.at(-1);
  assertEquals([last?.path, last?.headers["client-cert"] ?? last?.headers["x-ssl-client-cert"]], [
    path,
    Object.values(site.certificateHeader(site.bob))[0],
  ]);
}
