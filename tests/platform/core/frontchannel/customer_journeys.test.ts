/**
 * Customers reload, go back, open a second tab, click twice, take their time, change the browser, leave the page open.
 * In every case the TPP receives exactly one outcome, and it is the consent's.
 */
import { assertEquals, assertMatch } from "@std/assert";
import { IMPLICIT } from "testing/bank_return.ts";
import { begin, type Journey } from "support/customer_journey.ts";
import { Browser } from "testing/authorization_flow.ts";
import { assertPage, codesIssued, nextUrlOf, readForm } from "testing/front_channel.ts";
import { stepsOf } from "support/steps.ts";

const FLOW_MS = 900_000;
const MINUTE_MS = 60_000;

Deno.test("Reload on every page: one code, the consent Authorized [AZ10] [BR-N10] [CT7]", async () => {
  await using journey = await begin();
  await journey.reload(() => journey.open(journey.link));
  const back = await journey.bankReturn();
  const screen = await journey.arrive(back);
  await journey.reload(async () => assertEquals(await journey.arrive(back), screen));
  await journey.reload(() => journey.open(screen));
  const form = readForm(await (await journey.open(screen)).text());
  await journey.reload(() => journey.decide(form, "accept"));
  await journey.assertLearnt("code");
});

Deno.test("Reload of the bank's return of an implicit consent: it leads to the one code there is [BR-N10] [CT5] [G1]", async () => {
  await using journey = await begin({ body: IMPLICIT });
  const back = await journey.bankReturn();
  await journey.reload(() => journey.open(back));
  await journey.page(back, 400, "finished");
  await journey.assertLearnt("code");
});

Deno.test("Back from the consent screen to the bank, which returns the customer again: the decision is still to be taken [BR-N10] [CT9]", async () => {
  await using journey = await begin();
  const screen = await journey.arrive(await journey.bankReturn());
  for (const status_code of ["success", "failure"]) {
    assertEquals(await journey.arrive(await journey.bankReturn({ status_code })), screen);
  }
  assertEquals(await journey.status(), "AwaitingAuthorisation");
  await journey.decide(readForm(await (await journey.open(screen)).text()), "refuse");
  await journey.assertLearnt("access_denied");
});

Deno.test("Back after the decision, page by page to the TPP's link: nothing is decided again [CT7] [AZ-N6]", async () => {
  await using journey = await begin();
  const back = await journey.bankReturn();
  const screen = await journey.arrive(back);
  await journey.decide(readForm(await (await journey.open(screen)).text()), "accept");
  await journey.page(screen, 400, "finished");
  await journey.page(back, 400, "finished");
  await journey.page(journey.link, 400, "link_unusable");
  await journey.assertLearnt("code");
});

Deno.test("A second tab by the same link: the first to end counts, the other one is told what happened [AZ-N15]", async (t) => {
  await stepsOf(t, ["the first tab", "the second tab"], (first) => `${first} ends first`, async (first) => {
    await using journey = await begin();
    const tabs = [journey.flow, await journey.secondTab()];
    const [winner, loser] = first === "the first tab" ? tabs : tabs.toReversed();
    if (winner === undefined || loser === undefined) throw new Error("two tabs");
    const lost = await journey.bankReturn({}, loser);
    const lostScreen = await journey.arrive(await journey.bankReturn({}, loser));
    const screen = await journey.arrive(await journey.bankReturn({}, winner));
    const late = readForm(await (await journey.open(lostScreen)).text());
    await journey.decide(readForm(await (await journey.open(screen)).text()), "accept");
    const told = await assertPage(await journey.decide(late, "refuse"), 400, "accepted");
    assertMatch(told, /accepted before, for example in another tab or window/);
    assertEquals(nextUrlOf(told), "https://www.example.com/");
    await journey.page(lost, 400, "finished");
    await assertPage(await journey.decide(late, "accept"), 400, "finished");
    await journey.assertLearnt("code");
  });
});

Deno.test("The same consent screen in two tabs, accepted in one and rejected in the other: the first click counts, and the other tab says so [CT7] [CT9] [G1]", async (t) => {
  for (
    const [first, second, page, outcome] of [
      ["accept", "refuse", "accepted", "code"],
      ["refuse", "accept", "refused", "access_denied"],
    ] as const
  ) {
    await t.step(`${first}, then ${second}`, async () => {
      await using journey = await begin();
      const screen = await journey.arrive(await journey.bankReturn());
      const forms = [await journey.open(screen), await journey.open(screen)].map((answer) => answer.text());
      const [one, two] = (await Promise.all(forms)).map(readForm);
      if (one === undefined || two === undefined) throw new Error("two forms");
      await journey.decide(one, first ?? "");
      const told = await assertPage(await journey.decide(two, second ?? ""), 400, page);
      assertMatch(told, /What you chose here has changed nothing/);
      await journey.assertLearnt(outcome ?? "");
    });
  }
});

