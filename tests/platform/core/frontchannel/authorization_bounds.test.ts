/** Data left after a customer's visits: a bounded number of sessions, and no cookie once a session is over. */
import { assertEquals } from "@std/assert";
import { comeBack, goodReturn } from "support/at_bank.ts";
import { test } from "support/environment_test.ts";
import { IMPLICIT } from "testing/bank_return.ts";
import { clientToken, createConsent, good, push } from "testing/flows.ts";
import { type AtBank, authorize, Browser, decide, openHandover, toBank } from "testing/authorization_flow.ts";
import {
  assertCodeAnswer,
  assertErrorAnswer,
  assertPage,
  nextUrlOf,
  reportAccounts,
} from "testing/front_channel.ts";
import { type Environment } from "testing/environment.ts";
import { unchanged } from "testing/store_contents.ts";

test("One request_uri starts 20 sessions; the next visit goes back to the TPP and stores nothing [AZ-N7]", async ({ env }) => {
  const flow = await toBank(env, { body: IMPLICIT });
  for (let visit = 2; visit <= 20; visit++) {
    const departure = await authorize(new Browser(env), env.tpp, flow.requestUri);
    await openHandover(env.bankA, departure);
  }
  assertEquals(await sessionsIn(env), 20);
  const next = new Browser(env);
  const rejected = await unchanged(env, () => authorize(next, env.tpp, flow.requestUri));
  await assertErrorAnswer(rejected, "opened_too_often");
  assertEquals(next.cookies.size, 0);
  await assertCodeAnswer(await comeBack(env, flow)); // a session that was begun still ends well
});

test("40 visits of one link at once start 20 sessions at most [AZ-N7]", async ({ env }) => {
  const bound = await clientToken(env, env.tpp);
  const { ConsentId } = (await createConsent(env, bound, IMPLICIT)).Data;
  const { request_uri } = await good(push(env, ConsentId), 201);
  const visits = Array.from({ length: 40 }, () => authorize(new Browser(env), env.tpp, request_uri));
  const answers = await Promise.all(visits);
  const left = answers.filter(({ headers }) =>
    headers.get("location")?.startsWith("https://bank-a.example/")
  );
  assertEquals([left.length, await sessionsIn(env)], [20, 20]);
  await Promise.all(answers.map((answer) => answer.body?.cancel()));
});

test("The cookie lives as long as the session is kept, and is cleared when it ends, however it ends [AZ11] [G1]", async ({ env, t }) => {
  const ends: Record<string, () => Promise<AtBank>> = {
    "with a code, by the bank's return": async () => {
      const flow = await toBank(env, { body: IMPLICIT });
      await assertCodeAnswer(assertCleared(flow, await comeBack(env, flow)));
      return flow;
    },
    "with a failure of the bank": async () => {
      const flow = await toBank(env, { body: IMPLICIT });
      const answer = await comeBack(env, flow, { status_code: "failure" });
      await assertErrorAnswer(assertCleared(flow, answer), "access_denied");
      return flow;
    },
    "by the customer's decision": async () => {
      const flow = await toBank(env);
      await reportAccounts(env, flow);
      const screen = (await comeBack(env, flow)).headers.get("location") ?? "";
      assertEquals(flow.browser.cookies.size, 1); // it goes on
      assertCleared(flow, await decide(flow.browser, screen, "refuse"));
      return flow;
    },
    "by another request for the consent": async () => {
      const flow = await toBank(env, { body: IMPLICIT });
      const form = { code_challenge: "M".repeat(42) + "A" };
      const { request_uri } = await good(push(env, flow.consentId, { form }), 201);
      const browser = new Browser(env);
      const { claims } = await openHandover(env.bankA, await authorize(browser, env.tpp, request_uri));
      await assertCodeAnswer(await comeBack(env, { ...flow, browser, handover: claims }));
      await assertErrorAnswer(assertCleared(flow, await comeBack(env, flow)), "invalid_request");
      return flow;
    },
    "in another tab by the same link": async () => {
      const flow = await toBank(env, { body: IMPLICIT });
      const { claims } = await openHandover(
        env.bankA,
        await authorize(flow.browser, env.tpp, flow.requestUri),
      );
      await assertCodeAnswer(await comeBack(env, flow));
      const other = { ...flow, handover: claims };
      await assertPage(assertCleared(other, await comeBack(env, other)), 400, "accepted");
      return flow;
    },
  };
  for (const [name, end] of Object.entries(ends)) {
    await t.step(name, async () => assertEquals((await end()).browser.cookies.size, 0));
  }
});

test("A browser keeps the cookies of its 20 newest sessions [AZ11]", async ({ env }) => {
  const first = await toBank(env, { body: IMPLICIT });
  const { browser } = first;
  let newest = first;
  for (let more = 1; more <= 20; more++) {
    const bound = await clientToken(env, env.tpp);
    const { ConsentId } = (await createConsent(env, bound, IMPLICIT)).Data;
    const form = { code_challenge: `${more}`.padStart(42, "N") + "A" };
    const { request_uri } = await good(push(env, ConsentId, { form }), 201);
    const { claims } = await openHandover(env.bankA, await authorize(browser, env.tpp, request_uri));
    newest = { ...first, consentId: ConsentId, requestUri: request_uri, handover: claims };
    assertEquals(browser.cookies.size, Math.min(more + 1, 20));
  }
  await assertCodeAnswer(await comeBack(env, newest));
  const page = await assertPage(await comeBack(env, first), 400, "other_browser");
  assertEquals(nextUrlOf(page), "https://www.example.com/");
});

test("A TPP that registered before its client_uri was kept has no link on its customers' pages [G1]", async ({ env }) => {
  const flow = await toBank(env, { body: IMPLICIT });
  const key = ["client", env.tpp.clientId];
  const { clientUri: _, ...older } = (await env.store.get<Record<string, unknown>>(key))?.value ?? {};
  await env.store.commit({ checks: [], writes: [{ kind: "set", key, value: older }] });
  const outsider = new Browser(env);
  const page = await assertPage(await outsider.open(await goodReturn(env, flow)), 400, "other_browser");
  assertEquals(nextUrlOf(page), null);
  await assertCodeAnswer(await comeBack(env, flow));
});

/** The answer clears this session's cookie, with the attributes that it was set with. */
function assertCleared({ handover }: AtBank, answer: Response): Response {
  const [cookie = "", ...more] = answer.headers.getSetCookie();
  assertEquals(more, []);
  const [pair, ...attributes] = cookie.split("; ");
  assertEquals(pair, `__Host-sca-${handover.correlation_id}=`);
  assertEquals(attributes.toSorted(), ["HttpOnly", "Max-Age=0", "Path=/", "SameSite=Lax", "Secure"]);
  return answer;
}

async function sessionsIn(env: Environment): Promise<number> {
  return (await env.snapshot()).filter(({ key }) => key[0] === "authorization_session").length;
}
