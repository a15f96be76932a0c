/** A replay of more events of one moment than fit into it, such as those of a restore. */
import { assertEquals } from "@std/assert";
import type { BankCode, ClientId, ConsentId } from "../../../src/base/kernel/identifiers.ts";
import { openRequestReads } from "../../../src/base/store/request_reads.ts";
import { commitIfUnchanged, newReplayRecords } from "../../../src/base/store/transaction.ts";
import { openEventStore } from "../../../src/platform/events/event_store.ts";
import { MAX_REPLAYED, replayEvents } from "../../../src/platform/events/replay_events.ts";
import { openTestStore } from "testing/test_store.ts";

const NOW = Date.UTC(2040, 0, 15);
const OWNER = { clientId: "SC-0d2f7c1e-5a43-4f0e-9d1b-7a6f3e2c1b00" as ClientId, bank: "BANKA" as BankCode };

Deno.test("each replay begins behind the one before, also if more events are of one moment than it takes [EVT15]", async () => {
  await using store = await openTestStore();
  const deps = { store, clock: () => NOW };
  const events = openEventStore({ ...deps, keepMs: 86_400_000, baseUrl: "https://platform.example" });
  const count = MAX_REPLAYED + 3;
  for (let from = 0; from < count; from += 100) {
    await commitIfUnchanged(deps, (tx) => {
      for (let n = from; n < Math.min(count, from + 100); n++) {
        const consentId = `00000000-0000-7000-8000-${String(n).padStart(12, "0")}` as ConsentId;
        const change = {
          ...OWNER,
          consentId,
          resource: consentId,
          status: "Rejected",
          at: NOW,
          position: NOW,
        };
        events.stage(tx, { ...change, type: "consent-rejected" });
      }
    });
  }
  for (
    let left = await events.waiting(OWNER, 100);
    left.length > 0;
    left = await events.waiting(OWNER, 100)
  ) {
    await commitIfUnchanged(deps, (tx) => left.forEach(({ entry }) => events.stageDone(tx, entry)));
  }
  let from: number | undefined = NOW;
  for (let replays = 0; from !== undefined && replays < 3; replays++) {
    const request = { reads: openRequestReads(store), replayRecords: newReplayRecords(), interactionId: "" };
    const { next } = await replayEvents({ ...deps, events }, { owner: OWNER, from, to: NOW + 1, ...request });
    from = next;
  }
  assertEquals([from, (await events.waiting(OWNER, count + 1)).length], [undefined, count]);
});
