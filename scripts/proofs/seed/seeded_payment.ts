/** One payment of a seeded store: a customer, a TPP and a bank, and how it ends. */
import {
  type AtBank,
  authorise,
  codeOf,
  redeem,
  returnPath,
  toBank,
} from "../../testing/authorization_flow.ts";
import { putStatus } from "../../testing/back_channel.ts";
import {
  consentBody,
  dpopKey,
  type FlowEnvironment,
  good,
  pay,
  type SentConsent,
} from "../../testing/flows.ts";
import type { Participant } from "../../testing/participants.ts";
import type { Random } from "../prove/random.ts";

/** How a payment ends, with its share in percent. */
const ENDS = [["settled", 82], ["rejected", 6], ["accepted", 3], ["refused", 5], ["left", 3], [
  "faulty",
  1,
]] as const;
export type End = typeof ENDS[number][0];

const REASONS = ["AM04", "AC04", "AG01", "AM14", "AM04", "BE01", "AM04"] as const;
const PAYEES = [
  ["FR1420041010050500013M02606", "ACME Inc"],
  ["DE89370400440532013000", "Müller und Töchter Versandhandel GmbH & Co. KG"],
  ["GB29NWBK60161331926819", "Nordic Parts Ltd"],
  ["ES9121000418450200051332", "La Tienda del Norte, S.L."],
  ["NL91ABNA0417164300", "Van den Heuvel B.V."],
] as const;

/** What is decided about a payment before it begins. */
export interface Plan {
  readonly end: End;
  readonly body: SentConsent;
  readonly reason: string;
}

/** Decides about a payment. */
export function planned(random: Random, number: number): Plan {
  let share = random.below(100);
  const [end] = ENDS.find(([, percent]) => (share -= percent) < 0) ?? ENDS[0];
  const [account, name] = one(random, PAYEES);
  const cents = Math.floor(Math.exp(5 + random.below(700) / 100));
  return {
    end,
    reason: one(random, REASONS),
    body: consentBody({
      initiation: {
        InstructionIdentification: `INSTR-${number}`,
        EndToEndIdentification: `ORDER-${String(number).padStart(6, "0")}`,
        InstructedAmount: {
          Amount: end === "faulty" ? "12,50" : (cents / 100).toFixed(2),
          Currency: random.chance(0.85) ? "EUR" : "GBP",
        },
        CreditorAccount: { SchemeName: "UK.OBIE.IBAN", Identification: account, Name: name },
        RemittanceInformation: { Unstructured: `Invoice ${number}` },
      },
    }),
  };
}

/** One of them. */
export function one<T>(random: Random, choices: readonly T[]): T {
  const chosen = choices[random.below(choices.length)];
  if (chosen === undefined) throw new RangeError("nothing to choose from");
  return chosen;
}

/**
 * Carries the plan out. `push` says that the platform pushes the order, so that the bank answers there.
 *
 * @returns the payment's id, if there is one
 */
export async function carryOut(
  env: FlowEnvironment,
  { bank, plan: { end, body, reason }, isPushedTo }: {
    readonly bank: Participant;
    readonly plan: Plan;
    readonly isPushedTo: boolean;
  },
): Promise<string | undefined> {
  if (end === "faulty") return void await toBank(env, { bank, body }).catch(() => {});
  const flow = await toBank(env, { bank, body });
  if (end === "left") return;
  if (end === "refused") {
    const claims = { status: "failed", status_code: "failure", reason_code: "CUST" };
    await (await flow.browser.open(await returnPath(env, bank, flow.handover, { claims }))).body?.cancel();
    return;
  }
  const code = codeOf(await authorised(env, flow, body));
  const token = await good(
    redeem(env, { consentId: flow.consentId, code }, { client: env.tpp, bank: bank.orgId }),
    200,
  );
  const payment = { token: token.access_token, key: await dpopKey() };
  const { Data: { DomesticPaymentId: id, Status } } = await good(
    pay(env, { ...flow, payment, body, bank }),
    201,
  );
  if (Status === "Rejected" || Status === "Pending" && isPushedTo) return id; // the push was answered, or was not
  if (!isPushedTo && end === "rejected") {
    await reported(env, bank, id, { Status: "Rejected", StatusReasonCode: reason });
    return id;
  }
  if (!isPushedTo) await reported(env, bank, id, { Status: "AcceptedSettlementInProcess" });
  if (end === "settled") await reported(env, bank, id, { Status: "AcceptedSettlementCompleted" });
  return id;
}

async function reported(
  env: FlowEnvironment,
  bank: Participant,
  id: string,
  data: Readonly<Record<string, string>>,
): Promise<void> {
  await good(
    putStatus(env, bank, id, { ...data, StatusUpdateDateTime: new Date(env.now).toISOString() }),
    200,
  );
}

/** The customer accepts, and has enough on the account. */
function authorised(env: FlowEnvironment, flow: AtBank, body: SentConsent): Promise<Response> {
  const { Currency } = body.Data.Initiation.InstructedAmount as { readonly Currency: string };
  const account = { SchemeName: "UK.OBIE.IBAN", Identification: "GB94BARC10201530093459" };
  return authorise(env, flow, [{ ...account, Balance: "25000.00", Currency }]);
}
