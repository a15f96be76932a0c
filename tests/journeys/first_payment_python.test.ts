/** The first payment in Python: foreign libraries for signatures and HTTP meet the platform as it is [E1, DC12]. */
import { assertEquals, assertMatch } from "@std/assert";
import { goThroughAuthorization } from "../../src/sandbox/customer/customer.ts";
import { freeSandboxPorts } from "../../scripts/command_line/sandbox_ports.ts";
import { firstPayment, onboardOutsiders } from "support/own_bank.ts";
import { startPooledEcosystem } from "support/pooled_ecosystem.ts";
import { isPythonThere, pythonCommand, startPythonPayment } from "support/python.ts";

async function endOf(dir: string, line: string): Promise<[code: number, stderr: string]> {
  const { code, stderr } = await pythonCommand(dir, line).output();
  return [code, new TextDecoder().decode(stderr)];
}

Deno.test({
  name:
    "a TPP in Python registers, is paid, and pays again; a rejection and its mistakes end with a sentence [E1]",
  ignore: !isPythonThere(),
  async fn(t) {
    const dir = `${await Deno.makeTempDir()}/sandbox`;
    const example = "examples/first_payment.py";
    const [code, usage] = await endOf(dir, example);
    assertEquals([code, usage], [
      1,
      "usage: first_payment.py <participant folder> [bank code, else BANKA]\n",
    ]);
    const [, nobody] = await endOf(dir, `${example} ${dir}/participants/mine`);
    assertMatch(nobody, /^.*participant\.json cannot be read: .*Onboard with: .*\n$/);
    const ecosystem = await startPooledEcosystem({ port: freeSandboxPorts(), dir, log: () => {} });
    try {
      const outsiders = { ...await onboardOutsiders(dir), bankCode: "BANKA" };
      await t.step("is paid", async () => {
        const printed = await firstPayment(dir, outsiders, { start: startPythonPayment });
        assertMatch(printed, /^register: 201 SC-.*\nconsent [0-9a-f-]{36}: AwaitingAuthorisation\n/);
        assertMatch(printed, /^payment [0-9a-f-]{36}: AcceptedSettlementInProcess$/m);
      });
      await t.step("pays again, registered already", async () => {
        const printed = await firstPayment(dir, outsiders, { start: startPythonPayment });
        assertMatch(
          printed,
          /^register: 400 .*\n(.*\n)*payment [0-9a-f-]{36}: AcceptedSettlementInProcess\n/,
        );
      });
      await t.step("an unknown bank", async () => {
        const [status, words] = await endOf(dir, `${example} ${dir}/participants/mine BANKX`);
        assertEquals([status, words], [
          1,
          "No bank has the code BANKX. In a sandbox there are BANKA and BANKB.\n",
        ]);
      });
      await t.step("the customer rejects", async () => {
        const child = pythonCommand(dir, `${example} ${dir}/participants/mine`).spawn();
        const errors = new Response(child.stderr).text();
        let text = "";
        let visit: Promise<void> | undefined;
        for await (const part of child.stdout.pipeThrough(new TextDecoderStream())) {
          text += part;
          const startUrl = /^http\S+authorization\.oauth2\S+(?=\n)/m.exec(text)?.[0];
          if (startUrl === undefined) continue;
          visit ??= goThroughAuthorization(
            { startUrl, redirectUri: outsiders.redirectUri, rejectAt: "consent" },
            () => {},
          ).then(async (back) => void await (await fetch(back)).body?.cancel());
        }
        await visit;
        assertEquals((await child.status).code, 1);
        assertMatch(
          await errors,
          /^The customer came back without consent: access_denied, .*No payment was made\.\n$/,
        );
      });
    } finally {
      await ecosystem.stop();
      await Deno.remove(dir, { recursive: true });
    }
  },
});
