/** Reads the links by which browsers come: bank and parameters, each at most once. Decides nothing about them. */
import { asBankCode, type BankCode } from "../kernel/identifiers.ts";
import { Refusal } from "../kernel/refusal.ts";

const SINGLE = ["client_id", "request_uri", "oAuthUrl", "flow"];

/** The bank in a path. @throws {Refusal} `bank.unknown` where it cannot be one */
export function bankOf(text: string | undefined): BankCode {
  const bank = asBankCode(text);
  if (bank === undefined) throw new Refusal("bank.unknown");
  return bank;
}

/** The query's parameters; empty ones are none. @throws {Refusal} with the reason where one of ours is there twice */
export function queryOf(
  url: string,
  reason: "authorization.invalid_request" | "bank_return.not_authentic",
): ReadonlyMap<string, string> {
  const wanted = new URL(url).searchParams;
  if (SINGLE.some((name) => wanted.getAll(name).length > 1)) throw new Refusal(reason, "parameter twice");
  return new Map([...wanted].filter(([, value]) => value !== ""));
}
