/** Subscriptions to events (contract EVT9, EVT10, EVT-N4; Decision T2). */
import { assertEquals, assertMatch } from "@std/assert";
import { bodyOf, type ResourceError, type Subscription } from "testing/answers.ts";
import { BASE_URL, openEnvironment } from "testing/environment.ts";
import { clientToken, good } from "testing/flows.ts";
import { assertChallenge, assertFaults } from "testing/resource_answers.ts";
import { renewedStatement } from "testing/registration.ts";
import { BOUND_MS } from "support/standing.ts";
import { steps } from "support/steps.ts";
import {
  CALLBACK,
  OTHER_CALLBACK,
  rejectedSubscription,
  subscribed,
  subscription,
  subscriptions,
} from "./subscribing.ts";

const TYPE = "urn:uk:org:openbanking:events:resource-update";
const URIS = { eventNotificationUri: { tpp: CALLBACK, otherTpp: OTHER_CALLBACK } };
const PUSHED = { CallbackUrl: CALLBACK, Version: "4.0" };

Deno.test("a TPP creates, reads, changes and deletes its subscription at a bank [EVT9]", async () => {
  await using env = await openEnvironment(URIS);
  const made = await good<Subscription>(subscription(env, { ...PUSHED, EventTypes: [TYPE] }), 201);
  const { EventSubscriptionId: id, ...terms } = made.Data;
  assertMatch(id, /^[0-9a-f-]{36}$/);
  assertEquals(terms, { ...PUSHED, EventTypes: [TYPE] });
  assertEquals(made.Links, { Self: `${BASE_URL}/BANKA/event-subscriptions/v1/${id}` });
  assertEquals(await subscriptions(env), [made.Data]);
  assertEquals(await subscriptions(env, { bank: "BANKB" }), []);
  const changed = await good<Subscription>(subscription(env, { Version: "4.0" }, { method: "PUT", id }), 200);
  assertEquals(changed.Data, { EventSubscriptionId: id, Version: "4.0" });
  const whole = { ...changed.Data, CallbackUrl: CALLBACK };
  assertEquals((await good<Subscription>(subscription(env, whole, { method: "PUT", id }), 200)).Data, whole);
  const gone = await subscription(env, undefined, { method: "DELETE", id });
  assertEquals([gone.status, await gone.text()], [204, ""]);
  assertEquals(await subscriptions(env), []);
  await assertFaults(await subscription(env, undefined, { method: "DELETE", id }), 400, NOT_FOUND);
});

const NOT_FOUND = [["Resource.NotFound"]] as const;

Deno.test("a client has one subscription at a bank, also of two that it sends at once [EVT9]", async () => {
  await using env = await openEnvironment(URIS);
  const answers = await Promise.all([subscription(env, PUSHED), subscription(env, { Version: "4.0" })]);
  assertEquals(answers.map(({ status }) => status).toSorted(), [201, 409]);
  const again = await rejectedSubscription(env, PUSHED);
  await assertFaults(again, 409, [["Rules.ResourceAlreadyExists"]]);
  assertEquals((await subscriptions(env)).length, 1);
});

const REJECTED: Readonly<Record<string, readonly [Data: unknown, path: string]>> = {
  "another address": [{ ...PUSHED, CallbackUrl: "https://attacker.example/" }, "Data.CallbackUrl"],
  "another path of the same origin": [{ ...PUSHED, CallbackUrl: `${CALLBACK}/2` }, "Data.CallbackUrl"],
  "the address of another TPP": [{ ...PUSHED, CallbackUrl: OTHER_CALLBACK }, "Data.CallbackUrl"],
  "an address of this computer": [{ ...PUSHED, CallbackUrl: "https://127.0.0.1/" }, "Data.CallbackUrl"],
  "another version": [{ ...PUSHED, Version: "3.1" }, "Data.Version"],
  "no version": [{ CallbackUrl: CALLBACK }, "Data.Version"],
  "another event type": [
    { ...PUSHED, EventTypes: ["urn:uk:org:openbanking:events:consent-authorization-revoked"] },
    "Data.EventTypes.0",
  ],
  "no event type": [{ ...PUSHED, EventTypes: [] }, "Data.EventTypes"],
  "an unknown member": [{ ...PUSHED, Secret: "x" }, "Data.Secret"],
};

