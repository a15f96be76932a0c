/** A poll that waits, through the reference proxies over mutual TLS: neither of them ends it before its answer. */
import { assert, assertEquals } from "@std/assert";
import { authorise, toBank } from "testing/authorization_flow.ts";
import { clientToken } from "testing/flows.ts";
import { openProxiedEnvironment } from "support/proxied_environment.ts";
import { findProxy } from "support/proxy_program.ts";
import { poll, polled } from "./poll.ts";

const LONGEST_MS = 15_000;

for (const { name, program } of await Promise.all([findProxy("haproxy"), findProxy("nginx")])) {
  Deno.test({
    name: `a waiting poll is answered through ${name}, after its event and after 15 s without one [EVT8]`,
    ignore: program === undefined,
    async fn() {
      await using env = await openProxiedEnvironment(name, program ?? "");
      const bound = await clientToken(env, env.tpp);
      const began = performance.now();
      const empty = await poll(env, {}, { bound });
      assertEquals([empty.status, await empty.json()], [200, { moreAvailable: false, sets: {} }]);
      assert(performance.now() - began >= LONGEST_MS - 100);
      const flow = await toBank(env);
      const waits = polled(env, {}, { bound });
      await new Promise((resolve) => setTimeout(resolve, 300));
      await authorise(env, flow);
      assertEquals((await waits).events.map(({ what, resource }) => [what, resource]), [
        ["consent-authorised Authorized", flow.consentId],
      ]);
    },
  });
}
