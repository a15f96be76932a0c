/** The evidence of what a bank's statement changes after a restore, and what is kept of the statement (contract EN16). */
import { assert, assertEquals, assertFalse } from "@std/assert";
import { digest } from "../../../../src/platform/evidence/digest.ts";
import { bodyNamed, historyOf } from "testing/histories.ts";
import type { Store } from "../../../../src/base/store/store.ts";
import { bundleOf, faultsOf } from "../../../scripts/operators/case/bundles.ts";
import { openBookEnvironment } from "support/bank_books.ts";
import { report } from "support/orders.ts";
import { copyOf, restore } from "support/restored_store.ts";
import { elapse, grow } from "support/retention.ts";
import { erase } from "support/personal_case.ts";
import { authorised } from "testing/authorization_flow.ts";
import { DEBTOR_ACCOUNT, good, pay } from "testing/flows.ts";
import { readableBody } from "support/readable_body.ts";

const REASON = "AC04: the account of Ada Lovelace is closed";
const BASE64URL = { alphabet: "base64url" } as const;
const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

async function jsonAt(store: Store, place: string): Promise<Readonly<Record<string, string>>> {
  return JSON.parse(
    textOf(readableBody(await bodyNamed(store, place))?.bytes ?? new Uint8Array()),
  ) as Readonly<
    Record<string, string>
  >;
}

Deno.test("a payment that a statement recovers has its evidence in the commit, and the statement no personal data [EN1, EN16]", async (t) => {
  await using env = await openBookEnvironment({ environment: { PLATFORM_KEEP_CASES_DAYS: "1" } });
  const flow = await authorised(env);
  const copy = await copyOf(env);
  const { DomesticPaymentId: paymentId } = (await good(pay(env, flow), 201)).Data;
  await restore(env, copy);
  env.books.tamper = ({ Data, ...claims }) => ({
    ...claims,
    Data: { ...Data, PaymentOrder: Data.PaymentOrder.map((stated) => ({ ...stated, StatusReason: REASON })) },
  });
  await env.operate("/operations/order-holds/BANKA/reconcile", "");
  const [entry, ...more] = await historyOf(env.store, paymentId);
  await t.step("its first entry names what the bank stated and the platform's own order", () => {
    assertEquals([more.length, entry?.items?.map(({ kind }) => kind)], [0, ["stated_order", "order"]]);
  });
  const consumed = (await historyOf(env.store, flow.consentId)).at(-1);
  await t.step("it is dated after the restore, and behind the consent's entry", () => {
    assertEquals([consumed?.event, consumed?.at], ["consent.Consumed", entry?.at]);
  });
  const place = (kind: string): string => `${paymentId} 1 ${kind}`;
  const stated = await jsonAt(env.store, place("stated_order"));
  const order = textOf(readableBody(await bodyNamed(env.store, place("order")))?.bytes ?? new Uint8Array());
  const { payload = "", ...statement } = await jsonAt(env.store, `order hold BANKA ${stated["statement"]}`);
  await t.step("the statement is kept without the order, and complete with it", () => {
    assertFalse(payload.includes(order) || payload.includes("Ada"));
    const whole = payload.replace(`sha256:${digest(order)}`, order)
      .replace('"StatusReason":"removed"', `"StatusReason":${JSON.stringify(REASON)}`);
    const encoded = new TextEncoder().encode(whole).toBase64({ ...BASE64URL, omitPadding: true });
    assertEquals(
      digest(`${statement["protected"]}.${encoded}.${statement["signature"]}`),
      stated["statement"],
    );
  });
  await grow(env);
  const { text, printed } = await bundleOf(env.platform, paymentId);
  await t.step("the bundle verifies, with the order signed by the platform", async () => {
    assertEquals(await faultsOf(text), []);
    assert(printed.length > 0 && text.includes('"kind":"stated_order"'));
  });
  await good(report(env, paymentId, "AcceptedSettlementCompleted"), 200);
  await grow(env);
  await elapse(env, 90_000_000);
  await good(erase(env, paymentId), 200);
  while (await env.platform.finishErasures() > 0);
  await t.step("nothing readable of the payer is left after an erasure [EN12]", async () => {
    const rows = await Promise.all(
      ["evidence", "audit"].map((name) => env.raw.list({ prefix: [name], limit: 1000 })),
    );
    const texts = rows.flat().map(({ value }) => JSON.stringify(value));
    assert(
      rows.flat().some(({ key }) => key[1]?.includes(stated["statement"] ?? "none")),
      "the statement stays",
    );
    const orders = texts.flatMap((each) => each.match(/[\w-]{20,}\.([\w-]{20,})\.[\w-]{20,}/)?.[1] ?? []);
    const all = [...texts, ...orders.map((each) => textOf(Uint8Array.fromBase64(each, BASE64URL)))].join();
    assertFalse(all.includes(DEBTOR_ACCOUNT.Identification) || all.includes("Ada Lovelace"));
  });
});

