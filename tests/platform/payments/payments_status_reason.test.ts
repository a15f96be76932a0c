/** Why a bank rejected a payment, as its TPP reads it [G6]. */
import { assertEquals } from "@std/assert";
import { putStatus } from "../../../scripts/testing/back_channel.ts";
import { authorised, call, clientToken, good, type Json, pay } from "../../../scripts/testing/flows.ts";
import { down, history, later, openPushWorld, paid, payment } from "../../support/orders.ts";
import { openWorld } from "../../../scripts/testing/environment.ts";

const REASON = "AM04: Insufficient funds";

Deno.test("A payment that the bank has reported as Rejected carries the bank's reason, in GET and in a repeated POST [G6]", async () => {
  await using world = await openWorld();
  const flow = await authorised(world);
  const idempotencyKey = crypto.randomUUID();
  const made = (await good(pay(world, flow, { idempotencyKey }), 201)).Data;
  assertEquals(made.StatusReason, undefined);
  const reportOf = (Status: string) => ({
    Status,
    StatusUpdateDateTime: new Date(world.now).toISOString(),
    StatusReason: REASON,
  });
  const path = made.DomesticPaymentId;
  await good(putStatus(world, world.bankA, path, reportOf("Rejected")), 200);
  const read = await payment(world, path);
  assertEquals([read.Status, read.StatusReason], ["Rejected", REASON]);
  const repeated = (await good(pay(world, flow, { idempotencyKey }), 201)).Data;
  assertEquals(repeated, read);
  const bound = await clientToken(world, world.tpp);
  const found = `/BANKA/domestic-payments/v1?idempotency-key=${idempotencyKey}`;
  assertEquals((await good(call(world, world.tpp, bound, found), 200)).Data, read);
});

Deno.test("A reason of any other status is kept in the history and not shown to the TPP [G6]", async () => {
  await using world = await openWorld();
  const { DomesticPaymentId: id } = await paid(world);
  const Data = {
    Status: "AcceptedSettlementCompleted",
    StatusUpdateDateTime: new Date(world.now).toISOString(),
    StatusReason: "Booked",
  };
  await good(putStatus(world, world.bankA, id, Data), 200);
  assertEquals((await payment(world, id)).StatusReason, undefined);
});

const answered: Record<string, readonly [unknown, string | undefined]> = {
  "a code and a text": [REASON, REASON],
  "a text of 256 characters, beyond Latin-1": ["ж".repeat(256), "ж".repeat(256)],
  "a longer text, which is cut": ["ж".repeat(300), `${"ж".repeat(255)}…`],
  "characters that hide or deceive, which are escaped": [
    "AC04: \u202eclosed\u0000\u200b",
    "AC04: \\u{202e}closed\\u{0}\\u{200b}",
  ],
  "an empty text": ["", undefined],
  "a number": [4, undefined],
  "an object": [{ Code: "AM04" }, undefined],
  "nothing": [undefined, undefined],
};

Deno.test("A push that the bank answers with Rejected brings the bank's reason to the TPP at once [G6] [D4]", async (t) => {
  for (const [name, [StatusReason, shown]] of Object.entries(answered)) {
    await t.step(name, async () => {
      await using world = await openPushWorld(() => Response.json({ Status: "Rejected", StatusReason }));
      const made = await paid(world);
      assertEquals([made.Status, made.StatusReason], ["Rejected", shown]);
      assertEquals(await payment(world, made.DomesticPaymentId), made);
    });
  }
});

Deno.test("A push that is answered with a reason after retries brings it as well, and an acceptance brings none [G6]", async () => {
  await using world = await openPushWorld(down);
  const [first, second] = [await paid(world), await paid(world)];
  let answer: Json = { Status: "Rejected", StatusReason: REASON };
  world.answer = () => {
    const response = Response.json(answer);
    answer = { Status: "AcceptedSettlementInProcess", StatusReason: REASON };
    return response;
  };
  await later(world, 1250);
  const seen = await Promise.all(
    [first, second].map(({ DomesticPaymentId }) => payment(world, DomesticPaymentId)),
  );
  assertEquals(seen.map(({ Status, StatusReason }) => [Status, StatusReason]).toSorted(), [
    ["AcceptedSettlementInProcess", undefined],
    ["Rejected", REASON],
  ]);
  const rejected = seen.find(({ Status }) => Status === "Rejected");
  assertEquals((await history(world, rejected.DomesticPaymentId)).at(-1), "payment.Rejected by bank BANKA");
});

Deno.test("A payment that the version before has stored as Rejected is read without a reason", async () => {
  await using world = await openWorld();
  const { DomesticPaymentId: id } = await paid(world);
  const key = ["payment", id];
  const stored = await world.store.get<Json>(key);
  const value = { ...stored?.value, status: "Rejected" };
  await world.store.commit({ checks: [], writes: [{ kind: "set", key, value }] });
  const read = await payment(world, id);
  assertEquals([read.Status, Object.hasOwn(read, "StatusReason")], ["Rejected", false]);
});
