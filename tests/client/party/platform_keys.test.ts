/** The platform's keys as TPPs and banks keep them [A11]. */
import { assertEquals, assertRejects } from "@std/assert";
import { verifyEvent } from "../../../src/client/tpp/events.ts";
import { createPlatformKeys } from "../../../src/client/party/platform_keys.ts";
import { eventToken } from "support/event_tokens.ts";
import { json } from "support/sandbox_tpp_platform.ts";
import { testKey } from "testing/keys.ts";
import { openEnvironmentAndFlow } from "../tpp/tpp_client.ts";

const { publicJwk } = await testKey(2);
const jwk = (kid: string): object => ({ ...publicJwk, kid, use: "sig" });

/** Keys of a platform that publishes `published`, or answers 503 while that is undefined. */
function openKeys() {
  const platform = { published: ["first"] as readonly string[] | undefined, asked: 0, now: 0 };
  const keys = createPlatformKeys({
    authUrl: "https://auth.example",
    now: () => platform.now,
    fetch: () => {
      platform.asked += 1;
      return Promise.resolve(
        platform.published === undefined ? json(503, {}) : json(200, { keys: platform.published.map(jwk) }),
      );
    },
  });
  const has = async (kid: string): Promise<boolean> => await keys.signatureKey(kid) !== undefined;
  return { platform, has };
}

Deno.test("a key that the platform has begun to use is found at once, and one that it withdrew is not used", async () => {
  const { platform, has } = openKeys();
  assertEquals([await has("first"), platform.asked], [true, 1]);
  platform.published = ["second"];
  assertEquals([await has("second"), await has("first"), platform.asked], [true, false, 2]);
  platform.published = ["third"];
  platform.now = 29_999;
  assertEquals([await has("third"), platform.asked], [false, 2]);
  platform.now = 30_000;
  assertEquals([await has("third"), platform.asked], [true, 3]);
  platform.now = 329_999;
  assertEquals([await has("third"), platform.asked], [true, 3]);
  platform.now = 330_000;
  assertEquals([await has("third"), platform.asked], [true, 4]);
});

Deno.test("calls at the same time share the first request", async () => {
  const { platform, has } = openKeys();
  assertEquals(await Promise.all([has("first"), has("first"), has("first")]), [true, true, true]);
  assertEquals(platform.asked, 1);
});

Deno.test("names that are no key's cause one request in 30 s, also while the platform fails, and end no key's use", async () => {
  const { platform, has } = openKeys();
  assertEquals(await has("first"), true);
  platform.now = 40_000;
  platform.published = undefined;
  for (const name of ["forged-1", "forged-2", "forged-3"]) await assertRejects(() => has(name));
  assertEquals([await has("first"), platform.asked], [true, 2]);
  platform.now = 70_000;
  platform.published = ["first"];
  assertEquals([await has("forged-4"), await has("forged-5"), platform.asked], [false, false, 3]);
});

Deno.test("pushed tokens with forged names of keys cause one request to the platform, not one each", async () => {
  const { env, flow } = await openEnvironmentAndFlow();
  const set = await eventToken(env, {});
  const keys = { keys: [jwk("platform")] };
  env.answers.set("/jwks", Array.from({ length: 9 }, () => () => json(200, keys)));
  await verifyEvent(flow, set);
  const [, ...rest] = set.split(".");
  for (const kid of ["forged-1", "forged-2", "forged-3", "forged-4"]) {
    const header = btoa(JSON.stringify({ alg: "PS256", typ: "secevent+jwt", kid })).replaceAll("=", "");
    await assertRejects(() => verifyEvent(flow, [header, ...rest].join(".")));
  }
  assertEquals(env.seen.filter(({ path }) => path === "/jwks").length, 2);
});
