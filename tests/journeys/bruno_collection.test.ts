/** The Bruno collection pays in a running sandbox with Bruno's own command line, and finds an answer that was changed. */
import { assertEquals, assertMatch } from "@std/assert";
import { freeSandboxPorts } from "../../scripts/command_line/sandbox_ports.ts";
import { changedBody, openFaultyNetwork } from "support/faulty_network.ts";
import { onboardOutsiders } from "support/own_bank.ts";
import { startPooledEcosystem } from "support/pooled_ecosystem.ts";

const root = new URL("../../", import.meta.url).pathname;
/** `.ci/run` installs it from npm. */
const BRUNO = `${root}.data/bruno/node_modules/.bin/bru`;

function isBrunoThere(): boolean {
  try {
    if (Deno.statSync(BRUNO).isFile) return true;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  const command = "npm install --no-save --prefix .data/bruno @usebruno/cli@4.1.0";
  const words = `\n*** SKIPPED: nothing was paid with Bruno, which is missing: ${command} ***\n\n`;
  Deno.stdout.writeSync(new TextEncoder().encode(words));
  return false;
}

async function runCollection(dir: string): Promise<{ code: number; printed: string }> {
  const flags = [
    "--env",
    "Sandbox",
    "--sandbox=developer",
    "--noproxy",
    "--bail",
    "--cacert",
    `${dir}/ca.pem`,
  ];
  const args = ["run", "payment", ...flags, "--env-var", `sandbox=${dir}`];
  const { code, stdout, stderr } = await new Deno.Command(BRUNO, { args, cwd: `${root}examples/bruno` })
    .output();
  return { code, printed: new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr) };
}

Deno.test({
  name: "the Bruno collection pays, and fails if an answer of the platform was changed [E1]",
  ignore: !isBrunoThere(),
  async fn(t) {
    const dir = `${await Deno.makeTempDir()}/sandbox`;
    const net = openFaultyNetwork();
    const { front } = net;
    const ecosystem = await startPooledEcosystem({ port: freeSandboxPorts(), dir, log: () => {}, front });
    try {
      await onboardOutsiders(dir);
      await t.step("every request and test passes", async () => {
        const { code, printed } = await runCollection(dir);
        assertMatch(printed, /Requests +│ +17 \(17 Passed\)/);
        assertMatch(printed, /Tests +│ +10\/10 /);
        assertMatch(printed, /11 Pay \(201 Created\)/);
        assertEquals(code, 0, printed);
      });
      await t.step("a changed answer", async () => {
        net.arm(
          "/domestic-payments/v1",
          changedBody((body) => body.replace("AcceptedSettlement", "RejectedSettlement")),
        );
        const { code, printed } = await runCollection(dir);
        assertMatch(
          printed,
          /11 Pay \(201 Created\)[^]*?✕ the platform has signed the answer[^]*?the signature is wrong/,
        );
        assertEquals(code, 1, printed);
      });
    } finally {
      await ecosystem.stop();
      await Deno.remove(dir, { recursive: true });
    }
  },
});
