/** The hook that a bank serves while it is certified (docs/bank.md): its test customer's accounts and decisions. */
import { z } from "zod";
import { jsonIfAny } from "../../../../src/base/kernel/json.ts";

/** The currency of the certifier's consents. */
export const CONSENT_CURRENCY = "EUR";

const accountSchema = z.object({
  SchemeName: z.string().min(1),
  Identification: z.string().min(1),
  Currency: z.string().length(3),
  Balance: z.string().regex(/^-?\d+(\.\d{1,5})?$/), // after every order that the bank has accepted
});

/** An account of the bank's test customer. */
export type HookAccount = Readonly<z.infer<typeof accountSchema>>;

/** `approve_elsewhere`: on another device, if the bank delivers results on the back channel. */
export type Decision = "approve" | "refuse" | "timeout" | "approve_elsewhere";

export interface Hook {
  /** @throws {Error} if the bank does not answer as docs/bank.md says */
  accounts(): Promise<readonly HookAccount[]>;
  /** Those in the currency of the certifier's consents, which can pay. @throws {Error} as `accounts` does */
  payers(): Promise<readonly HookAccount[]>;
  /**
   * Lets the customer decide on the newest open visit of a consent.
   *
   * @param account the account that pays, if the customer chooses one
   * @returns where the customer's browser goes, or undefined if no visit is open
   * @throws {Error} if the bank does not answer as docs/bank.md says
   */
  decide(consentId: string, decision: Decision, account?: string): Promise<URL | undefined>;
  /**
   * Lets the bank answer the TPP's dispute, without agreeing, and get its evidence.
   *
   * @returns the bundle, or undefined if the hook knows no disputes
   * @throws {Error} if the bank does not answer as docs/bank.md says
   */
  answerDispute(paymentId: string): Promise<unknown>;
}

const TIMEOUT_MS = 15_000;
/** Within which an event comes and the log has a new entry. */
const DISPUTE_MS = 30_000;

const accountsSchema = z.object({ accounts: z.array(accountSchema).min(1) });
const disputeSchema = z.object({ bundle: z.looseObject({}) });
const decidedSchema = z.object({ location: z.url() });

/** @param url as the bank was told in `CERTIFICATION_HOOK` */
export function openHook(url: string): Hook {
  const send = (path: string, body?: unknown, milliseconds = TIMEOUT_MS): Promise<Response> =>
    fetch(`${url}${path}`, {
      signal: AbortSignal.timeout(milliseconds),
      ...(body === undefined ? {} : {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    });
  return {
    async accounts(): Promise<readonly HookAccount[]> {
      return (await read(accountsSchema, "GET the hook", await send(""))).accounts;
    },
    async payers(): Promise<readonly HookAccount[]> {
      return (await this.accounts()).filter(({ Currency }) => Currency === CONSENT_CURRENCY);
    },
    async decide(consent_id, decision, account): Promise<URL | undefined> {
      const response = await send("/decisions", {
        consent_id,
        decision,
        ...(account === undefined ? {} : { account }),
      });
      if (response.status === 404) {
        await response.body?.cancel();
        return undefined;
      }
      return new URL((await read(decidedSchema, `the decision "${decision}"`, response)).location);
    },
    async answerDispute(payment_id): Promise<unknown> {
      const response = await send("/disputes", { payment_id }, DISPUTE_MS);
      if (response.status === 404) {
        await response.body?.cancel();
        return undefined;
      }
      return (await read(disputeSchema, "the answer to a dispute", response)).bundle;
    },
  };
}

async function read<T>(schema: z.ZodType<T>, what: string, response: Response): Promise<T> {
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${what} was answered ${response.status}`);
  const decoded = schema.safeParse(jsonIfAny(text));
  if (decoded.success) return decoded.data;
  const [issue] = decoded.error.issues;
  throw new Error(`${what} was answered with a wrong ${issue?.path.join(".") || "body"}: ${issue?.message}`);
}
