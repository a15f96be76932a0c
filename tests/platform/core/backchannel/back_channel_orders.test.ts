/** `GET back-channel-payments`: a bank fetches the payments it has to make (Decision D2). */
import { OVERTAKING_MS } from "../../../../src/platform/guards/lists/settled_entries.ts";
import { assertEquals, assertMatch } from "@std/assert";
import type { PaymentOrders } from "testing/answers.ts";
import {
  assertIndistinguishable,
  assertNotFound,
  bankCall,
  idleBankCall,
  NO_TOKEN_HERE,
  NOT_A_BANK,
  orderPath,
  paidAt,
  putStatus,
} from "testing/back_channel.ts";
import { call, clientToken, consentBody, good } from "testing/flows.ts";
import { assertBare, assertChallenge, assertCommonHeaders, assertFaults } from "testing/resource_answers.ts";
import { type Environment, START } from "testing/environment.ts";
import { steps } from "support/steps.ts";
import { test } from "support/environment_test.ts";
import { unchanged } from "testing/store_contents.ts";

const UNKNOWN = "58923a3a-2f0c-4d6e-9b1e-3c1f7f0d8a11";

async function listed(env: Environment, query = "", bank = env.bankA): Promise<PaymentOrders["Data"]> {
  return (await good<PaymentOrders>(bankCall(env, bank, orderPath(undefined, bank.orgId) + query), 200)).Data;
}

function idsOf(data: PaymentOrders["Data"]): string[] {
  return data.PaymentOrder.map((order) => order.DomesticPaymentId);
}

const INITIATION = {
  InstructionIdentification: "ACME412",
  EndToEndIdentification: "FRESCO.21302.GFX.20",
  InstructedAmount: { Amount: "165.88", Currency: "EUR" },
  CreditorAccount: {
    SchemeName: "UK.OBIE.IBAN",
    Identification: "FR1420041010050500013M02606",
    Name: "ACME Inc",
  },
};

/** Further orders of bank A, copies of a real one: the n-th made n milliseconds later. */
async function addOrders(env: Environment, paymentId: string, count: number): Promise<string[]> {
  const real = (await env.store.get<{ readonly createdAt: number }>(["payment", paymentId]))?.value;
  const ids: string[] = [];
  for (let n = 1; n <= count; n++) {
    const id = crypto.randomUUID();
    const createdAt = Number(real?.createdAt) + n;
    await env.store.commit({
      checks: [],
      writes: [
        { kind: "set", key: ["payment", id], value: { ...real, id, createdAt } },
        {
          kind: "set",
          key: ["payment_order", "BANKA", `${String(createdAt).padStart(15, "0")}-${id}`],
          value: id,
        },
      ],
    });
    ids.push(id);
  }
  return ids;
}

test("GET back-channel-payments gives an order in full, alone and in the list [D2]", async ({ env }) => {
  const debtor = {
    SchemeName: "UK.OBIE.IBAN",
    Identification: "GB33BUKB20201555555555",
    Name: "Alice Example",
    SecondaryIdentification: "SUB-7",
  };
  const more = {
    DebtorAccount: debtor,
    CreditorPostalAddress: { TownName: "Paris", Country: "FR" },
    RemittanceInformation: { Unstructured: "Internal ops code 5120101", Reference: "FRESCO-101" },
    SupplementaryData: { DebtorMobileNumber: "+447700900123" },
  };
  assertEquals(await listed(env), { PaymentOrder: [] });
  const { data } = await paidAt(env, env.bankA, { body: consentBody({ initiation: more }) });
  const order = {
    DomesticPaymentId: data.DomesticPaymentId,
    ConsentId: data.ConsentId,
    CreationDateTime: "2040-01-15T12:00:00+00:00",
    Status: "AcceptedSettlementInProcess",
    StatusUpdateDateTime: "2040-01-15T12:00:00+00:00",
    Initiation: { ...INITIATION, ...more },
    DebtorAccount: debtor,
    Charges: [],
  };
  assertEquals(await listed(env), { PaymentOrder: [order] });
  const response = await idleBankCall(env, env.bankA, orderPath(data.DomesticPaymentId));
  assertEquals(response.status, 200);
  assertEquals(response.headers.get("content-type"), "application/json; charset=utf-8");
  assertCommonHeaders(response);
  assertEquals(await response.json(), { Data: order });
});

test("GET back-channel-payments names the account that the customer chose [D2]", async ({ env, t }) => {
  const chosen = { SchemeName: "UK.OBIE.IBAN", Identification: "GB33BUKB20201555555555" };
  for (const bank of [env.bankA, env.bankB]) {
    await t.step(bank.orgId === "BANKA" ? "on the platform's screen" : "on the bank's screen", async () => {
      const { data } = await paidAt(env, bank);
      const [order] = (await listed(env, "", bank)).PaymentOrder;
      assertEquals([order?.DomesticPaymentId, order?.DebtorAccount], [data.DomesticPaymentId, chosen]);
      assertEquals(order?.Initiation, INITIATION);
    });
  }
});

