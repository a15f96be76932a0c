/** Parses the links that browsers open: the bank and the parameters, each at most once. */
import { asBankCode, type BankCode } from "../../../base/kernel/identifiers.ts";
import { LINK_FAULTS } from "../../guards/http/link_faults.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";

const SINGLE = ["client_id", "request_uri"] as const;

/**
 * Returns the bank code in a path.
 *
 * @throws {ApiError} `bank.unknown` if the text cannot be a bank code
 */
export function bankOf(text: string | undefined): BankCode {
  const bank = asBankCode(text);
  if (bank === undefined) throw new ApiError("bank.unknown");
  return bank;
}

/**
 * Returns the query's parameters without empty ones, and without a repeated `flow`: it names no session on the pages that
 * have it, and the TPP's link ignores it (contract AZ1).
 *
 * @throws {ApiError} `authorization.invalid_request` if a parameter of the TPP's link is repeated
 */
export function queryOf(url: string): ReadonlyMap<string, string> {
  const wanted = new URL(url).searchParams;
  const isRepeated = (name: string): boolean => wanted.getAll(name).length > 1;
  const twice = SINGLE.find(isRepeated);
  if (twice !== undefined) {
    throw new ApiError("authorization.invalid_request", { fault: LINK_FAULTS[`${twice}_twice`] });
  }
  if (isRepeated("flow")) wanted.delete("flow");
  return new Map([...wanted].filter(([, value]) => value !== ""));
}

/** Returns the result JWT in the bank's return link, or undefined unless there is exactly one. */
export function sealedAnswerOf(url: string): string | undefined {
  const [sealed, ...more] = new URL(url).searchParams.getAll("oAuthUrl");
  return sealed === "" || more.length > 0 ? undefined : sealed;
}
