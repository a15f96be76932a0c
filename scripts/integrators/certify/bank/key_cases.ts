/** The platform changes its keys, and no customer and no order is lost. Runs last, because the keys stay changed. */
import { failed, type Outcome, passed } from "../case.ts";
import type { BankBench, BankCase } from "./bench.ts";
import { handoverClaims, sealed, signed } from "./forge.ts";
import { openAt } from "./handover_cases.ts";
import { authorise, makeConsent, pause } from "./journey.ts";
import { debit, isOnce, payThrough } from "./orders.ts";

export const KEY_CASES: readonly BankCase[] = [
  {
    id: "BANK-K01",
    title: "After the platform has changed its keys, customers and orders are taken as before",
    requirement: "MD8; Decision A11",
    seconds: 600,
    run: async (bench) => {
      await changeKeys(bench);
      await authorise(bench);
      const paid = await payThrough(bench, ({ jws, deliver }) => deliver(jws));
      const seen = `a customer and an order came through; ${debit(paid)}`;
      return isOnce(paid) ? passed(seen) : failed(seen);
    },
  },
  {
    id: "BANK-K02",
    title: "A JWT signed by the platform's former key is taken while that key is published",
    requirement: "MD8; Decision A11",
    seconds: 600,
    run: byFormerKey,
  },
];

async function byFormerKey(bench: BankBench): Promise<Outcome> {
  const { platform, hook } = bench;
  if (platform.formerSigner === undefined) {
    await changeKeys(bench);
    await authorise(bench).catch(() => undefined); // so that the bank has read the new keys; the case before judges it
  }
  const { consentId } = await makeConsent(bench);
  const claims = handoverClaims(bench, consentId);
  const former = await signed(bench, claims, { kid: platform.formerSigner?.kid }, platform.formerSigner);
  const { status } = await openAt(bench, await sealed(bench, former));
  const opened = await hook.decide(consentId, "refuse");
  return opened === undefined
    ? failed(`answered ${status}`)
    : passed(`answered ${status}, and a visit is open`);
}

/** As an operator does: the next keys are published, and sign after their lead. */
async function changeKeys(bench: BankBench): Promise<void> {
  const { platform, keyLeadSeconds } = bench;
  await authorise(bench); // the bank has read the keys that sign now
  await platform.publishNextKeys();
  await pause(keyLeadSeconds * 1000);
  await platform.useNextKeys();
}
