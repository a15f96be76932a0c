/** Forges genuine bundles and asks two verifiers: that of the platform, and the second one. */
import { verify } from "../../scripts/operators/case/verify.ts";
import { attacksOn } from "./attacks.ts";
import { listOf, membersOf } from "./encoding.ts";
import { closeDraft, type Draft, openDraft } from "./drafts.ts";
import { mutationsOf, type Path } from "./mutations.ts";
import type { Trust } from "./parties.ts";
import { faultsOf } from "./verifier.ts";

/** What each verifier says first. Undefined: the bundle holds. */
export interface Verdicts {
  readonly product: string | undefined;
  readonly second: string | undefined;
}

const REFUSAL = "DOES NOT HOLD: ";

export async function judge(text: string, trust: Trust): Promise<Verdicts> {
  const bytes = new TextEncoder().encode(text);
  return { product: await productSays(bytes, trust), second: await secondSays(bytes, trust) };
}

async function productSays(bytes: Uint8Array, trusted: Trust): Promise<string | undefined> {
  const refusals: string[] = [];
  const print = (line: string): void => {
    if (!line.startsWith(REFUSAL)) return;
    refusals.push(line.slice(REFUSAL.length));
    throw new Error("the first refusal is enough");
  };
  const holds = await verify(bytes, { trusted }, print).catch((error) => {
    if (refusals.length === 0) throw error;
    return false;
  });
  return holds ? undefined : refusals[0];
}

async function secondSays(bytes: Uint8Array, trust: Trust): Promise<string | undefined> {
  for await (const [step, fault] of faultsOf(bytes, trust)) return `step ${step}: ${fault}`;
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

/** Yields each forgery of the first bundle that says something else. `second` is another genuine bundle of its kind. */
export async function* forgeriesOf(
  text: string,
  second: string,
  isWanted: (name: string) => boolean,
): AsyncGenerator<Forgery> {
  const unchanged = await closeDraft(openDraft(text));
  const [draft, other] = [openDraft(unchanged), openDraft(second)];
  for (const { apply, from, kind, path } of [...attacksOn(draft, other), ...mutationsOf(draft, other)]) {
    const name = `${kind}: ${placeOf(draft, path)}`;
    if (!isWanted(name)) continue;
    const forged = structuredClone(draft);
    await apply(forged);
    const closed = await closeDraft(forged, from);
    if (closed !== unchanged) yield { kind, name, text: closed };
  }
}
