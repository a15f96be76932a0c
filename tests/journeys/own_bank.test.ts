/** The README's other half: a bank of one's own, onboarded, registered, and paid through by a TPP of one's own [E1]. */
import { assertEquals, assertMatch } from "@std/assert";
import { startEcosystem } from "../../src/sandbox/ecosystem/ecosystem.ts";
import {
  firstPayment,
  onboardStrangers,
  purchase,
  runScript,
  startOwnBank,
  type Strangers,
} from "../support/own_bank.ts";
import { freeFirstPort } from "../support/sandbox_process.ts";

const OWN_SCREEN = ["bank login", "bank otp"];
const ACCEPTED = { end: "AcceptedSettlementInProcess", consent: "Consumed" };

/** Runs a test against a sandbox in which the external parties have been onboarded, and their bank is serving. */
async function withOwnBank(
  test: (dir: string, strangers: Strangers, bank: Awaited<ReturnType<typeof startOwnBank>>) => Promise<void>,
): Promise<void> {
  const dir = `${await Deno.makeTempDir()}/sandbox`;
  const ecosystem = await startEcosystem({ port: freeFirstPort(), dir, log: () => {} });
  try {
    const strangers = await onboardStrangers(dir);
    const bank = await startOwnBank(dir);
    try {
      await test(dir, strangers, bank);
    } finally {
      await bank.stop();
    }
  } finally {
    await ecosystem.stop();
    await Deno.remove(dir, { recursive: true });
  }
}

Deno.test("a stranger pays from a TPP of their own through a bank of their own [E1] [E4] [D4]", async (t) => {
  await withOwnBank(async (dir, strangers, bank) => {
    await t.step("the bank registered by DCR", () => {
      assertMatch(bank.registered, /^201 SC-[0-9a-f-]{36}$/);
    });

    await t.step("the TPP registers by DCR and is paid", async () => {
      const printed = await firstPayment(dir, strangers);
      assertMatch(printed, /^register: 201 SC-/m);
      const [, paymentId] = /^payment ([0-9a-f-]{36}): AcceptedSettlementInProcess$/m.exec(printed) ?? [];
      const order = RegExp(`^order ${paymentId}: EUR 4.20 AcceptedSettlementInProcess\\n`, "m");
      assertMatch(await bank.said(order), order);
    });

    await t.step("the account that the TPP names pays without a choice: implicit consent", async () => {
      const debtorIban = "GB29NWBK60161331926819";
      const { arrival, ...outcome } = await purchase(dir, strangers, { debtorIban });
      assertEquals(outcome, { pages: OWN_SCREEN, ...ACCEPTED });
      const again = await fetch(arrival);
      assertEquals([again.status, (await again.text()).includes("cannot be done")], [400, true]); // its jti is used up
    });

    await t.step("an account of somebody else does not", async () => {
      const { end, consent } = await purchase(dir, strangers, { debtorIban: "DE89370400440532013000" });
      assertEquals([end, consent], ["access_denied", "Rejected"]);
    });

    await t.step("a customer who rejects pays nothing", async () => {
      const { end, consent } = await purchase(dir, strangers, { rejectAt: "otp" });
      assertEquals([end, consent], ["access_denied", "Rejected"]);
    });

    await t.step("a payment beyond the balance is rejected by the bank", async () => {
      const { end, consent } = await purchase(dir, strangers, { amount: "1500.01" });
      assertEquals([end, consent], ["Rejected", "Consumed"]);
    });
  });
});

Deno.test("a newer statement moves the consent screen at the next authorization [FAPI-D17] [E3]", async (t) => {
  await withOwnBank(async (dir, strangers, first) => {
    await firstPayment(dir, strangers); // registers the TPP
    const platformScreen = ["bank login", "bank otp", "platform consent"];

    await t.step("the bank's own screen", async () => {
      await assertPaid(dir, strangers, OWN_SCREEN);
    });

    await renew(dir, { consent_managedby_bank: false });
    await first.stop();
    const second = await startOwnBank(dir);
    try {
      await t.step("registered: the platform's screen", async () => {
        assertMatch(second.registered, /^201 SC-/);
        await assertPaid(dir, strangers, platformScreen);
      });

      await t.step("rejected there", async () => {
        const { end, consent } = await purchase(dir, strangers, { rejectAt: "consent" });
        assertEquals([end, consent], ["access_denied", "Rejected"]);
      });
    } finally {
      await second.stop();
    }

    await renew(dir, { consent_managedby_bank: true });
    const third = await startOwnBank(dir);
    try {
      await t.step("and back", async () => {
        await assertPaid(dir, strangers, OWN_SCREEN);
      });
    } finally {
      await third.stop();
    }

    await t.step("the same statement again is rejected, and the registration stands", async () => {
      const again = await startOwnBank(dir);
      assertMatch(again.registered, /^400 /);
      assertEquals((await purchase(dir, strangers)).end, "AcceptedSettlementInProcess");
      await again.stop();
    });
  });
});

async function assertPaid(dir: string, strangers: Strangers, screens: readonly string[]): Promise<void> {
  const { pages, end, consent } = await purchase(dir, strangers);
  assertEquals({ pages, end, consent }, { pages: screens, ...ACCEPTED });
}

async function renew(dir: string, changes: unknown): Promise<void> {
  await Deno.writeTextFile(`${dir}/changes.json`, JSON.stringify(changes));
  await runScript(
    dir,
    `scripts/participant/main.ts renew-statement --name my-bank --changes ${dir}/changes.json`,
  );
}
