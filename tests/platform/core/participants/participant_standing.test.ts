/** Participants whom the directory has given up are rejected everywhere within 15 s (Decisions A9, G5). */
import { assertEquals } from "@std/assert";
import { fetchedAnew, keyUrls, setOrganisation, setSoftware } from "support/directory_network.ts";
import { rejectionOf } from "testing/answers.ts";
import { clientToken, createConsent, good, push, requestToken } from "testing/flows.ts";
import { authorize, Browser, toBank } from "testing/authorization_flow.ts";
import type { Participant } from "testing/participants.ts";
import { postRegistration } from "testing/registration.ts";
import { acceptActs, actsOfBank, actsOfTpp, BOUND_MS, rejectActs } from "support/standing.ts";
import { test } from "support/environment_test.ts";
import { type Environment } from "testing/environment.ts";
import { unchanged } from "testing/store_contents.ts";

test("a TPP in good standing may do all of it, just before its status is asked for again as well [A9]", async ({ env }) => {
  const acts = await actsOfTpp(env);
  await acceptActs(acts);
  fetchedAnew(env);
  env.now += BOUND_MS - 1;
  await acceptActs(acts);
  assertEquals(fetchedAnew(env).filter((url) => keyUrls(env.tpp).includes(url)), []);
});

interface Downfall {
  readonly fall: (env: Environment, who: Participant) => Promise<void>;
  /** The error that the TPP's redirect URI receives if the participant is a bank. */
  readonly error: string;
}

const downfalls: Readonly<Record<string, Downfall>> = {
  "whose software is Inactive": {
    fall: (env, who) => setSoftware(env, who, "Inactive"),
    error: "temporarily_unavailable",
  },
  "whose software is Revoked": {
    fall: (env, who) => setSoftware(env, who, "Revoked"),
    error: "access_denied",
  },
  "that is Suspended": {
    fall: (env, who) => setOrganisation(env, who, "Suspended"),
    error: "temporarily_unavailable",
  },
  "that is Withdrawn": { fall: (env, who) => setOrganisation(env, who, "Withdrawn"), error: "access_denied" },
};

for (const [name, { fall, error }] of Object.entries(downfalls)) {
  test(`a TPP ${name} is rejected everywhere within 15 s [A9]`, async ({ env, t }) => {
    const acts = await actsOfTpp(env);
    await fall(env, env.tpp);
    env.now += BOUND_MS;
    await rejectActs(t, env, acts);
    await t.step("registration with the statement it has", async () => {
      const response = await unchanged(env, () => postRegistration(env, env.tpp));
      assertEquals([response.status, (await rejectionOf(response)).error], [400, "invalid_client_metadata"]);
    });
    await t.step("while others go on", async () => {
      assertEquals((await requestToken(env, env.otherTpp)).status, 200);
    });
  });

  test(`a bank ${name} is rejected everywhere within 15 s [A9]`, async ({ env, t }) => {
    const flow = await toBank(env);
    const { "bank JWT": bankReturn, ...acts } = await actsOfBank(env, env.bankA, flow);
    const bound = await clientToken(env, env.tpp);
    const pushed = await good(push(env, (await createConsent(env, bound)).Data.ConsentId), 201);
    await fall(env, env.bankA);
    env.now += BOUND_MS;
    await rejectActs(t, env, acts);
    await t.step("a customer who returns from there is led to the TPP [G5]", async () => {
      const answer = await unchanged(env, () => bankReturn?.attempt() ?? Promise.reject(new Error("no act")));
      const to = new URL(answer.headers.get("location") ?? "");
      assertEquals([to.origin, to.searchParams.get("error")], ["https://shop.example", error]);
    });
    await t.step("no customer is sent there", async () => {
      const attempt = (): Promise<Response> => authorize(new Browser(env), env.tpp, pushed.request_uri);
      const to = new URL((await unchanged(env, attempt)).headers.get("location") ?? "");
      assertEquals([to.origin, to.searchParams.get("error")], ["https://shop.example", error]);
    });
    await t.step("while the other bank goes on", async () => {
      assertEquals((await requestToken(env, env.bankB, "BANKB")).status, 200);
    });
  });
}

test("a bank in good standing may do all of it [A9]", async ({ env }) => {
  await acceptActs(await actsOfBank(env, env.bankA, await toBank(env)));
});

test("a participant that is Active again is believed again after 15 s [A9]", async ({ env }) => {
  const { tpp } = env;
  await setOrganisation(env, tpp, "Suspended");
  env.now += BOUND_MS;
  assertEquals((await requestToken(env, tpp)).status, 401);
  await setOrganisation(env, tpp, "Active");
  await setSoftware(env, tpp, "Active");
  env.now += BOUND_MS;
  assertEquals((await requestToken(env, tpp)).status, 200);
});
