/** Free ports for a sandbox. */
import { PORT_COUNT } from "../../src/sandbox/ecosystem/addresses.ts";

const ATTEMPTS = 100;

/**
 * Returns the first of the sandbox's ports in a row (decision F2), away from the default ones and from those that the
 * system gives to outgoing connections.
 *
 * @throws {Error} if none were free
 */
export function freeSandboxPorts(): number {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const first = 21_000 + Math.floor(Math.random() * 9000);
    if (Array.from({ length: PORT_COUNT }, (_, index) => first + index).every(isFree)) return first;
  }
  throw new Error("No six free ports in a row were found");
}

function isFree(port: number): boolean {
  try {
    Deno.listen({ hostname: "127.0.0.1", port }).close();
    return true;
  } catch {
    return false;
  }
}