test("GET back-channel-payments lists a bank's own orders, oldest first [D2] [A3]", async ({ env }) => {
  const ids: string[] = [];
  for (let n = 0; n < 3; n++) {
    ids.push((await paidAt(env, env.bankA)).data.DomesticPaymentId);
    env.now += 1;
  }
  const atB = (await paidAt(env, env.bankB)).data.DomesticPaymentId;
  assertEquals(idsOf(await listed(env)), ids);
  assertEquals(idsOf(await listed(env, "", env.bankB)), [atB]);
});

test("GET back-channel-payments gives 100 orders a page, each once by following After [D2]", async ({ env, t }) => {
  const first = (await paidAt(env, env.bankA)).data.DomesticPaymentId;
  const ids = [first, ...await addOrders(env, first, 204)];
  env.now = START + 60_000;
  const pages: PaymentOrders["Data"][] = [await listed(env)];
  for (let after = pages[0]?.After; after !== undefined; after = pages.at(-1)?.After) {
    pages.push(await listed(env, `?after=${after}`));
  }
  await t.step("205 orders in three pages", () => {
    assertEquals(pages.map((page) => page.PaymentOrder.length), [100, 100, 5]);
    assertEquals(pages.flatMap(idsOf), ids);
    assertMatch(pages[0]?.After, /^\d{15}-[0-9a-f-]{36}$/);
    assertEquals(Object.keys(pages[2] ?? {}), ["PaymentOrder"]);
  });
  await t.step("the last After finds the orders that came since", async () => {
    const [late = ""] = await addOrders(env, ids.at(-1) ?? "", 1);
    const page = await listed(env, `?after=${pages[1]?.After}`);
    assertEquals(idsOf(page), [...ids.slice(200), late]);
  });
  await t.step("beyond the last order there is nothing", async () => {
    assertEquals(await listed(env, `?after=999999999999999-${UNKNOWN}`), { PaymentOrder: [] });
  });
  await t.step("a filtered page may be empty and still go on", async () => {
    await good(putStatus(env, env.bankA, ids[150] ?? "", "Rejected"), 200);
    const page = await listed(env, "?status=Rejected");
    assertEquals([idsOf(page), page.After], [[], pages[0]?.After]);
    assertEquals(idsOf(await listed(env, `?status=Rejected&after=${page.After}`)), [ids[150]]);
  });
});

test("GET back-channel-payments never goes on past an order that an older one may still overtake [D1] [D2]", async ({ env, t }) => {
  const first = (await paidAt(env, env.bankA)).data.DomesticPaymentId;
  const ids = [first, ...await addOrders(env, first, 120)]; // made at START + 0 … 120 ms
  await t.step("none is old enough: a full page is not the end, and its After repeats it", async () => {
    env.now = START + OVERTAKING_MS - 1;
    const page = await listed(env);
    assertEquals(idsOf(page), ids.slice(0, 100));
    const again = await listed(env, `?after=${page.After}`);
    assertEquals([idsOf(again), again.After], [ids.slice(0, 100), page.After]);
    env.now = START + OVERTAKING_MS + 120;
    const settled = await listed(env, `?after=${page.After}`);
    const last = await listed(env, `?after=${settled.After}`);
    assertEquals([idsOf(settled), idsOf(last), last.After], [ids.slice(0, 100), ids.slice(100), undefined]);
  });
  await t.step("half are old enough: it goes on behind them, repeating the others", async () => {
    env.now = START + OVERTAKING_MS + 49;
    const page = await listed(env);
    assertEquals(idsOf(page), ids.slice(0, 100));
    const [straggler = ""] = await addOrders(env, ids[59] ?? "", 1); // committed late
    const next = idsOf(await listed(env, `?after=${page.After}`));
    assertEquals(next.filter((id) => id !== straggler), ids.slice(50));
    assertEquals(next.includes(straggler), true);
  });
});

test("GET back-channel-payments goes on behind a full page with an order whose case has ended meanwhile [D2]", async ({ env }) => {
  const first = (await paidAt(env, env.bankA)).data.DomesticPaymentId;
  const ids = [first, ...await addOrders(env, first, 104)];
  await env.store.commit({ checks: [], writes: [{ kind: "delete", key: ["payment", ids[7] ?? ""] }] });
  env.now = START + 60_000;
  const page = await listed(env);
  assertEquals(idsOf(page), ids.slice(0, 100).filter((id) => id !== ids[7]));
  assertEquals(idsOf(await listed(env, `?after=${page.After}`)), ids.slice(100));
});

test("GET back-channel-payments rejects a parameter that it does not know, and a repeated one [LS-N2]", async ({ env }) => {
  for (const query of ["?stauts=Pending", "?status=Pending&status=Rejected", "?from=2040-01-15T00:00:00Z"]) {
    const response = await idleBankCall(env, env.bankA, `/BANKA/back-channel-payments/v1${query}`);
    assertEquals(response.status, 400, query);
    await response.body?.cancel();
  }
});

