/** The platform that a participant's tool talks to, as the folder of a sandbox describes it. */
import { z } from "zod";

const address = z.url({ protocol: /^https?$/ });
const endpointsSchema = z.object({
  base_url: address,
  auth_url: address,
  directory_url: address,
  registration_audience: z.string().min(1),
  /** Of a sandbox alone. */
  banks_url: address.optional(),
});

/** The platform's addresses, as `endpoints.json` of a sandbox has them. */
export type PlatformAddresses = z.infer<typeof endpointsSchema>;

/** A platform to talk to. */
export interface KnownPlatform {
  readonly addresses: PlatformAddresses;
  readonly caPem: string;
  /** The platform's time, milliseconds. */
  readonly now: () => number;
}

/** How long the clock of a sandbox may take for an answer, ms. */
const CLOCK_MS = 5000;

/** Reads `endpoints.json` and `ca.pem`. @throws {Error} in one sentence if they are not there */
export async function openPlatform(dir: string, clockMs = CLOCK_MS): Promise<KnownPlatform> {
  const read = async (file: string): Promise<string> =>
    await Deno.readTextFile(`${dir}/${file}`).catch(() => {
      throw new Error(`${dir}/${file} cannot be read: no sandbox runs with this folder.`);
    });
  const addresses = endpointsSchema.parse(JSON.parse(await read("endpoints.json")));
  const caPem = await read("ca.pem");
  const aheadMs = await secondsAhead(addresses, clockMs) * 1000;
  return { addresses, caPem, now: () => Date.now() + aheadMs };
}

/** A sandbox's clock can be ahead of this computer's. Any other platform has no such address. */
async function secondsAhead({ directory_url }: PlatformAddresses, clockMs: number): Promise<number> {
  const signal = AbortSignal.timeout(clockMs);
  const answer = await fetch(`${directory_url}/sandbox/clock`, { signal }).catch(() => undefined);
  const told = answer?.ok === true ? await answer.json() as { readonly ahead_seconds?: unknown } : undefined;
  if (answer?.ok === false) await answer.body?.cancel();
  return typeof told?.ahead_seconds === "number" ? told.ahead_seconds : 0;
}
