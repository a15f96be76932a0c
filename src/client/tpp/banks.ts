/** The banks that a TPP can offer to its customers (contract BH5). */
import * as z from "zod/mini";
import type { Tpp } from "./tpp.ts";

const answer = z.object({
  banks: z.array(z.object({
    bank: z.string(),
    name: z.string(),
    logo_uri: z.optional(z.string()),
    state: z.string(),
  })),
});

/** A bank as the platform shows it to everyone. */
export interface OfferedBank {
  /** Its code. */
  readonly bank: string;
  readonly name: string;
  readonly logoUri?: string;
  /** `available`, `degraded`, `down` or `planned_outage`, at most 10 s old. Take another one for `degraded`. */
  readonly state: string;
}

const TIMEOUT_MS = 2000;

/**
 * Reads the active banks.
 *
 * @throws {Error} if the platform does not return them within two seconds
 */
export async function listBanks(
  { authUrl, fetch }: Pick<Tpp, "authUrl" | "fetch">,
): Promise<readonly OfferedBank[]> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const headers = { accept: "application/json" };
  const response = await fetch(`${authUrl}/banks.json`, { method: "GET", headers, signal });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Error(`The platform answered ${response.status} instead of its banks`);
  }
  const { banks } = answer.parse(await response.json());
  return banks.map(({ logo_uri: logoUri, bank, name, state }) => ({
    bank,
    name,
    state,
    ...(logoUri === undefined ? {} : { logoUri }),
  }));
}
