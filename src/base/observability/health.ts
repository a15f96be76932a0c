/** Liveness means that the process answers. Readiness means that it can do its work, and is probed part by part. */
import type { LogState } from "./log_queue.ts";

export interface PartHealth {
  readonly ok: boolean;
  readonly detail?: string;
}

export type Probe = () => PartHealth | Promise<PartHealth>;

/** The state of all parts. The platform is ready if every required part is. */
export interface Readiness {
  readonly ready: boolean;
  readonly parts: Readonly<Record<string, PartHealth>>;
}

/** Runs all probes. A failed `advisory` probe is shown but does not make the platform unready. */
export async function readiness(
  required: Readonly<Record<string, Probe>>,
  advisory: Readonly<Record<string, Probe>>,
): Promise<Readiness> {
  const probed = async (probes: Readonly<Record<string, Probe>>): Promise<[string, PartHealth][]> =>
    await Promise.all(
      Object.entries(probes).map(async ([name, probe]) =>
        [name, await safely(probe)] as [string, PartHealth]
      ),
    );
  const [must, may] = await Promise.all([probed(required), probed(advisory)]);
  return { ready: must.every(([, { ok }]) => ok), parts: Object.fromEntries([...must, ...may]) };
}

/** Probes whether the store can be read and written. */
export function storeProbe(isWorking: () => Promise<boolean>): Probe {
  return async () => await isWorking() ? { ok: true } : { ok: false, detail: "cannot be read or written" };
}

/** Probes whether log lines are written, and counts the lost ones. */
export function logProbe(state: () => LogState): Probe {
  return () => {
    const { dropped, reported, fault } = state();
    const details = [
      ...(fault === undefined ? [] : [`the last write failed: ${fault}`]),
      ...(dropped === 0 ? [] : [`${dropped} lines were dropped since the start`]),
    ];
    const ok = fault === undefined && reported;
    return details.length === 0 ? { ok } : { ok, detail: details.join("; ") };
  };
}

async function safely(probe: Probe): Promise<PartHealth> {
  try {
    return await probe();
  } catch (error) {
    return { ok: false, detail: error instanceof Error ? error.name : "failed" };
  }
}
