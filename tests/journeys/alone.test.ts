/**
 * `deno task directory` under an operator's own authority and `deno task serve` against it: two processes, participants
 * from the command line, a payment between external parties, restarts of both [F3].
 */
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { ResponseBodyError } from "oauth4webapi";
import { isOpensslThere, openAlone, openssl } from "support/alone.ts";
import { firstPayment, onboardOutsiders, purchase, runScript, startOwnBank } from "support/own_bank.ts";
import { bodyOf } from "testing/answers.ts";
import type { DirectoryBody, DirectoryHistory } from "testing/directory_answers.ts";

Deno.test({
  name: "directory and platform run alone: onboarded by the command line, registered, paid [F3] [E1]",
  ignore: !isOpensslThere(),
  async fn(t) {
    await using alone = await openAlone();
    const { folder, adminEnv, directoryUrl } = alone;
    const outsiders = await onboardOutsiders(folder, adminEnv);
    const pay = async (): Promise<string> => (await purchase(folder, outsiders)).end;

    await t.step(
      "the directory's certificates stand up to OpenSSL under the operator's authority",
      async () => {
        assertEquals(
          await (await fetch(`${directoryUrl}/ca.pem`)).text(),
          await Deno.readTextFile(`${folder}/ca.pem`),
        );
        for (
          const [who, purposes] of [["mine", ["signing", "transport"]], ["my-bank", [
            "signing",
            "transport",
            "encryption",
          ]]] as const
        ) {
          for (const purpose of purposes) {
            const file = `participants/${who}/${purpose}.cert.pem`;
            const usage = purpose === "transport" ? " -purpose sslclient" : "";
            const verified = await openssl(folder, `verify -x509_strict${usage} -CAfile ca.pem ${file}`);
            assertEquals(verified, `${file}: OK\n`);
          }
        }
      },
    );

    const bank = await startOwnBank(folder);
    try {
      await t.step("bank and TPP register, and the payment is accepted", async () => {
        assertMatch(bank.registered, /^201 SC-/);
        const printed = await firstPayment(folder, outsiders);
        assertMatch(printed, /^register: 201 SC-/m);
        assertMatch(printed, /^payment [0-9a-f-]{36}: AcceptedSettlementInProcess$/m);
      });

      await t.step("payments go on while the directory is down", async () => {
        await alone.directory.stop("SIGKILL");
        assertEquals(await pay(), "AcceptedSettlementInProcess");
      });

      await t.step("the directory has everything again after it was killed", async () => {
        await alone.restart("directory");
        const command = "scripts/integrators/participant/main.ts show --name my-bank --history";
        const shown = JSON.parse(await runScript(folder, command, adminEnv)) as DirectoryHistory["history"];
        assertEquals(shown.map(({ what, who }) => [what, who]), [["participant.onboarded", "ana"]]);
        const known = await bodyOf<DirectoryBody<"GET /participants">>(fetch(`${directoryUrl}/participants`));
        assertEquals(known.length, 2);
      });

      await t.step("the platform knows both again after it was stopped", async () => {
        await alone.platform.stop();
        await alone.restart("platform");
        assertEquals(await pay(), "AcceptedSettlementInProcess");
      });

      await t.step(
        "a TPP without standing is rejected within 15 s, also after a restart of the platform",
        async () => {
          await runScript(
            folder,
            "scripts/integrators/participant/main.ts set-status --name mine --organisation Suspended --reason audit",
            adminEnv,
          );
          await alone.platform.stop();
          const suspended = performance.now();
          await alone.restart("platform"); // keeps its copies of what the directory publishes, with their age
          const isPaid = (): Promise<boolean> => pay().then(() => true, () => false);
          while (await isPaid()) assert(performance.now() - suspended < 20_000, "it still pays after 15 s");
          const rejected = await assertRejects(pay, ResponseBodyError);
          assertEquals([rejected.status, rejected.error], [401, "invalid_client"]);
        },
      );

      await t.step("neither process said a secret", async () => {
        const said = await alone.directory.said(/./) + await alone.platform.said(/./);
        for (const secret of [adminEnv["DIRECTORY_ADMIN_TOKEN"] ?? "", "BEGIN", "eyJ"]) {
          assert(!said.includes(secret));
        }
      });
    } finally {
      await bank.stop();
    }
  },
});
