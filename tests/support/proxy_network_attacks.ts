/** How each reference proxy counts the requests of addresses of one network. */
import { assertEquals } from "@std/assert";
import { AUTH_URL, BASE_URL, PROXY_SECRET } from "testing/environment.ts";
import { makeAuthority } from "testing/directory_environment.ts";
import { freePort } from "../../scripts/command_line/free_ports.ts";
import type { ProxyName } from "../../scripts/operators/proxy/settings.ts";
import { AUTH_HOST, proxyTest, type ProxyUnderTest, startProxy } from "./proxy_program.ts";
import { openTemporaryFolder } from "testing/temporary_folder.ts";

type Addresses = readonly [string, string, string];

/** Two addresses of one network of 64 bits, and one of another. The tests of both proxies run at the same time. */
const ADDRESSES: Readonly<Record<ProxyName, Addresses>> = {
  nginx: ["2001:db8:0:1::1", "2001:db8:0:1::2", "2001:db8:0:2::1"],
  haproxy: ["2001:db8:0:3::1", "2001:db8:0:3::2", "2001:db8:0:4::1"],
};
/** More than the burst of the documentation, and than HAProxy allows in 10 s. */
const REQUESTS = 120;
/** Fewer than a new client may send at once, and more than an exhausted one regains before they are sent. */
const SOME = 20;

/** Adds the addresses to the loopback interface, or removes them. Returns whether that was possible. */
async function change(verb: "add" | "del", addresses: Addresses): Promise<boolean> {
  let all = true;
  for (const address of addresses) {
    const args = ["-6", "addr", verb, `${address}/128`, "dev", "lo"];
    const run = await new Deno.Command("ip", { args, stderr: "null" }).output().catch(() => undefined);
    all &&= run?.success === true;
  }
  return all;
}

/** Returns the statuses of requests for the documentation from an address. */
async function statusesFrom(
  address: string,
  [listens]: Addresses,
  port: number,
  count: number,
): Promise<Set<string>> {
  const { stdout } = await new Deno.Command("curl", {
    args: [
      ...["-s", "-k", "-o", "/dev/null", "-w", "%{http_code}\n", "--interface", address],
      ...["--resolve", `${AUTH_HOST}:${port}:[${listens}]`, `https://${AUTH_HOST}:${port}/docs?[1-${count}]`],
    ],
  }).output();
  return new Set(new TextDecoder().decode(stdout).trim().split("\n"));
}

/** Registers the tests. */
export function networkAttacks(proxy: ProxyUnderTest): void {
  const addresses = ADDRESSES[proxy.name];
  proxyTest(proxy, "counts an IPv6 network of 64 bits as one client", async (program) => {
    if (!await change("add", addresses)) {
      await change("del", addresses);
      const words = `no address can be added to lo: IPv6 NETWORKS ARE NOT TRIED WITH ${proxy.name}\n`;
      Deno.stderr.writeSync(new TextEncoder().encode(words));
      return;
    }
    await using folder = await openTemporaryFolder();
    const platform = { hostname: "127.0.0.1", port: 0, onListen: () => {} };
    await using backend = Deno.serve(platform, () => new Response("docs"));
    const participantsCa = await makeAuthority(
      new Date(Date.UTC(2026, 0, 1)),
      new Date(Date.UTC(2046, 0, 1)),
    );
    const env = {
      PLATFORM_BASE_URL: BASE_URL,
      PLATFORM_AUTH_URL: AUTH_URL,
      PLATFORM_PROXY_SECRET: PROXY_SECRET,
      PLATFORM_BACKENDS: `127.0.0.1:${backend.addr.port}`,
    };
    const port = freePort();
    const fixture = { folder: folder.path, participantsCa };
    const running = await startProxy(proxy.name, program, fixture, env, port, `[${addresses[0]}]`);
    try {
      const [first, second, other] = addresses;
      assertEquals((await statusesFrom(first, addresses, port, REQUESTS)).has("429"), true);
      assertEquals((await statusesFrom(second, addresses, port, SOME)).has("429"), true, "the same network");
      assertEquals([...await statusesFrom(other, addresses, port, SOME)], ["200"], "another network");
    } finally {
      await running.stop();
      await change("del", addresses);
    }
  });
}
