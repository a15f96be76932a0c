/**
 * Finds what many endpoints have in common word for word (a header, an answer), so that a reference describes it once
 * and names it everywhere else.
 */

/** A part that is described once. */
export interface CommonPart<Part> {
  /** Anchor of its description. */
  readonly id: string;
  readonly part: Part;
}

/** The common parts, by their content. */
export type CommonParts<Part> = ReadonlyMap<string, CommonPart<Part>>;

/** From so many equal uses on, a part is common. */
const COMMON_USES = 3;

/** The parts that are there at least three times; `nameOf` makes their anchors readable. */
export function commonAmong<Part>(all: readonly Part[], nameOf: (part: Part) => string): CommonParts<Part> {
  const common = new Map<string, CommonPart<Part>>();
  const taken = new Set<string>();
  for (const [content, [part, ...more]] of Map.groupBy(all, contentOf)) {
    if (part === undefined || more.length + 1 < COMMON_USES) continue;
    const name = nameOf(part);
    const id = taken.has(name) ? `${name}-${common.size}` : name;
    taken.add(id);
    common.set(content, { id, part });
  }
  return common;
}

/** An endpoint's parts, its own apart from those it shares. */
export function apart<Part>(
  parts: readonly Part[],
  common: CommonParts<Part>,
): { readonly own: readonly Part[]; readonly shared: readonly CommonPart<Part>[] } {
  return {
    own: parts.filter((part) => !common.has(contentOf(part))),
    shared: parts.flatMap((part) => common.get(contentOf(part)) ?? []),
  };
}

function contentOf(part: unknown): string {
  return JSON.stringify(part);
}
