/**
 * Finds what many endpoints have in common word for word (a header, an answer), so that a reference describes it once
 * and names it everywhere else.
 */
import { anchor } from "./paths.ts";

/** The common parts with the anchor of their description, by their content. */
export type CommonParts<Part> = ReadonlyMap<string, { readonly id: string; readonly part: Part }>;

/** From so many equal uses on, a part is common. */
const COMMON_USES = 3;

/** The parts that are there at least three times. The member `named` makes their anchors readable. */
export function commonAmong<Named extends string, Part extends Readonly<Record<Named, string>>>(
  all: readonly Part[],
  kind: string,
  named: Named,
): CommonParts<Part> {
  const common = new Map<string, { readonly id: string; readonly part: Part }>();
  for (const [content, [part, ...more]] of Map.groupBy(all, partKey)) {
    if (part === undefined || more.length + 1 < COMMON_USES) continue;
    const name = anchor(`${kind}-${part[named]}`);
    const isTaken = common.values().some(({ id }) => id === name);
    common.set(content, { id: isTaken ? `${name}-${common.size}` : name, part });
  }
  return common;
}

/** The key of a part among the common ones. */
export function partKey(part: unknown): string {
  return JSON.stringify(part);
}
