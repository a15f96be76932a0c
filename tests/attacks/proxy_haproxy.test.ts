/** The reference configuration of haproxy under attack: TLS, headers, requests, and the platform behind it. */
import { backendFailures } from "support/proxy_backend_failures.ts";
import { headerAttacks } from "support/proxy_header_attacks.ts";
import { networkAttacks } from "support/proxy_network_attacks.ts";
import { pageAttacks } from "support/proxy_page_attacks.ts";
import { platformAttacks } from "support/proxy_platform_attacks.ts";
import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { makeAuthority } from "testing/directory_environment.ts";
import { AUTH_URL, BASE_URL, PROXY_SECRET } from "testing/environment.ts";
import { freePort } from "../../scripts/command_line/free_ports.ts";
import { until } from "support/raw_client.ts";
import { findProxy, proxyTest, startProxy } from "support/proxy_program.ts";
import { manyRequests, requestAttacks, slowBodies } from "support/proxy_request_attacks.ts";
import { tlsAttacks } from "support/proxy_tls_attacks.ts";
import { openTemporaryFolder } from "testing/temporary_folder.ts";

const haproxy = await findProxy("haproxy");
const RULES = new URL("../../docs/operations/prometheus/rules.yml", import.meta.url);

tlsAttacks(haproxy, 0);
headerAttacks(haproxy);
requestAttacks(haproxy);
slowBodies(haproxy);
manyRequests(haproxy);
pageAttacks(haproxy);
networkAttacks(haproxy);
backendFailures(haproxy);
platformAttacks(haproxy, "handshake");

proxyTest(
  haproxy,
  "tells Prometheus the state of each process, at an address of its own alone",
  async (program) => {
    await using folder = await openTemporaryFolder();
    await using backend = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      () => new Response("ok"),
    );
    const participantsCa = await makeAuthority(
      new Date(Date.UTC(2026, 0, 1)),
      new Date(Date.UTC(2046, 0, 1)),
    );
    const down = freePort();
    const env = {
      PLATFORM_BASE_URL: BASE_URL,
      PLATFORM_AUTH_URL: AUTH_URL,
      PLATFORM_PROXY_SECRET: PROXY_SECRET,
      PLATFORM_BACKENDS: `127.0.0.1:${backend.addr.port},127.0.0.1:${down}`,
    };
    const port = freePort();
    const running = await startProxy("haproxy", program, { folder: folder.path, participantsCa }, env, port);
    try {
      const text = async (): Promise<string> => await (await fetch(running.metricsUrl)).text();
      const stateOf = (figures: string, server: string, state: string): string | undefined =>
        RegExp(`^haproxy_server_status\\{proxy="platform",server="${server}",state="${state}"\\} (\\d)$`, "m")
          .exec(figures)?.[1];
      let figures = "";
      await until(async () => stateOf(figures = await text(), "platform2", "DOWN") === "1");
      assertEquals(stateOf(figures, "platform1", "UP"), "1");
      assertMatch(figures, /^haproxy_backend_current_queue\{proxy="customers"\} 0$/m);
      await assertRejects(() => fetch(`https://127.0.0.1:${port}/`)); // the client does not know the authority
      await until(async () => failedHandshakes(figures = await text()) > 0);
      const rules = await Deno.readTextFile(RULES);
      const unknown = rules.match(/haproxy_\w+/g)?.filter((name) => !figures.includes(`\n${name}{`));
      assertEquals(unknown, [], "the alert rules name figures that HAProxy has");
      const other = await fetch(running.metricsUrl.replace("/metrics", "/"));
      assertEquals([other.status, (await other.body?.cancel()) ?? ""], [404, ""]);
    } finally {
      await running.stop();
    }
  },
);

/** Connections without a session, as the rule HandshakesFailing counts them. */
function failedHandshakes(figures: string): number {
  const sum = (name: string): number =>
    [...figures.matchAll(
      RegExp(`^haproxy_frontend_${name}_total\\{proxy="(?!metrics)[^"]*"\\} (\\d+)$`, "gm"),
    )]
      .reduce((all, [, count]) => all + Number(count), 0);
  return sum("connections") - sum("sessions");
}
