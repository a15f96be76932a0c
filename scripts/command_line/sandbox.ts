/**
 * The sandbox that a command runs against: the one that is running, or one started in a temporary folder on free
 * ports and removed afterwards. Touches no other folder.
 */
import { freeSandboxPorts } from "./free_ports.ts";
import {
  decodeEndpoints,
  readEndpoints,
  type SandboxEndpoints,
} from "../../src/sandbox/shop/sandbox_endpoints.ts";

/** A sandbox that answers. `close` stops it if the command started it. */
export interface OpenSandbox {
  readonly dir: string;
  readonly endpoints: SandboxEndpoints;
  readonly startedHere: boolean;
  /** The sandbox's time, milliseconds: this computer's unless the sandbox clock was moved. */
  readonly now: () => number;
  close(): Promise<void>;
}

const livenessMilliseconds = 3000;

/** Finds or starts a sandbox; `log` hears what a started one says. */
export async function openSandbox(dir: string, log: (line: string) => void): Promise<OpenSandbox> {
  const endpoints = await readEndpoints(dir);
  if (endpoints !== undefined && await answers(endpoints)) {
    const aheadMs = await prefetch(endpoints);
    const now = (): number => Date.now() + aheadMs;
    return { dir, endpoints, startedHere: false, now, close: (): Promise<void> => Promise.resolve() };
  }
  return await startSandbox(log);
}

async function startSandbox(log: (line: string) => void): Promise<OpenSandbox> {
  const { startEcosystem } = await import("../../src/sandbox/ecosystem/ecosystem.ts");
  const dir = await Deno.makeTempDir({ prefix: "sandbox-" });
  const removeDir = (): Promise<void> => Deno.remove(dir, { recursive: true });
  try {
    const running = await startEcosystem({ port: freeSandboxPorts(), dir, log });
    const close = async (): Promise<void> => {
      await running.stop();
      await removeDir();
    };
    return { dir, endpoints: decodeEndpoints(running.endpoints), startedHere: true, now: Date.now, close };
  } catch (error) {
    await removeDir();
    throw error;
  }
}

async function prefetch({ directory_url }: SandboxEndpoints): Promise<number> {
  const response = await fetch(`${directory_url}/sandbox/clock`);
  const { ahead_seconds } = await response.json() as { readonly ahead_seconds?: unknown };
  return typeof ahead_seconds === "number" ? ahead_seconds * 1000 : 0;
}

/** An endpoints.json may be left over from a sandbox that is gone. */
async function answers({ auth_url }: SandboxEndpoints): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(livenessMilliseconds);
    const response = await fetch(`${auth_url}/.well-known/oauth-authorization-server/BANKA`, { signal });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false; // the port is closed, or another program listens there
  }
}