Deno.test("a subscription to anything but the approved address is rejected [EVT10, EVT-N4, T2]", async (t) => {
  await using env = await openEnvironment(URIS);
  const { EventSubscriptionId: id } = await subscribed(env);
  await steps(t, REJECTED, async ([Data, path]) => {
    for (const options of [{ bank: "BANKB" }, { method: "PUT", id }]) {
      const answer = await rejectedSubscription(env, Data, options);
      const { Errors: [fault] } = await bodyOf<ResourceError>(answer);
      assertEquals([answer.status, fault?.Path], [400, path.replace(".0", "[0]")]);
    }
  });
});

Deno.test("a TPP without event_notification_uri subscribes for polling alone [EVT10]", async () => {
  await using env = await openEnvironment();
  const answer = await rejectedSubscription(env, PUSHED);
  await assertFaults(answer, 400, [["Field.Invalid", "Data.CallbackUrl"]]);
  await good(subscription(env, { Version: "4.0" }), 201);
});

Deno.test("the address for events follows the newest statement within 15 s [EVT10, SS11]", async () => {
  await using env = await openEnvironment({ ...URIS, registersItself: true });
  const moved = "https://shop.example/moved";
  env.now += 1000;
  await renewedStatement(env, env.tpp, { event_notification_uri: moved });
  env.now += BOUND_MS;
  const former = await rejectedSubscription(env, PUSHED);
  await assertFaults(former, 400, [["Field.Invalid", "Data.CallbackUrl"]]);
  assertEquals((await subscribed(env, { callback: moved })).CallbackUrl, moved);
});

Deno.test("another client neither reads nor changes a subscription [EVT5, EVT-N4]", async () => {
  await using env = await openEnvironment(URIS);
  const { EventSubscriptionId: id } = await subscribed(env);
  const by = env.otherTpp;
  assertEquals(await subscriptions(env, { by }), []);
  const theirs = { CallbackUrl: OTHER_CALLBACK, Version: "4.0" };
  for (const bank of ["BANKA", "BANKB"]) {
    const changed = await rejectedSubscription(env, theirs, { by, bank, id, method: "PUT" });
    await assertFaults(changed, 400, NOT_FOUND);
    await assertFaults(
      await rejectedSubscription(env, undefined, { by, bank, id, method: "DELETE" }),
      400,
      NOT_FOUND,
    );
  }
  await subscribed(env, { by, callback: OTHER_CALLBACK });
  const instead = await rejectedSubscription(env, theirs, { by, id, method: "PUT" });
  await assertFaults(instead, 400, NOT_FOUND);
  await assertFaults(
    await rejectedSubscription(env, undefined, { by, id, method: "DELETE" }),
    400,
    NOT_FOUND,
  );
  const ofBank = await subscription(env, undefined, { by: env.bankA });
  assertEquals(ofBank.status, 403);
  const stolen = await clientToken(env, env.tpp);
  await assertChallenge(
    await rejectedSubscription(env, PUSHED, { by, bound: stolen, bank: "BANKA" }),
    401,
    'DPoP error="invalid_token", algs="PS256"',
  );
  assertEquals((await subscriptions(env)).length, 1);
});

Deno.test("a subscription that is not signed, or signed by another one, is rejected [EVT9]", async () => {
  await using env = await openEnvironment(URIS);
  const unsigned = await rejectedSubscription(env, PUSHED, { signature: null });
  await assertFaults(unsigned, 400, [["Signature.Missing", "x-jws-signature"]]);
});
