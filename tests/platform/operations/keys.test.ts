/** The platform's keys as operators see them, through a rotation. */
import { assert, assertEquals } from "@std/assert";
import type { JSONWebKeySet, JWK } from "jose";
import { openKeyRing } from "../../../src/base/jose/key_ring.ts";
import { firstOf, present } from "testing/answers.ts";
import type { PlatformKeyList } from "testing/operation_answers.ts";
import { openConsole } from "testing/console_browser.ts";
import { openEnvironment } from "testing/environment.ts";
import { platformKeySet } from "testing/platform_keys.ts";

const HOUR = 3600;

Deno.test("operators see the platform's keys with no private part [OP16]", async () => {
  await using env = await openEnvironment();
  const text = await (await env.asOperator("/operations/keys", {}, "viewer")).text();
  const { Data: { Key } } = JSON.parse(text) as PlatformKeyList;
  assertEquals(Key.map((key) => [key.Use, key.Stage]).toSorted(), [["enc", "in_use"], ["sig", "in_use"]]);
  for (const { d, p } of keysOf(await platformKeySet())) {
    assert(!text.includes(present(d)) && !text.includes(present(p)));
  }
  const signing = Key.find(({ Use }) => Use === "sig");
  assertEquals([typeof signing?.AgeDays, typeof signing?.CertificateUntilDateTime], ["number", "string"]);
  const browser = await openConsole(env, "viewer");
  const page = await browser.get("/console/keys");
  assert(page.html.includes(signing?.KeyId ?? "no key") && page.html.includes("In use"));
});

const keysOf = (set: string): readonly JWK[] => (JSON.parse(set) as JSONWebKeySet).keys;

Deno.test("a key is next, in use, former and ended at its times [OP16]", async () => {
  const [first, second] = [keysOf(await platformKeySet()), keysOf(await platformKeySet(10, 11))];
  const sig = (keys: readonly JWK[]): JWK => firstOf(keys.filter(({ use }) => use === "sig"));
  const enc = first.find(({ use }) => use === "enc");
  const start = 2_000_000_000;
  let now = start;
  const ring = await openKeyRing(
    JSON.stringify({
      keys: [{ ...sig(first), exp: start + 10 * HOUR }, { ...sig(second), nbf: start + HOUR }, enc],
    }),
    () => now * 1000,
  );
  const stages = (): readonly string[] =>
    ring.schedule.filter(({ use }) => use === "sig").map(({ stage }) => stage);
  assertEquals(stages(), ["in_use", "next"]);
  now = start + HOUR;
  assertEquals(stages(), ["former", "in_use"]);
  assertEquals(ring.signer.kid, sig(second).kid);
  now = start + 10 * HOUR;
  assertEquals(stages(), ["ended", "in_use"]);
  assertEquals(ring.publicJwks.keys.some(({ kid }) => kid === sig(first).kid), false);
});
