/**
 * Faults that a sandbox bank can simulate, triggered by the amount of a consent or armed for its next visits and
 * orders. Decides whether a fault applies; the code at each fault point implements its effect.
 */

import { BANK_REASON_CODES, type BankReasonCode } from "../../client/party/reason_codes.ts";

/** The point at which a fault takes effect. */
export type FaultPoint = "execution" | "push" | "accounts" | "return";

/** One kind of fault. */
export interface FaultKind {
  readonly name: string;
  /** A consent over this amount, in any currency, always triggers the fault. */
  readonly amount: string;
  readonly at: FaultPoint;
  /** Description of the effect, for people. */
  readonly what: string;
}

/** The table of faults. */
export const FAULTS = [
  {
    name: "refuse",
    amount: "666.01",
    at: "execution",
    what: "rejects the payment order: with the reason_code of the armed fault, by default AC04",
  },
  {
    name: "refuse_customer",
    amount: "666.16",
    at: "return",
    what: "returns a failure: with the reason_code of the armed fault, by default AC06",
  },
  { name: "answer_late", amount: "666.02", at: "push", what: "answers a pushed order after 4 seconds" },
  {
    name: "answer_twice",
    amount: "666.03",
    at: "push",
    what: "reports its answer on the back channel, then gives it to the push as well",
  },
  {
    name: "lose_answer",
    amount: "666.04",
    at: "push",
    what: "executes a pushed order, then breaks the connection off; the next push is answered",
  },
  { name: "wrong_bank_id", amount: "666.05", at: "return", what: "returns with another bank's bank_id" },
  {
    name: "wrong_digest",
    amount: "666.17",
    at: "return",
    what: "returns with the transaction_digest of another payment",
  },
  { name: "expired_return", amount: "666.06", at: "return", what: "returns with a JWT that has expired" },
  {
    name: "replayed_return",
    amount: "666.07",
    at: "return",
    what: "returns with the jti of its return before (after at least one good visit)",
  },
  {
    name: "too_many_accounts",
    amount: "666.08",
    at: "accounts",
    what: "puts 101 payer accounts, whatever the consent asks for",
  },
  { name: "no_balance", amount: "666.09", at: "accounts", what: "puts payer accounts without balances" },
  {
    name: "server_error",
    amount: "666.10",
    at: "push",
    what: "answers pushes with 503 and pulls nothing: the bank is down for this order",
  },
  {
    name: "reset",
    amount: "666.11",
    at: "push",
    what: "breaks the connection off before it executes a pushed order, and pulls nothing",
  },
  {
    name: "late_customer",
    amount: "666.12",
    at: "return",
    what: "moves the sandbox’s clock 15 minutes ahead, so that its customer returns too late",
  },
  {
    name: "wrong_status",
    amount: "666.13",
    at: "push",
    what: "answers pushes with a Status that does not exist, and does not take the order",
  },
  {
    name: "no_json",
    amount: "666.14",
    at: "push",
    what: "answers pushes with a text that is not JSON, and does not take the order",
  },
  {
    name: "not_found",
    amount: "666.15",
    at: "push",
    what: "answers a push with 404, so that the platform stops, and does not take the order",
  },
] as const satisfies readonly FaultKind[];

/**
 * The faults with a reason, and the amounts that choose it: `667.01` rejects the order with the first code of the list,
 * `668.01` the customer, and so on.
 */
const BY_REASON: Partial<Record<FaultName, { readonly units: string; readonly usual: BankReasonCode }>> = {
  refuse: { units: "667", usual: "AC04" },
  refuse_customer: { units: "668", usual: "AC06" },
};

/** The name of a fault. */
export type FaultName = typeof FAULTS[number]["name"];

/** The consent or order that may trigger a fault. */
export interface FaultSubject {
  readonly consentId: string | undefined;
  /** As on the wire. */
  readonly amount: string;
}

/** A fault that was armed. */
export interface ArmedFault {
  readonly fault: FaultName;
  /** With which it rejects. */
  readonly reasonCode?: BankReasonCode | undefined;
  /** How many more times it will trigger. */
  readonly times: number;
  /** Limits the fault to this consent; absent: any consent. */
  readonly consentId?: string | undefined;
}

/** A fault that applies. */
export interface MetFault {
  readonly name: FaultName;
  /** Of a rejection. */
  readonly reasonCode?: BankReasonCode | undefined;
}

/** The faults of one bank. */
export interface Faults {
  readonly arm: (fault: ArmedFault) => void;
  readonly disarm: () => void;
  readonly armed: () => readonly ArmedFault[];
  /** The fault that applies here, if any. Uses up one count of an armed fault. */
  readonly meet: (at: FaultPoint, subject: FaultSubject) => MetFault | undefined;
  /** As `meet`, without using up an armed fault. */
  readonly foresee: (at: FaultPoint, subject: FaultSubject) => FaultName | undefined;
}

/** Every name, for decoding. */
export const FAULT_NAMES: readonly FaultName[] = FAULTS.map(({ name }) => name);

/** No fault armed. */
export function createFaults(): Faults {
  let armed: readonly ArmedFault[] = [];
  const armedFor = (at: FaultPoint, { consentId }: FaultSubject): ArmedFault | undefined =>
    armed.find((candidate) =>
      FAULTS.some(({ name, at: point }) => name === candidate.fault && point === at) &&
      (candidate.consentId === undefined || candidate.consentId === consentId)
    );
  return {
    arm: (fault) => void (armed = [...armed, fault]),
    disarm: () => void (armed = []),
    armed: () => armed,
    meet(at, subject) {
      const met = armedFor(at, subject);
      if (met === undefined) return byAmount(at, subject);
      const left = { ...met, times: met.times - 1 };
      armed = armed.flatMap((each) => each !== met ? [each] : left.times > 0 ? [left] : []);
      return metFault(met.fault, met.reasonCode);
    },
    foresee: (at, subject) => armedFor(at, subject)?.fault ?? byAmount(at, subject)?.name,
  };
}

/** Returns the fault, with a reason if it is a rejection. */
export function metFault(name: FaultName, code?: BankReasonCode): MetFault {
  return { name, reasonCode: code ?? BY_REASON[name]?.usual };
}

function byAmount(at: FaultPoint, { amount }: FaultSubject): MetFault | undefined {
  for (const { name, amount: own, at: point } of FAULTS) {
    if (point !== at) continue;
    if (amount === own) return metFault(name);
    const code = BANK_REASON_CODES.find((each) => name in BY_REASON && amount === amountOf(name, each));
    if (code !== undefined) return metFault(name, code);
  }
  return undefined;
}

/** Returns the amount that makes the bank reject the order, or the customer, with a code. */
export function amountOf(name: FaultName, code: BankReasonCode): string {
  const nth = String(BANK_REASON_CODES.indexOf(code) + 1).padStart(2, "0");
  return `${BY_REASON[name]?.units}.${nth}`;
}
