/** The client library pays on every runtime that it supports, over real mutual TLS [E1]. */
import { assertMatch } from "@std/assert";
import { freeSandboxPorts } from "../../scripts/command_line/sandbox_ports.ts";
import { firstPayment, onboardOutsiders, startProcess } from "support/own_bank.ts";
import { startPooledEcosystem } from "support/pooled_ecosystem.ts";
import { installedRuntimes } from "support/runtimes.ts";
import { bundle } from "testing/other_runtime.ts";

Deno.test("the client library registers and pays on Deno, Node and Bun, from one bundle [E1]", async (t) => {
  const dir = `${await Deno.makeTempDir()}/sandbox`;
  const ecosystem = await startPooledEcosystem({ port: freeSandboxPorts(), dir, log: () => {} });
  try {
    const outsiders = { ...await onboardOutsiders(dir), bankCode: "BANKA" };
    await bundle("examples/pay.ts", `${dir}/pay.mjs`);
    for (const [name, command] of installedRuntimes()) {
      await t.step(name, async () => {
        const [program = "", ...args] = [...command(`${dir}/pay.mjs`), "mine", "BANKA"];
        const options = { args, env: { SANDBOX_DIR: dir }, stdout: "piped", stderr: "piped" } as const;
        const start = (): ReturnType<typeof startProcess> =>
          startProcess(name, new Deno.Command(program, options));
        const printed = await firstPayment(dir, outsiders, { start });
        assertMatch(printed, /^payment [0-9a-f-]{36}: AcceptedSettlementInProcess$/m);
      });
    }
  } finally {
    await ecosystem.stop();
    await Deno.remove(dir, { recursive: true });
  }
});
