/** Middleware: `{bank}` of the path must be the code of a registered bank (Decision A4). */
import { createMiddleware } from "hono/factory";
import type { RequestVariables } from "../../../base/http/context.ts";
import { asBankCode } from "../../../base/kernel/identifiers.ts";
import { ApiError } from "../../../base/kernel/api_error.ts";
import type { Bank, FindBank } from "./caller.ts";

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
