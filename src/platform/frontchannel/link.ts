/** Reads the links by which browsers come: bank and parameters, each at most once. Decides nothing about them. */
import { asBankCode, type BankCode } from "../../base/kernel/identifiers.ts";
import { ApiError } from "../../base/kernel/api_error.ts";

const SINGLE = ["client_id", "request_uri", "flow"];

/** The bank in a path. @throws {ApiError} `bank.unknown` where it cannot be one */
export function bankOf(text: string | undefined): BankCode {
  const bank = asBankCode(text);
  if (bank === undefined) throw new ApiError("bank.unknown");
  return bank;
}

/** The query's parameters; empty ones are none. @throws {ApiError} `authorization.invalid_request` if one of ours is there twice */
export function queryOf(url: string): ReadonlyMap<string, string> {
  const wanted = new URL(url).searchParams;
  if (SINGLE.some((name) => wanted.getAll(name).length > 1)) {
    throw new ApiError("authorization.invalid_request", "parameter twice");
  }
  return new Map([...wanted].filter(([, value]) => value !== ""));
}

/** The bank's answer in its return link; undefined unless there is exactly one. */
export function sealedAnswerOf(url: string): string | undefined {
  const [sealed, ...more] = new URL(url).searchParams.getAll("oAuthUrl");
  return sealed === "" || more.length > 0 ? undefined : sealed;
}
