/** Ports that are free and that no other process of this computer has just chosen for itself. */
import { PORT_COUNT } from "../../src/sandbox/ecosystem/addresses.ts";

const ATTEMPTS = 100;
/** Ports that were chosen, as empty folders. A program listens some time after its port was chosen. */
const CLAIMS = "/tmp/payment-platform-ports";
const CLAIM_MS = 900_000;

/**
 * Returns the first of the sandbox's ports in a row (decision F2), away from the default ones and from those that the
 * system gives to outgoing connections.
 *
 * @throws {Error} if none were free
 */
export function freeSandboxPorts(): number {
  return claimPorts(21_000, 9000, PORT_COUNT);
}

/**
 * Returns a free port below those that the system gives to outgoing connections.
 *
 * @param first 20,000 for a program that starts again on its port
 * @throws {Error} if none was free
 */
export function freePort(first: 10_000 | 20_000 = 10_000): number {
  return claimPorts(first, 10_000, 1);
}

/** Claims `count` ports in a row that begin in the range. */
function claimPorts(first: number, range: number, count: number): number {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const start = first + Math.floor(Math.random() * range);
    const ports = Array.from({ length: count }, (_, index) => start + index);
    if (ports.every((port) => claim(port) && isFree(port))) return start;
  }
  throw new Error(`No ${count} free ports in a row were found`);
}

/** Claims a port among processes. A claim ends by its age. */
function claim(port: number): boolean {
  const path = `${CLAIMS}/${port}`;
  Deno.mkdirSync(CLAIMS, { recursive: true });
  try {
    Deno.mkdirSync(path);
    return true;
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
    if (Date.now() - (Deno.statSync(path).mtime?.getTime() ?? 0) < CLAIM_MS) return false;
    Deno.utimeSync(path, new Date(), new Date());
    return true;
  }
}

/** Ends the claim of a port before its age does. */
export function giveBack(port: number): void {
  Deno.removeSync(`${CLAIMS}/${port}`);
}

function isFree(port: number): boolean {
  try {
    Deno.listen({ hostname: "127.0.0.1", port }).close();
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.AddrInUse) return false;
    throw error;
  }
}
