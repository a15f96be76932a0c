/** The bank of a request: its path, and the standing of a participant. Fails closed. */
import { decide, type PersonalData, type Present } from "../../evidence/personal_data.ts";
import { createMiddleware } from "hono/factory";
import type { RequestVariables } from "../../../base/http/context.ts";
import { asBankCode, type BankCode } from "../../../base/kernel/identifiers.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";
import type { Bank, Caller, FindBank } from "./caller.ts";

// Middleware: `{bank}` of the path must be the code of a registered bank (Decision A4).

/** Set by {@link bankPath}. */
export interface BankVariables {
  bank: Bank;
}

/**
 * Creates the middleware.
 *
 * @throws {ApiError} `bank.unknown`
 */
export function bankPath(
  findBank: FindBank,
): ReturnType<typeof createMiddleware<{ Variables: RequestVariables & BankVariables }>> {
  return createMiddleware<{ Variables: RequestVariables & BankVariables }>(async function bank(c, next) {
    const code = asBankCode(c.req.param("bank"));
    const bank = code === undefined ? null : await findBank(c.get("reads"), code);
    if (bank === null) throw new ApiError("bank.unknown");
    c.set("bank", bank);
    c.get("facts").bank = bank.code;
    await next();
  });
}

/** Returns the issuer of a bank: `{auth_url}/{BANK}` (Decision A1). */
export function issuerOf(authUrl: string, bank: BankCode): string {
  return `${authUrl}/${bank}`;
}

// Standing: whether a participant may start a flow here (Decision G5). Callers that are not active are not
// authenticated. For a bank that is not active, TPPs' requests to start a flow are rejected with a reason.

/**
 * Set by the directory: active, suspended (temporary), withdrawn (permanent). Set by this platform's operator:
 * blocked.
 */
export type Standing = "active" | "suspended" | "withdrawn" | "blocked";

/**
 * Returns a participant's current standing.
 *
 * @throws {ApiError} `platform.unavailable` if the status list is too old
 */
export type StandingOf = (participant: Pick<Caller, "clientId" | "orgId">) => Promise<Standing>;

/** The standings of an inactive participant, and of a TPP that has deleted its registration (Decision B7). */
export type Inactive = Exclude<Standing, "active"> | "deregistered";

const WHY: Readonly<Record<Inactive, string>> = {
  suspended: "the directory has suspended it",
  withdrawn: "the directory has withdrawn it",
  blocked: "the operator of this platform has blocked it",
  deregistered: "it has deleted its registration",
};

/** Returns the reason for TPPs and operators, about the bank or the TPP. */
export function whyInactive(who: "bank" | "TPP", standing: Inactive): string {
  return `The ${who} is not active: ${WHY[standing]}.`;
}

/**
 * Rejects requests that start a flow at an inactive bank. Call it after the caller is authenticated, because other
 * callers must not get information about the bank.
 *
 * @throws {ApiError} `bank.not_active`
 */
export async function requireActiveBank(
  standingOf: StandingOf,
  bank: Pick<Caller, "clientId" | "orgId">,
): Promise<void> {
  const standing = await standingOf(bank);
  if (standing === "active") return;
  const message = whyInactive("bank", standing);
  throw new ApiError("bank.not_active", {
    detail: standing,
    description: message,
    faults: [{ code: "UnexpectedError", message }],
  });
}

const RETRY_AFTER_SECONDS = 3600;

/**
 * Returns the value with its personal data, for a participant.
 *
 * @throws {ApiError} `resource.not_found` if it was erased, {@link lostData} if it is lost
 */
export function forParticipant<T extends { readonly personalData: PersonalData }>(value: T): Present<T> {
  return decide(value, {
    present: (value) => value,
    erased: () => {
      throw new ApiError("resource.not_found");
    },
    lost: () => {
      throw lostData();
    },
  });
}

/** "Not found" could make a TPP's customer pay again, so a request for lost data gets 503 instead. */
export function lostData(): ApiError {
  return new ApiError("platform.unavailable", {
    detail: "the key of its personal data is lost",
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
