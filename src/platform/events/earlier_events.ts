/**
 * Events that were stored before a page of a walk after the walk had read their places. Keys are in the order of the
 * clocks, and a commit may take its time, so an event may appear behind those that were read. The next event of its
 * resource can then be on a later page, and must wait for it (contract EVT13).
 */
import type { EventPlace } from "./event.ts";
import type { EventOwner, EventStore } from "./event_store.ts";
import { pushOf } from "./push_state.ts";

const PAGE = 200;

/**
 * Reads again what waits before a page, and adds its resources to `blocked`. An event on the page was committed after
 * the earlier ones of its resource, so a read that begins after that of the page finds them.
 *
 * @param first of the page
 * @returns the number of pages read, and whether a resource was added
 */
export async function blockEarlier(
  events: EventStore,
  { owner, blocked }: { readonly owner: EventOwner; readonly blocked: Set<string> },
  first: EventPlace,
): Promise<{ readonly pages: number; readonly added: boolean }> {
  const known = blocked.size;
  let last: EventPlace | undefined;
  let pages = 0;
  do {
    pages++;
    const page = await events.waiting(owner, PAGE, last);
    for (const event of page) {
      if (isBefore(event, first) && !pushOf(event.entry.value).dead) blocked.add(event.resource);
    }
    last = page.length < PAGE ? undefined : page.at(-1);
  } while (last !== undefined && isBefore(last, first));
  return { pages, added: blocked.size > known };
}

/** As the keys are ordered. */
function isBefore(one: EventPlace, other: EventPlace): boolean {
  return one.position < other.position ||
    (one.position === other.position && one.resource < other.resource);
}
