/** Tries every layer between a participant and a payment in order, and stops at the first that is wrong. */
import { ACCESS_LAYERS } from "./access_layers.ts";
import { BANK_LAYERS } from "./bank_layers.ts";
import { CREDENTIAL_LAYERS } from "./credential_layers.ts";
import {
  beginExamination,
  describeError,
  type Examination,
  type Layer,
  type Patient,
  Wrong,
} from "./examination.ts";
import { tppLayers } from "./tpp_layers.ts";

/** The first thing that is wrong. */
export interface Finding {
  readonly layer: string;
  readonly wrong: string;
  /** The command that mends it, or shows more. */
  readonly mend: string;
}

/**
 * Examines a participant.
 *
 * @param report gets each layer that is fine, with a few words
 * @returns undefined if every layer is fine
 */
export async function examine(
  patient: Patient,
  report: (layer: string, words: string) => void,
): Promise<Finding | undefined> {
  let at: Examination | undefined;
  let layer = "platform";
  let mend: Layer["mend"] = () => "";
  try {
    at = await beginExamination(patient);
    for (const next of layersOf(at)) {
      ({ name: layer, mend } = next);
      report(layer, await next.check(at));
    }
    return undefined;
  } catch (error) {
    const given = error instanceof Wrong ? error.mend : undefined;
    return { layer, wrong: describeError(error), mend: given ?? (at === undefined ? "" : mend(at)) };
  } finally {
    for (const close of at?.close ?? []) close();
  }
}

/** The role is known after the first layers. */
function* layersOf(at: Examination): Iterable<Layer> {
  yield* CREDENTIAL_LAYERS;
  yield* ACCESS_LAYERS;
  yield* at.description?.role === "ASPSP" ? BANK_LAYERS : tppLayers(at);
}