Deno.test("a payment that a statement updates has what the bank stated as evidence [EN1, EN16]", async () => {
  await using env = await openBookEnvironment();
  const flow = await authorised(env);
  const { DomesticPaymentId: paymentId } = (await good(pay(env, flow), 201)).Data;
  const copy = await copyOf(env);
  const booked = env.books.orders.get(paymentId);
  Object.assign(booked ?? {}, { status: "AcceptedSettlementCompleted" });
  await restore(env, copy);
  await env.operate("/operations/order-holds/BANKA/reconcile", "");
  const last = (await historyOf(env.store, paymentId)).at(-1);
  assertEquals([last?.event, last?.items?.map(({ kind }) => kind)], [
    "payment.AcceptedSettlementCompleted",
    ["stated_order"],
  ]);
});

/** The payloads that are kept of the statements of a restored store, in the order of the pages. */
async function keptPayloads(
  tamper: (order: Readonly<Record<string, unknown>>) => object,
  page: (data: object) => object = (data) => data,
  jti: object = {},
): Promise<readonly (string | undefined)[]> {
  await using env = await openBookEnvironment();
  const ids: string[] = [];
  for (let made = 0; made < 2; made++) {
    ids.push((await good(pay(env, await authorised(env)), 201)).Data.DomesticPaymentId);
  }
  env.books.pageSize = 1;
  await restore(env, await copyOf(env));
  env.books.tamper = ({ Data, ...claims }) => ({
    ...claims,
    ...jti,
    Data: page({ ...Data, PaymentOrder: Data.PaymentOrder.map((stated) => tamper({ ...stated })) }),
  });
  for (const _ of ids) await env.operate("/operations/order-holds/BANKA/reconcile", "");
  const rows = await env.store.list<object>({ prefix: ["evidence"], limit: 1000 });
  const places = rows.map(({ key }) => String(key[1])).filter((place) =>
    place.startsWith("order hold BANKA ")
  );
  assertEquals([ids.length, places.length], [2, 2]);
  return await Promise.all(places.map(async (place) => (await jsonAt(env.store, place))["payload"]));
}

Deno.test("a statement with every member of the schema keeps its payload on each page, without orders and reasons [EN16]", async () => {
  const payloads = await keptPayloads((stated) => ({ ...stated, StatusReason: REASON }));
  const pages = payloads.map((payload) => JSON.parse(payload ?? "{}") as { Data: Record<string, object[]> });
  assertEquals(
    pages.map(({ Data }) => Object.keys(Data).filter((name) => name === "After" || name === "Next"))
      .toSorted(),
    [["After"], ["Next"]],
  );
  for (const { Data } of pages) {
    const [stated] = Data["PaymentOrder"] ?? [];
    const { Order, StatusReason } = { ...stated } as Readonly<Record<string, string>>;
    assertEquals([Order?.slice(0, 7), Order?.length, StatusReason], ["sha256:", 50, "removed"]);
  }
});

Deno.test("a statement with a member of the bank's own keeps no payload [EN16, P3]", async () => {
  const own = { DebtorName: "Ada Lovelace" };
  assertEquals(await keptPayloads((stated) => ({ ...stated, ...own })), [undefined, undefined]);
  assertEquals(await keptPayloads((stated) => stated, (data) => ({ ...data, ...own })), [
    undefined,
    undefined,
  ]);
});

Deno.test("a statement that would be too large with its payload is compared, and kept without it [EN16, G9]", async () => {
  const [same, jti] = [<T>(given: T): T => given, { jti: '"'.repeat(20_000) }]; // each is four characters of the evidence
  assertEquals(await keptPayloads(same, same, jti), [undefined, undefined]);
});