test("GET back-channel-payments filters by status [D2]", async ({ env, t }) => {
  const one = (await paidAt(env, env.bankA)).data.DomesticPaymentId;
  env.now += 1;
  const two = (await paidAt(env, env.bankA)).data.DomesticPaymentId;
  await good(putStatus(env, env.bankA, one, "AcceptedSettlementCompleted"), 200);
  const expected = {
    Pending: [],
    Rejected: [],
    AcceptedSettlementInProcess: [two],
    AcceptedSettlementCompleted: [one],
    AcceptedWithoutPosting: [],
    AcceptedCreditSettlementCompleted: [],
  };
  for (const [status, ids] of Object.entries(expected)) {
    await t.step(status, async () => assertEquals(idsOf(await listed(env, `?status=${status}`)), ids));
  }
});

test("GET back-channel-payments rejects a query that it cannot follow: no order may be hidden by a typing error [D2]", async ({ env, t }) => {
  const cursor = `002210241600000-${UNKNOWN}`;
  const bad: Readonly<Record<string, readonly string[]>> = {
    "?status=pending": ["status"],
    "?status=": ["status"],
    "?status=Pending,Rejected": ["status"],
    "?status=Pending&status=Rejected": ["status"],
    "?after=": ["after"],
    "?after=1": ["after"],
    [`?after=${UNKNOWN}`]: ["after"],
    [`?after=${cursor}%00`]: ["after"],
    [`?after=${cursor}&after=${cursor}`]: ["after"],
    "?status=x&after=y": ["status", "after"],
  };
  await steps(t, bad, async (paths, query) => {
    const response = await idleBankCall(env, env.bankA, orderPath() + query);
    await assertFaults(response, 400, paths.map((path) => ["Field.Invalid", path] as const));
  });
});

test("GET back-channel-payments/{id} answers what is not this bank's as if it did not exist [C2]", async ({ env }) => {
  const atB = (await paidAt(env, env.bankB)).data.DomesticPaymentId;
  const answers: Response[] = [];
  for (const id of [atB, UNKNOWN, "payment", "%2e%2e%2f"]) {
    const response = await idleBankCall(env, env.bankA, orderPath(id));
    await assertNotFound(response.clone());
    answers.push(response);
  }
  await assertIndistinguishable(answers);
});

test("GET back-channel-payments rejects TPPs, other banks and other certificates [BCH-02] [RG-N9] [A3]", async ({ env, t }) => {
  const { data, flow } = await paidAt(env, env.bankA);
  for (const path of [orderPath(), orderPath(data.DomesticPaymentId)]) {
    for (
      const [name, token] of Object.entries({ "client token": flow.bound, "payment token": flow.payment })
    ) {
      await t.step(`${path.length < 40 ? "list" : "order"}: a TPP's ${name}`, async () => {
        const response = await unchanged(env, () => call(env, env.tpp, token, path));
        await assertChallenge(response, 403, NOT_A_BANK);
      });
    }
    await t.step(`${path.length < 40 ? "list" : "order"}: another bank`, async () => {
      await assertChallenge(await idleBankCall(env, env.bankB, path), 401, NO_TOKEN_HERE);
    });
    await t.step(`${path.length < 40 ? "list" : "order"}: a TPP's certificate`, async () => {
      const response = await idleBankCall(env, env.bankA, path, { as: env.tpp });
      await assertChallenge(response, 401, NO_TOKEN_HERE);
    });
  }
});

test("back-channel-payments answers other methods 405 with Allow, malformed FAPI headers 400, HTML 406 [C10]", async ({ env, t }) => {
  const { data } = await paidAt(env, env.bankA);
  const allowed = { [orderPath()]: "GET", [orderPath(data.DomesticPaymentId)]: "GET, PUT" };
  for (const [path, allow] of Object.entries(allowed)) {
    for (const method of ["POST", "DELETE", "PATCH", "HEAD", ...(allow === "GET" ? ["PUT"] : [])]) {
      await t.step(`${method} ${allow === "GET" ? "list" : "order"}`, async () => {
        const response = await idleBankCall(env, env.bankA, path, { method });
        await assertBare(response, 405);
        assertEquals(response.headers.get("allow"), allow);
      });
    }
    await t.step(`headers of ${allow === "GET" ? "list" : "order"}`, async () => {
      const headers = { "x-fapi-interaction-id": "1" };
      const response = await idleBankCall(env, env.bankA, path, { headers });
      await assertFaults(response, 400, [["Header.Invalid", "x-fapi-interaction-id"]]);
      const html = await idleBankCall(env, env.bankA, path, { headers: { accept: "text/html" } });
      await assertBare(html, 406);
    });
  }
});

test("GET back-channel-payments needs a live token [A3]", async ({ env }) => {
  const bound = await clientToken(env, env.bankA);
  env.now += 3_600_000;
  const response = await unchanged(env, () => call(env, env.bankA, bound, orderPath()));
  await assertChallenge(response, 401, NO_TOKEN_HERE);
});
