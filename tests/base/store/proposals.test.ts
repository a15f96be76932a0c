/** Proposals of any program: what is stored, how many can be open, when they end and who may approve [FE1, FE8, DRC8]. */
import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { z } from "zod";
import { ApiError } from "../../../src/base/kernel/api_error.ts";
import {
  defineProposals,
  PROPOSAL_MS,
  type Proposed,
  proposedMembers,
  type Proposer,
} from "../../../src/base/store/proposals.ts";
import type { Store } from "../../../src/base/store/store.ts";
import { transact } from "../../../src/base/store/transaction.ts";
import { openTestStore } from "testing/test_store.ts";

const DAY_MS = 86_400_000;
const NOW = Date.now();

const proposals = defineProposals<Proposed>({
  names: ["thing_proposal", "open_things"],
  keys: [["thing_proposal"], ["open_things"]],
  what: "A thing.",
  lifetime: "30 days.",
  schema: z.looseObject({ ...proposedMembers, state: z.string() }),
  isOpen: (state) => state === "open",
  conflict: "operations.conflict",
});

function proposalOf(id: string, who: string, changes: Partial<Proposed> = {}): Proposed {
  return { id, who, state: "open", proposedAt: NOW, expiresAt: NOW + PROPOSAL_MS, ...changes };
}

async function propose(store: Store, ...all: readonly Proposed[]): Promise<void> {
  for (const one of all) {
    const options = { what: "proposal", attempts: 1 };
    await transact({ store, clock: () => NOW }, options, (tx) => proposals.stageNew(tx, one));
  }
}

Deno.test("proposals are stored whole, found, listed by id, and kept for 30 days from when they were made", async () => {
  const kv = await openTestStore();
  const expiries: unknown[] = [];
  const store: Store = {
    ...kv,
    commit(staged) {
      expiries.push(...staged.writes.map((write) => write.kind === "set" && [write.key[0], write.expiresAt]));
      return kv.commit(staged);
    },
  };
  const decided = { state: "approved", person: "p-2", decidedBy: "maria", decidedAt: NOW + 1 };
  const [first, second] = [proposalOf("a", "luis"), proposalOf("b", "ana", decided)];
  await propose(store, first, second);
  assertEquals(PROPOSAL_MS, DAY_MS);
  assertEquals(expiries, [
    ["open_things", undefined],
    ["thing_proposal", NOW + 30 * DAY_MS],
    ["open_things", undefined],
    ["thing_proposal", NOW + 30 * DAY_MS],
  ]);
  assertEquals((await proposals.find(store, "b"))?.value, second);
  assertEquals(await proposals.find(store, "c"), null);
  assertEquals(await proposals.findAll(store, ["b", "c", "a"]), [second, first]);
  assertEquals(await proposals.list(store, 9), [first, second]);
  assertEquals(await proposals.list(store, 1), [first]);
  assertEquals(await proposals.list(store, 9, "a"), [second]);
  assertEquals((await store.get(["open_things"]))?.value, {
    open: [{ id: "a", who: "luis", expiresAt: NOW + PROPOSAL_MS }],
    v: 1,
  });
  const open = await proposals.readOpen(store, NOW + PROPOSAL_MS - 1);
  assertEquals([open.has(first), open.has(second)], [true, false]);
  assertEquals((await proposals.readOpen(store, NOW + PROPOSAL_MS)).open, []);
  await store.close();
});

Deno.test("a change takes an ended proposal off the list, and of two changes at once one is made", async () => {
  await using store = await openTestStore();
  await propose(store, proposalOf("a", "luis"), proposalOf("b", "luis"));
  const change = async (id: string, state: string): Promise<boolean> => {
    const [former, open] = await Promise.all([proposals.find(store, id), proposals.readOpen(store, NOW)]);
    if (former === null) throw new Error("it was proposed");
    return await transact(
      { store, clock: () => NOW },
      { what: "one", attempts: 1, lost: () => false },
      (tx) => {
        proposals.stageChange(tx, former, { ...former.value, state }, open);
        return Promise.resolve(true);
      },
    );
  };
  const idsOf = async (): Promise<unknown> => (await proposals.readOpen(store, NOW)).open.map(({ id }) => id);
  const both = await Promise.all([change("a", "withdrawn"), change("b", "withdrawn")]);
  assertEquals(both.filter(Boolean).length, 1);
  const left = both[0] ? "b" : "a";
  assertEquals(await idsOf(), [left]);
  assertEquals([await change(left, "open"), await idsOf()], [true, [left]]);
  assertEquals([await change(left, "approved"), await idsOf()], [true, []]);
  const again = { attempts: 1, what: "proposal" };
  await assertRejects(
    () =>
      transact({ store, clock: () => NOW }, again, (tx) => proposals.stageNew(tx, proposalOf("a", "luis"))),
    ApiError,
  );
});

