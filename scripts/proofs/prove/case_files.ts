/** The evidence of every consent and payment, read as an auditor reads it and verified as a bundle is verified offline. */
import { verifyBundle } from "../../operators/case/verify_bundle.ts";
import { newFindings } from "../../operators/case/verify_parts.ts";
import { type ApiAnswer, getOperation } from "../../operators/operations_api/client.ts";
import { pause } from "./calls.ts";
import type { OperationsApi } from "./system.ts";

/** A consent and its payment, if it has one. */
export interface CaseId {
  readonly consentId: string;
  readonly paymentId?: string;
}

/** The findings about the bundle of a case. */
export interface CaseSeen extends CaseId {
  /** Each thing that does not hold, or the reason why there is no bundle, as a sentence. */
  readonly faults: readonly string[];
  /** The entries of both histories, in their order. */
  readonly steps: readonly CaseStep[];
}

/** An entry and the kinds of its evidence that is in the bundle. */
export interface CaseStep {
  readonly event: string;
  readonly kinds: readonly string[];
}

/** Bundles that are read and verified at once. */
const AT_ONCE = 8;
/** For all of them: the log must have taken up every entry by then. */
const WITHIN_MS = 120_000;
const PAUSE_MS = 250;
/** Of one bundle. */
const MAX_FAULTS = 3;

/** Reads and verifies the bundle of each case, at the platform's processes in turn. Never rejects for a missing one. */
export async function readCases(
  operations: readonly OperationsApi[],
  cases: readonly CaseId[],
): Promise<readonly CaseSeen[]> {
  const until = Date.now() + WITHIN_MS;
  const seen: CaseSeen[] = [];
  let next = 0;
  async function worker(): Promise<void> {
    for (let at = next++; at < cases.length; at = next++) {
      const [id, api] = [cases[at], operations[at % operations.length]];
      if (id === undefined || api === undefined) throw new Error("the platform has no operations API");
      seen.push(await readOne(api, id, until));
    }
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, cases.length) }, worker));
  return seen;
}

/** By the payment's id where there is one: it must lead to the consent. */
async function readOne(api: OperationsApi, id: CaseId, until: number): Promise<CaseSeen> {
  const name = id.paymentId ?? id.consentId;
  try {
    const { ok, status, text } = await getInTime(api, `/cases/${name}`, until);
    if (!ok) throw new Error(`the platform answered ${status}`);
    return await verified(id, new TextEncoder().encode(text));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { ...id, faults: [`case ${name} has no bundle: ${why}`], steps: [] };
  }
}

/** 503 until the log has the newest entry (contract EV9). */
async function getInTime({ tools, url }: OperationsApi, path: string, until: number): Promise<ApiAnswer> {
  while (true) {
    try {
      return await getOperation(tools, url, path);
    } catch (error) {
      if (Date.now() > until) throw error;
    }
    await pause(PAUSE_MS);
  }
}

/** Verifies the bytes of a bundle, which must be of this case. */
async function verified(id: CaseId, bytes: Uint8Array): Promise<CaseSeen> {
  const findings = newFindings();
  const faults: string[] = [];
  const name = id.paymentId ?? id.consentId;
  for await (const fault of verifyBundle(bytes, findings)) {
    faults.push(`case ${name}: ${fault}`);
    if (faults.length === MAX_FAULTS) break;
  }
  const { bundle, statement } = findings;
  const isOfCase = statement?.consent === id.consentId &&
    (id.paymentId === undefined || statement.payment === id.paymentId);
  if (statement !== undefined && !isOfCase) {
    faults.push(`case ${name}: the bundle is of ${statement.consent}`);
  }
  const steps = (bundle?.entries ?? []).map(({ record: { event, items = [] }, bodies }) => ({
    event,
    kinds: items.flatMap(({ kind }, at) => bodies[at] ? [kind] : []),
  }));
  return { ...id, faults, steps };
}
