import { assertEquals } from "@std/assert";
import { asBankCode, type BankCode } from "../../../../src/base/kernel/identifiers.ts";
import { openPushSlots, type PushSlots } from "../../../../src/platform/events/delivery/push_slots.ts";

const [A, B, C] = [bank("BANKA"), bank("BANKB"), bank("BANKC")];

Deno.test("take bounds the pushes of a bank and of all banks", async () => {
  const slots = openPushSlots<BankCode>({ perReceiver: 2, total: 3 });
  const taken = await grantedOf([A, A, A, B, B].map((code) => ask(slots, code)));
  assertEquals(taken, [A, A, B]);
});

Deno.test("a freed slot goes to the waiting bank that has the fewest, not to the one that asked first", async () => {
  const slots = openPushSlots<BankCode>({ perReceiver: 10, total: 4 });
  const held = await Promise.all([A, A, A, B].map((code) => slots.take(code)));
  const asks = [A, B, C, C].map((code) => ask(slots, code));
  const granted: BankCode[][] = [];
  for (const free of held) {
    free();
    granted.push(await grantedOf(asks));
  }
  // C has none at first. Then each has one, so that they are served in turn.
  assertEquals(granted, [[C], [A, C], [A, B, C], [A, B, C, C]]);
});

Deno.test("take grants in the order of asking within a bank, and a freed slot is used again", async () => {
  const slots = openPushSlots<BankCode>({ perReceiver: 1, total: 1 });
  const order: number[] = [];
  await Promise.all([1, 2, 3].map(async (index) => {
    const free = await slots.take(A);
    order.push(index);
    free();
  }));
  assertEquals(order, [1, 2, 3]);
});

interface Ask {
  readonly code: BankCode;
  granted: boolean;
}

function ask(slots: PushSlots<BankCode>, code: BankCode): Ask {
  const asked: Ask = { code, granted: false };
  void slots.take(code).then(() => void (asked.granted = true));
  return asked;
}

/** Banks whose request has been granted, once everything has settled that can. */
async function grantedOf(asks: readonly Ask[]): Promise<BankCode[]> {
  await new Promise((done) => setTimeout(done));
  return asks.filter(({ granted }) => granted).map(({ code }) => code).toSorted();
}

function bank(code: string): BankCode {
  const known = asBankCode(code);
  if (known === undefined) throw new Error(`${code} is not a bank code`);
  return known;
}