Deno.test("Double click on the decision, the answers in any order: one outcome [CT7] [CT9]", async (t) => {
  for (const [decision, outcome] of [["accept", "code"], ["refuse", "access_denied"]]) {
    await t.step(decision ?? "", async () => {
      await using journey = await begin();
      const screen = await journey.arrive(await journey.bankReturn());
      const form = readForm(await (await journey.open(screen)).text());
      await Promise.all([1, 2].map(() => journey.decide(form, decision ?? "")));
      await journey.assertLearnt(outcome ?? "");
    });
  }
});

Deno.test("A slow bank: back 20 minutes after the pushed request and within 15 of the first page, all is well [AZ-N3] [AZ11] [LT8]", async (t) => {
  for (const body of [IMPLICIT, undefined]) {
    await t.step(body === undefined ? "by the platform's screen" : "implicit", async () => {
      await using journey = await begin({ ...(body === undefined ? {} : { body }), openedAfterMs: 598_000 });
      journey.env.now = journey.pushedAt + 20 * MINUTE_MS;
      const back = await journey.bankReturn();
      if (body === undefined) {
        const screen = await journey.arrive(back);
        await journey.decide(readForm(await (await journey.open(screen)).text()), "accept");
      } else await journey.open(back);
      await journey.assertLearnt("code");
    });
  }
});

Deno.test("A bank that is too slow: 15 minutes after the first page its success sends the customer back to the TPP, which can ask again about the same consent [AZ11] [G1]", async () => {
  await using journey = await begin({ openedAfterMs: 598_000 });
  journey.env.now += FLOW_MS;
  await journey.open(await journey.bankReturn());
  assertEquals([errorOf(journey), await journey.status()], [EXPIRED, "AwaitingAuthorisation"]);
  journey.learnt.clear();
  await journey.askAgain();
  const screen = await journey.arrive(await journey.bankReturn());
  await journey.decide(readForm(await (await journey.open(screen)).text()), "accept");
  await journey.assertLearnt("code");
});

Deno.test("A return or a consent screen in another browser is rejected and explained; the customer's own goes on [BR-N11] [BR18] [AZ11]", async () => {
  await using journey = await begin();
  const back = await journey.bankReturn();
  const other = new Browser(journey.env);
  const explained = await assertPage(await other.open(back), 400, "other_browser");
  assertMatch(explained, /started in another browser or on another device/);
  assertMatch(explained, /Go back to the app, browser or device in which you started the payment/);
  const screen = await journey.arrive(back);
  const form = readForm(await (await journey.open(screen)).text());
  const body = new URLSearchParams({ csrf: form.csrf, decision: "refuse" });
  for (const answer of [await other.open(screen), await other.open(screen, { method: "POST", body })]) {
    await assertPage(answer, 400, "other_browser");
  }
  await journey.decide(form, "accept");
  await journey.assertLearnt("code");
});

Deno.test("The consent screen left open past its time: accepting leads back to the TPP, which can ask again [AZ11] [CT12] [G1]", async () => {
  await using journey = await begin();
  const screen = await journey.arrive(await journey.bankReturn());
  const form = readForm(await (await journey.open(screen)).text());
  journey.env.now += FLOW_MS;
  await journey.decide(form, "accept");
  assertEquals([errorOf(journey), await codesIssued(journey.env)], [EXPIRED, 0]);
  assertEquals(await journey.status(), "AwaitingAuthorisation");
  await journey.page(screen, 400, "finished");
  journey.learnt.clear();
  await journey.askAgain(); // the TPP may ask once more; otherwise the consent ends as Rejected
  journey.env.now += 86_400_000;
  await journey.page(screen, 400, "link_unusable"); // the session is no longer stored
  assertEquals([journey.learnt.size, await codesIssued(journey.env)], [0, 0]);
  assertEquals(await journey.status(), "Rejected");
});

const EXPIRED = "access_denied: The authorization session expired.";

/** The one error that the TPP has learnt. */
function errorOf({ learnt }: Journey): string {
  const [only = "", ...more] = learnt;
  assertEquals(more, []);
  const parameters = new URL(only).searchParams;
  return `${parameters.get("error")}: ${parameters.get("error_description")}`;
}
