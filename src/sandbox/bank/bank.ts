/** One bank's profile, customers, ledger, platform keys and connection to the platform. */
import type { Bank as Party } from "../../client/bank/bank.ts";
import type { BankClock, BankLog, BankProfile } from "./bank_profile.ts";
import type { Customer } from "./customers.ts";
import type { Faults } from "./faults.ts";
import type { Ledger } from "./ledger.ts";
import type { ReturnIds } from "./seal_return.ts";
import type { Sessions } from "./sessions.ts";
import type { Settlement } from "./settlement.ts";

/** Everything the routes of one bank use. */
export interface Bank {
  readonly profile: BankProfile;
  /** The bank as a client of the platform. */
  readonly party: Party;
  readonly customers: readonly Customer[];
  readonly ledger: Ledger;
  readonly settlement: Settlement;
  readonly faults: Faults;
  readonly returnIds: ReturnIds;
  readonly sessions: Sessions;
  readonly clock: BankClock;
  readonly log: BankLog;
  /** Waits so many milliseconds. */
  readonly pause: (milliseconds: number) => Promise<void>;
  /** Lets so many milliseconds pass for all parts of the sandbox, by moving its clock or by waiting. */
  readonly letTimePass: (milliseconds: number) => Promise<void>;
}
