/** The last steps of a TPP's payment at a bank that the examination plays itself: it needs no customer, no sandbox and no listener. */
import { type Bank } from "../../../src/client/bank/bank.ts";
import { putPayerAccounts, readConsent } from "../../../src/client/bank/back_channel.ts";
import { openHandover } from "../../../src/client/bank/open_handover.ts";
import { pullOrders } from "../../../src/client/bank/pull_orders.ts";
import { resultUrl } from "../../../src/client/bank/seal_result.ts";
import { openBrowser } from "../../../src/sandbox/customer/browser.ts";
import { openItsBank } from "./access_layers.ts";
import { type Examination, known, type Layer, TASK, Wrong } from "./examination.ts";
import { payAndWait, returnedWithCode } from "./payment_end.ts";

const CUSTOMER = { customerIp: "127.0.0.1", sub: "probe" };
const ACCOUNT = {
  SchemeName: "UK.OBIE.IBAN",
  Identification: "GB33BUKB20201555555555",
  Balance: "100.00",
  Currency: "EUR",
};

/** The layers behind the redirect, for the bank in this folder of `participants/`. */
export function ownBankLayers(name: string): readonly Layer[] {
  const mend = (): string => `${TASK} doctor --name ${name}   # the bank's own layers`;
  return [
    { name: "back channel", mend, check: (at) => authorize(at, name) },
    { name: "order pull", mend, check: (at) => takeOrder(at, name) },
  ];
}

/** The customer's browser leaves for the bank, the bank approves, and the browser comes back with a code. */
async function authorize(at: Examination, name: string): Promise<string> {
  const bank = at.bank = await openItsBank(at, `${at.patient.dir}/participants/${name}`);
  const browser = openBrowser();
  const { location } = await browser.visit(new URL(known(at.pending).url));
  const handover = await openHandover(bank, location?.searchParams.get("oAuthUrl") ?? "");
  const { consentId } = handover;
  const { InstructedAmount } = await readConsent(bank, { consentId, ...CUSTOMER });
  await putPayerAccounts(bank, { consentId, accounts: [ACCOUNT], ...CUSTOMER });
  const end = { statusCode: "success", status: "success", sub: CUSTOMER.sub } as const;
  const back = await browser.visit(new URL(await resultUrl(bank, handover, end)));
  if (back.location === undefined || !back.location.href.startsWith(known(at.flow).tpp.redirectUri)) {
    throw new Wrong(
      "The browser did not come back to the TPP. Expected a bank with consent_managedby_bank, which shows no screen.",
    );
  }
  await returnedWithCode(at, back.location);
  return `the bank approved ${InstructedAmount.Currency} ${InstructedAmount.Amount}`;
}

/** The TPP pays, and the bank fetches the order and reports that it is settled. */
async function takeOrder(at: Examination, name: string): Promise<string> {
  const bank = known(at.bank);
  const cursor = `${at.patient.dir}/participants/${name}/pulled_up_to`;
  const open = ["Pending", "AcceptedSettlementInProcess"]; // a payment that is not final for long raises an alarm
  return await payAndWait(at, { open, work: () => settleOrders(bank, cursor) });
}

/** @param file has the cursor, so that a new process does not read all orders again */
async function settleOrders(bank: Bank, file: string): Promise<void> {
  const failed: string[] = [];
  await pullOrders(bank, {
    pulledUpTo: () => Deno.readTextFile(file).catch(() => undefined),
    notePulledUpTo: (cursor) => Deno.writeTextFile(file, cursor),
    execute: () => Promise.resolve({ status: "AcceptedSettlementCompleted" }),
    onFailed: (why) => failed.push(why),
  });
  if (failed[0] !== undefined) throw new Wrong(`The bank cannot take its order: ${failed[0]}`);
}
