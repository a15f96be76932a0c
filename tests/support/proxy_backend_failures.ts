/** How each reference proxy deals with processes that cannot be reached, and with processes that lose a request. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { type EchoSite, openEchoSite } from "./echo_site.ts";
import { API_HOST, AUTH_HOST, proxyTest, type ProxyUnderTest } from "./proxy_program.ts";
import { until } from "./raw_client.ts";
import type { RawAnswer } from "./raw_tls.ts";

/** The kinds of requests: host, method and path. Every path is one of its group of backends. */
const KINDS = [
  [API_HOST, "POST", "/BANKA/domestic-payments/v1"],
  [API_HOST, "PUT", "/BANKA/back-channel-auth/v1"],
  [API_HOST, "GET", "/BANKA/domestic-payments/v1"],
  [AUTH_HOST, "POST", "/BANKA/authorization.consent.oauth2"],
  [AUTH_HOST, "GET", "/BANKA/authorization.oauth2"],
  [AUTH_HOST, "GET", "/jwks"],
] as const;
/** Escapes and double slashes that a proxy must not change, also if a second process gets the request. */
const ODD = "/a%2Fb//c%20d";

/** Registers the tests. */
export function backendFailures(proxy: ProxyUnderTest): void {
  proxyTest(
    proxy,
    "sends a request to another process if it cannot connect to two [H24]",
    async (program) => {
      const leaving = [openLosingBackend(), openLosingBackend()];
      await using site = await openEchoSite(
        proxy.name,
        program,
        leaving.map(({ address }) => address).join(),
      );
      if (proxy.name === "haproxy") await until(() => leaving.every(({ probed }) => probed()));
      await Promise.all(leaving.map((one) => one[Symbol.asyncDispose]())); // the next probe is a second away
      for (let round = 0; round < 4; round++) {
        for (const [kind] of KINDS.entries()) {
          assertEquals((await ask(site, kind, round)).status, 200, `${KINDS[kind]}`);
        }
      }
      assertEquals(site.received.length, 4 * KINDS.length);
      for (const { path, headers } of site.received) {
        if (!headers["host"]?.startsWith("api.")) continue;
        assert(path.includes(ODD), path);
        for (const [name, value] of Object.entries(site.certificateHeader(site.alice))) {
          assertEquals(headers[name], value);
        }
      }
    },
  );

  proxyTest(proxy, "never repeats a request that was sent, whatever its method [H24]", async (program) => {
    await using losing = openLosingBackend();
    await using site = await openEchoSite(proxy.name, program, losing.address);
    const statuses = new Set<number>();
    for (let round = 0; round < 4; round++) {
      for (const [kind, [host]] of KINDS.entries()) {
        const { status, text } = await ask(site, kind, round);
        statuses.add(status);
        if (status === 200) continue;
        assertEquals(status, 503);
        assertMatch(text, /^retry-after: 5\r$/im);
        assertMatch(text, host === API_HOST ? /"temporarily_unavailable"/ : /You will not pay twice/);
      }
    }
    assertEquals(statuses, new Set([200, 503]));
    const arrived = [...site.received.map(({ path }) => path), ...losing.paths].map((path) =>
      /id=[\d-]+/.exec(path)?.[0]
    );
    assertEquals(arrived.length, 4 * KINDS.length, "each request arrives once");
    assertEquals(new Set(arrived).size, arrived.length);
  });
}

async function ask(site: EchoSite, kind: number, round: number): Promise<RawAnswer> {
  const [host, method, path] = KINDS[kind] ?? KINDS[0];
  const body = method === "GET" ? "" : '{"a":1}';
  const target = `${path}${host === API_HOST ? ODD : ""}?id=${kind}-${round}`;
  const head = [
    `${method} ${target} HTTP/1.1`,
    `Host: ${host}`,
    "Connection: close",
    `Content-Length: ${body.length}`,
  ];
  return await site.send(`${head.join("\r\n")}\r\n\r\n${body}`, host === API_HOST ? site.alice : undefined);
}

interface LosingBackend extends AsyncDisposable {
  readonly address: string;
  readonly paths: readonly string[];
  probed(): boolean;
}

/** A backend that reads each request, remembers its path and closes the connection. It answers probes. */
function openLosingBackend(): LosingBackend {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const paths: string[] = [];
  let probed = false;
  const take = async (connection: Deno.TcpConn): Promise<void> => {
    const bytes = new Uint8Array(65_536);
    const size = await connection.read(bytes).catch(() => null) ?? 0;
    const [, path = ""] = new TextDecoder().decode(bytes.subarray(0, size)).split(" ");
    if (path === "/health/serving") {
      probed = true;
      await connection.write(new TextEncoder().encode("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
        .catch(() => {});
    } else if (path !== "") {
      paths.push(path);
    }
    connection.close();
  };
  const accepting = (async () => {
    for await (const connection of listener) void take(connection);
  })();
  return {
    address: `127.0.0.1:${listener.addr.port}`,
    paths,
    probed: () => probed,
    async [Symbol.asyncDispose](): Promise<void> {
      listener.close();
      await accepting;
    },
  };
}
