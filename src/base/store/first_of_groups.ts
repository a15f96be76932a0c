/** Lists entries fairly: of each group of keys the first ones, so that one group's entries do not displace another's. */
import type { Entry, Key, Store } from "./store.ts";

export interface GroupListing {
  readonly prefix: Key;
  /** Key parts after the prefix that name a group. */
  readonly parts: number;
  /** Entries of each group. */
  readonly perGroup: number;
  /** Wanted groups that are read. */
  readonly maxGroups: number;
  /** Whether the entries of a group are wanted. Others are passed over with one read. */
  readonly isWanted?: (group: Key) => boolean;
}

export interface GroupedEntries {
  readonly entries: readonly Entry<unknown>[];
  /** Whether these are all the entries of the wanted groups. */
  readonly isComplete: boolean;
}

/** Groups that are passed over. */
const MAX_PASSED = 10_000;
/** After every key part that begins a key below a group. */
const END = "\u{10FFFF}";

/** Returns the first entries of each group below a prefix, in the order of their keys. One read for each group. */
export async function firstOfGroups(
  store: Pick<Store, "list">,
  { prefix, parts, perGroup, maxGroups, isWanted = () => true }: GroupListing,
): Promise<GroupedEntries> {
  const entries: Entry<unknown>[] = [];
  let isComplete = true;
  let after: Key | undefined;
  for (let groups = 0, passed = 0; groups < maxGroups && passed < MAX_PASSED;) {
    const page = await store.list<unknown>({
      prefix,
      limit: perGroup + 1,
      ...(after === undefined ? {} : { after }),
    });
    const [first] = page;
    if (first === undefined) return { entries, isComplete };
    const group = first.key.slice(0, prefix.length + parts);
    after = [...group, END];
    if (!isWanted(group)) {
      passed++;
      continue;
    }
    groups++;
    const own = page.filter(({ key }) => group.every((part, index) => key[index] === part));
    entries.push(...own.slice(0, perGroup));
    isComplete &&= own.length <= perGroup;
  }
  return { entries, isComplete: false };
}
