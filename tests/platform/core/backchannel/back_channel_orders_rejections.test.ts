import { assertEquals } from "@std/assert";
import {
  assertIndistinguishable,
  assertNotFound,
  idleBankCall,
  NO_TOKEN_HERE,
  NOT_A_BANK,
  orderPath,
  paidAt,
  putStatus,
} from "testing/back_channel.ts";
import { call, clientToken, good } from "testing/flows.ts";
import { assertBare, assertChallenge, assertFaults, unchanged } from "testing/resource_answers.ts";
import { openEnvironment } from "testing/environment.ts";
import { steps } from "support/steps.ts";
import { idsOf, listed, UNKNOWN } from "./listed_orders.ts";

Deno.test("GET back-channel-payments filters by status [D2]", async (t) => {
  await using env = await openEnvironment();
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

Deno.test("GET back-channel-payments rejects a query that it cannot follow: no order may be hidden by a typing error [D2]", async (t) => {
  await using env = await openEnvironment();
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

Deno.test("GET back-channel-payments/{id} answers what is not this bank's as if it did not exist [C2]", async () => {
  await using env = await openEnvironment();
  const atB = (await paidAt(env, env.bankB)).data.DomesticPaymentId;
  const answers: Response[] = [];
  for (const id of [atB, UNKNOWN, "payment", "%2e%2e%2f"]) {
    const response = await idleBankCall(env, env.bankA, orderPath(id));
    await assertNotFound(response.clone());
    answers.push(response);
  }
  await assertIndistinguishable(answers);
});

Deno.test("GET back-channel-payments rejects TPPs, other banks and other certificates [BCH-02] [RG-N9] [A3]", async (t) => {
  await using env = await openEnvironment();
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

Deno.test("back-channel-payments answers other methods 405 with Allow, malformed FAPI headers 400, HTML 406 [C10]", async (t) => {
  await using env = await openEnvironment();
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

Deno.test("GET back-channel-payments needs a live token [A3]", async () => {
  await using env = await openEnvironment();
  const bound = await clientToken(env, env.bankA);
  env.now += 3_600_000;
  const response = await unchanged(env, () => call(env, env.bankA, bound, orderPath()));
  await assertChallenge(response, 401, NO_TOKEN_HERE);
});
