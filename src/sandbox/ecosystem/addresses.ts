/**
 * The sandbox's addresses: six consecutive ports on this computer's loopback addresses (Decision F2). Never binds any
 * other address.
 */
import { CannotStart } from "./cannot_start.ts";

/** Base addresses of the six services, without a trailing slash. */
export interface Addresses {
  readonly baseUrl: string;
  readonly authUrl: string;
  readonly directoryUrl: string;
  readonly banksUrl: string;
  readonly shopUrl: string;
  /** The platform's operations API. */
  readonly operationsUrl: string;
  /** `aud` of registration JWTs: a constant of this sandbox that is not a reachable address. */
  readonly registrationAudience: string;
}

/** Number of ports that the sandbox uses, starting with the first. */
export const PORT_COUNT = 6;

/** The first of them are the platform's: its API and its browser host. */
export const PLATFORM_PORTS = 2;

const highestFirstPort = 65_535 - (PORT_COUNT - 1);

/** "localhost" resolves to either address; browsers try `::1` first. */
const loopbackHosts = ["127.0.0.1", "::1"] as const;

/** The addresses for a first port (Decision F2). */
export function addressesAt(port: number): Addresses {
  const directoryUrl = `http://localhost:${port + 2}`;
  return {
    baseUrl: `https://localhost:${port}`,
    authUrl: `http://localhost:${port + 1}`,
    directoryUrl,
    banksUrl: `http://localhost:${port + 3}`,
    shopUrl: `http://localhost:${port + 4}`,
    operationsUrl: `http://localhost:${port + 5}`,
    registrationAudience: `${directoryUrl}/registration-audience`,
  };
}

/**
 * `SANDBOX_PORT` as a number.
 * @throws {CannotStart} if it is not a port with five more above it.
 */
export function readFirstPort(text: string): number {
  const port = /^[1-9]\d{0,4}$/.test(text) ? Number(text) : NaN;
  if (!(port <= highestFirstPort)) {
    throw new CannotStart(`SANDBOX_PORT must be a number from 1 to ${highestFirstPort}, not "${text}".`);
  }
  return port;
}

/**
 * The loopback addresses this computer has, after checking that every port from `offset` on is free on each of them.
 * @throws {CannotStart} naming the first port that is in use.
 */
export function freeLoopbackHosts(firstPort: number, offset = 0): readonly string[] {
  return loopbackHosts.filter((host) => {
    for (let port = firstPort + offset; port < firstPort + PORT_COUNT; port++) {
      if (!tryPort(host, port)) return false;
    }
    return true;
  });
}

/** Turns the two usual bind errors into a sentence; returns any other error unchanged. */
export function explainBindError(error: unknown, port: number): unknown {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (error instanceof Deno.errors.AddrInUse || code === "EADDRINUSE") {
    return new CannotStart(
      `Port ${port} is already in use: stop what listens there, or set SANDBOX_PORT to the first of ` +
        `${PORT_COUNT} free ports in a row.`,
    );
  }
  if (error instanceof Deno.errors.PermissionDenied || code === "EACCES") {
    return new CannotStart(`Port ${port} may not be used here: set SANDBOX_PORT to a port above 1024.`);
  }
  return error;
}

/** True: free. False: the host is not an address of this computer. */
function tryPort(hostname: string, port: number): boolean {
  try {
    Deno.listen({ hostname, port }).close();
    return true;
  } catch (error) {
    // Only `::1` may be missing; the sandbox needs 127.0.0.1.
    if (hostname === "::1" && isMissingAddress(error)) return false;
    throw explainBindError(error, port);
  }
}

function isMissingAddress(error: unknown): boolean {
  if (error instanceof Deno.errors.AddrNotAvailable) return true;
  // EAFNOSUPPORT has no error class of its own in Deno.
  return error instanceof Error && /os error (97|99|47|49|10047|10049)\b/.test(error.message);
}
