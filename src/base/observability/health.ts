/** Liveness: the process answers. Readiness: it can do its work, part by part, for the operator's probes. */
import type { LogState } from "./log_queue.ts";

/** The state of one part. */
export interface PartHealth {
  readonly ok: boolean;
  readonly detail?: string;
}

/** A probe of a part that the platform needs. */
export type Probe = () => PartHealth | Promise<PartHealth>;

/** All parts; the platform is ready when every required one is. */
export interface Readiness {
  readonly ready: boolean;
  readonly parts: Readonly<Record<string, PartHealth>>;
}

/** Probes every part. `advisory` ones are shown but do not make the platform unready: traffic goes on without them. */
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

/** Whether the store can be read and written. */
export function storeProbe(isWorking: () => Promise<boolean>): Probe {
  return async () => await isWorking() ? { ok: true } : { ok: false, detail: "cannot be read or written" };
}

/** Whether log lines are written, and how many were lost. */
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
