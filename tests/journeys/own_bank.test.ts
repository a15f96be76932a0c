/** The README's other half: a bank of one's own, onboarded, registered, and paid through by a TPP of one's own [E1]. */
import { assertEquals, assertMatch } from "@std/assert";
import { startEcosystem } from "../../src/sandbox/ecosystem/ecosystem.ts";
import {
  firstPayment,
  onboardOutsiders,
  type Outsiders,
  purchase,
  runScript,
  startOwnBank,
} from "support/own_bank.ts";
import { freeSandboxPorts } from "../../scripts/command_line/free_ports.ts";

const OWN_SCREEN = ["bank login", "bank otp"];
const ACCEPTED = { end: "AcceptedSettlementInProcess", consent: "Consumed" };

/** Runs a test against a sandbox in which the external parties have been onboarded, and their bank is serving. */
async function withOwnBank(
  test: (dir: string, outsiders: Outsiders, bank: Awaited<ReturnType<typeof startOwnBank>>) => Promise<void>,
): Promise<void> {
  const dir = `${await Deno.makeTempDir()}/sandbox`;
  const ecosystem = await startEcosystem({ port: freeSandboxPorts(), dir, log: () => {} });
  try {
    const outsiders = await onboardOutsiders(dir);
    const bank = await startOwnBank(dir);
    try {
      await test(dir, outsiders, bank);
    } finally {
      await bank.stop();
    }
  } finally {
    await ecosystem.stop();
    await Deno.remove(dir, { recursive: true });
  }
}

Deno.test("an outsider pays from a TPP of their own through a bank of their own [E1] [E4] [D4]", async (t) => {
  await withOwnBank(async (dir, outsiders, bank) => {
    await t.step("the bank registered by DCR", () => {
      assertMatch(bank.registered, /^201 SC-[0-9a-f-]{36}$/);
    });

    await t.step("the TPP registers by DCR and is paid", async () => {
      const printed = await firstPayment(dir, outsiders);
      assertMatch(printed, /^register: 201 SC-/m);
      const [, paymentId] = /^payment ([0-9a-f-]{36}): AcceptedSettlementInProcess$/m.exec(printed) ?? [];
      const order = RegExp(`^order ${paymentId}: EUR 4.20 AcceptedSettlementInProcess\\n`, "m");
      assertMatch(await bank.said(order), order);
    });

    await t.step("the account that the TPP names pays without a choice: implicit consent", async () => {
      const debtorIban = "GB29NWBK60161331926819";
      const { arrival, ...outcome } = await purchase(dir, outsiders, { debtorIban });
      assertEquals(outcome, { pages: OWN_SCREEN, ...ACCEPTED });
      const again = await fetch(arrival);
      assertEquals([again.status, (await again.text()).includes("cannot be done")], [400, true]); // its jti is used up
    });

    await t.step("an account of another customer does not", async () => {
      const { end, consent } = await purchase(dir, outsiders, { debtorIban: "DE89370400440532013000" });
      assertEquals([end, consent], ["access_denied", "Rejected"]);
    });

    await t.step("a customer who rejects pays nothing", async () => {
      const { end, consent } = await purchase(dir, outsiders, { rejectAt: "otp" });
      assertEquals([end, consent], ["access_denied", "Rejected"]);
    });

    await t.step("a payment beyond the balance is rejected by the bank", async () => {
      const { end, consent } = await purchase(dir, outsiders, { amount: "1500.01" });
      assertEquals([end, consent], ["Rejected", "Consumed"]);
    });
  });
});

Deno.test("a newer statement moves the consent screen at the next authorization [FAPI-D17] [E3]", async (t) => {
  await withOwnBank(async (dir, outsiders, first) => {
    await firstPayment(dir, outsiders); // registers the TPP
    const platformScreen = ["bank login", "bank otp", "platform consent"];

    await t.step("the bank's own screen", async () => {
      await assertPaid(dir, outsiders, OWN_SCREEN);
    });

    await renew(dir, { consent_managedby_bank: false });
    await first.stop();
    const second = await startOwnBank(dir);
    try {
      await t.step("registered: the platform's screen", async () => {
        assertMatch(second.registered, /^201 SC-/);
        await assertPaid(dir, outsiders, platformScreen);
      });

      await t.step("rejected there", async () => {
        const { end, consent } = await purchase(dir, outsiders, { rejectAt: "consent" });
        assertEquals([end, consent], ["access_denied", "Rejected"]);
      });
    } finally {
      await second.stop();
    }

    await renew(dir, { consent_managedby_bank: true });
    const third = await startOwnBank(dir);
    try {
      await t.step("and back", async () => {
        await assertPaid(dir, outsiders, OWN_SCREEN);
      });
    } finally {
      await third.stop();
    }

    await t.step("the same statement again is rejected, and the registration stands", async () => {
      const again = await startOwnBank(dir);
      assertMatch(again.registered, /^400 /);
      assertEquals((await purchase(dir, outsiders)).end, "AcceptedSettlementInProcess");
      await again.stop();
    });
  });
});

async function assertPaid(dir: string, outsiders: Outsiders, screens: readonly string[]): Promise<void> {
  const { pages, end, consent } = await purchase(dir, outsiders);
  assertEquals({ pages, end, consent }, { pages: screens, ...ACCEPTED });
}

async function renew(dir: string, changes: unknown): Promise<void> {
  await Deno.writeTextFile(`${dir}/changes.json`, JSON.stringify(changes));
  await runScript(
    dir,
    `scripts/integrators/participant/main.ts renew-statement --name my-bank --changes ${dir}/changes.json`,
  );
}
