/** Forges genuine bundles and asks two verifiers: that of the platform, and the second one. */
import { readRevocations, verify } from "../../scripts/operators/case/verify.ts";
import { attacksOn } from "./attacks.ts";
import { readRevoked, type Revoked } from "./certificate.ts";
import { listOf, membersOf } from "./encoding.ts";
import { closeDraft, type Draft, openDraft, shapeOf } from "./drafts.ts";
import { mutationsOf, type Path } from "./mutations.ts";
import type { Trust } from "./parties.ts";
import { faultsOf } from "./verifier.ts";

/** What each verifier says first. Undefined: the bundle holds. */
export interface Verdicts {
  readonly product: string | undefined;
  readonly second: string | undefined;
}

const REFUSAL = "DOES NOT HOLD: ";

/** @param revokedKeys a key set of revoked keys, as the directory publishes it */
export async function judge(text: string, trust: Trust, revokedKeys?: string): Promise<Verdicts> {
  const bytes = new TextEncoder().encode(text);
  const known = revokedKeys === undefined ? {} : { revoked: readRevocations(revokedKeys) };
  const second = revokedKeys === undefined ? [] : [readRevoked(new TextEncoder().encode(revokedKeys))];
  return {
    product: await productSays(bytes, { trusted: trust, ...known }),
    second: await secondSays(bytes, trust, ...second),
  };
}

async function productSays(
  bytes: Uint8Array,
  trust: Parameters<typeof verify>[1],
): Promise<string | undefined> {
  const refusals: string[] = [];
  const print = (line: string): void => {
    if (!line.startsWith(REFUSAL)) return;
    refusals.push(line.slice(REFUSAL.length));
    throw new Error("the first refusal is enough");
  };
  const holds = await verify(bytes, trust, print).catch((error) => {
    if (refusals.length === 0) throw error;
    return false;
  });
  return holds ? undefined : refusals[0];
}

async function secondSays(
  bytes: Uint8Array,
  ...given: [Trust, Revoked?]
): Promise<string | undefined> {
  for await (const [step, fault] of faultsOf(bytes, ...given)) return `step ${step}: ${fault}`;
  return undefined;
}

/** Names a place by events and kinds instead of numbers, so that the same place of two cases has one name. */
export function placeOf(draft: Draft, path: Path): string {
  const [list, at, part, ...rest] = path;
  const entry = list === "entries" ? draft.entries[Number(at)] : undefined;
  if (entry === undefined) return path.map((step) => typeof step === "number" ? "N" : step).join(".");
  const { record } = entry;
  const isByOperator = String(record["actor"]).startsWith("operator ");
  const event = `${record["sequence"] === 1 ? "first " : ""}${record["event"]}${
    isByOperator ? " by operator" : ""
  }`;
  const items = listOf(record["items"]);
  const named = rest.map((step, depth) => {
    const isItem = depth === 0 && part === "bodies" || depth === 1 && rest[0] === "items";
    if (isItem) return String(membersOf(items[Number(step)])["kind"]);
    return typeof step === "number" ? "N" : step;
  });
  return [event, ...(part === undefined ? [] : [part]), ...named].join(".");
}

export interface Forgery {
  readonly kind: string;
  /** The kind of the forgery and its place. */
  readonly name: string;
  readonly text: string;
}

/**
 * Yields each forgery of the first bundle that says something else.
 *
 * @param second another genuine bundle of its kind
 * @param life what the names of places outside of the platform's own part begin with
 */
export async function* forgeriesOf(
  text: string,
  second: string,
  isWanted: (name: string) => boolean,
  life = "",
): AsyncGenerator<Forgery> {
  const shape = shapeOf(text);
  const unchanged = await closeDraft(openDraft(text), "digests", shape);
  const [draft, other] = [openDraft(unchanged), openDraft(second)];
  for (const { apply, from, kind, path } of [...attacksOn(draft, other), ...mutationsOf(draft, other)]) {
    // In the proof of a deletion nothing but signatures of the platform names a key.
    if (shape === "entry" && kind === "changed everywhere" && path.at(-1) === "kid") continue;
    const isOfPlatform = ["keys", "checkpoint", "statement"].includes(String(path[0]));
    const name = `${kind}: ${isOfPlatform ? "" : life}${placeOf(draft, path)}`;
    if (!isWanted(name)) continue;
    const forged = structuredClone(draft);
    await apply(forged);
    const closed = await closeDraft(forged, from, shape);
    if (closed !== unchanged) yield { kind, name, text: closed };
  }
}
