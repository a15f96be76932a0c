/** Where a running sandbox answers: reads `endpoints.json` (Decision F2). Decides nothing, writes nothing. */
import { z } from "zod";

const address = z.url({ protocol: /^https?$/ }).refine((url) => !url.endsWith("/"), "no trailing slash");

const endpointsJson = z.object({
  base_url: address,
  auth_url: address,
  directory_url: address,
  banks_url: address,
  shop_url: address,
});

/** Base addresses of the sandbox's services, without a trailing slash. */
export type SandboxEndpoints = z.infer<typeof endpointsJson>;

/**
 * Reads `<dir>/endpoints.json`; undefined where there is none.
 * @throws {Error} when the file is there and is not what it should be.
 */
export async function readEndpoints(dir: string): Promise<SandboxEndpoints | undefined> {
  try {
    return decodeEndpoints(JSON.parse(await Deno.readTextFile(`${dir}/endpoints.json`)));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** @throws {Error} when an address is missing or is none. */
export function decodeEndpoints(value: unknown): SandboxEndpoints {
  return endpointsJson.parse(value);
}