async function rejection(work: () => Promise<void>): Promise<unknown> {
  const { reason, parts } = await assertRejects(work, ApiError);
  return [reason, parts];
}

const conflict = (description: string): unknown => ["operations.conflict", { description }];

Deno.test("a person has 20 open proposals and all people 50, and those that ended make room", async () => {
  await using store = await openTestStore();
  const many = (who: string, count: number): readonly Proposed[] =>
    Array.from({ length: count }, (_, number) => proposalOf(`${who}-${number}`, who));
  await propose(store, ...many("ana", 20), ...many("luis", 19));
  const ofPerson = "You have 20 open proposals. Withdraw one, or wait until one is decided.";
  assertEquals(await rejection(() => propose(store, proposalOf("x", "ana"))), conflict(ofPerson));
  await propose(store, proposalOf("luis-19", "luis"), ...many("eva", 10));
  const ofAll = "There are 50 open proposals. Wait until one is decided.";
  assertEquals(await rejection(() => propose(store, proposalOf("x", "eva"))), conflict(ofAll));
  assertEquals(await rejection(() => propose(store, proposalOf("x", "ana"))), conflict(ofPerson));
  const later = { proposedAt: NOW + PROPOSAL_MS, expiresAt: NOW + 2 * PROPOSAL_MS };
  await propose(store, proposalOf("x", "ana", later));
  assertEquals((await proposals.readOpen(store, NOW)).open.map(({ id }) => id), ["x"]);
});

Deno.test("two people approve: not the proposer under another name, nor one whose person is not known", () => {
  const own = conflict("You have proposed it yourself: another person must approve it.");
  const unknown = conflict(
    "One of you has a token and one is known to the OpenID provider, so you may be one person: " +
      "give the token a person in its list.",
  );
  const told = (proposer: Proposer, approver: Proposer): unknown => {
    const { person, who } = proposer;
    const proposal = proposalOf("a", who, person === undefined ? {} : { person });
    try {
      proposals.requireOther(proposal, approver);
      return "approved";
    } catch (error) {
      return error instanceof ApiError ? [error.reason, error.parts] : error;
    }
  };
  const cases: readonly (readonly [Proposer, Proposer, unknown])[] = [
    [{ who: "ana" }, { who: "luis" }, "approved"],
    [{ who: "ana" }, { who: "ana" }, own],
    [{ who: "ana", person: "1" }, { who: "luis", person: "2" }, "approved"],
    [{ who: "ana", person: "1" }, { who: "luis", person: "1" }, own],
    [{ who: "ana", person: "1" }, { who: "ana", person: "2" }, own],
    [{ who: "ana", person: "1" }, { who: "luis" }, unknown],
    [{ who: "ana" }, { who: "luis", person: "1" }, unknown],
  ];
  for (const [proposer, approver, expected] of cases) assertEquals(told(proposer, approver), expected);
});

Deno.test("a stored proposal without one of its members is not read", () => {
  const whole = { ...proposalOf("a", "luis"), v: 1 };
  const decode = (value: object): Proposed =>
    proposals.record.decode({ key: ["thing_proposal", "a"], value, version: "1" }).value;
  for (const name of ["id", "who", "proposedAt", "expiresAt", "state"]) {
    assertThrows(() => decode({ ...whole, [name]: undefined }), Error, "", name);
    assertThrows(() => decode({ ...whole, [name]: true }), Error, "", name);
  }
  for (const name of ["person", "decidedBy", "decidedAt"]) {
    assertThrows(() => decode({ ...whole, [name]: true }), Error, "", name);
  }
});
