/** Reads the addresses of a running sandbox from `endpoints.json` (Decision F2). */
import { z } from "zod";

const address = z.url({ protocol: /^https?$/ }).refine((url) => !url.endsWith("/"), "no trailing slash");

const endpointsJson = z.object({
  base_url: address,
  auth_url: address,
  directory_url: address,
  banks_url: address,
  shop_url: address,
  registration_audience: z.string().min(1),
});

/** Base addresses of the sandbox's services, without a trailing slash. */
export type SandboxEndpoints = z.infer<typeof endpointsJson>;

/**
 * Reads `<dir>/endpoints.json`; undefined if it does not exist.
 * @throws {Error} if the file is not valid
 */
export async function readEndpoints(dir: string): Promise<SandboxEndpoints | undefined> {
  try {
    return decodeEndpoints(JSON.parse(await Deno.readTextFile(`${dir}/endpoints.json`)));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** @throws {Error} if an address is missing or invalid. */
export function decodeEndpoints(value: unknown): SandboxEndpoints {
  return endpointsJson.parse(value);
}
