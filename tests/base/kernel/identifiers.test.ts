import { assert, assertEquals } from "@std/assert";
import { CONSENT_ID } from "testing/resource_answers.ts";
import { newConsentId } from "../../../src/base/kernel/identifiers.ts";

Deno.test("a new consent id is a version 7 UUID with the time and 74 random bits", () => {
  const before = Date.now();
  const ids = Array.from({ length: 2000 }, newConsentId);
  const octets = ids.map((id) => Uint8Array.fromHex(id.replaceAll("-", "")));
  for (const id of ids) {
    assert(CONSENT_ID.test(id), id);
    const at = parseInt(id.replace("-", "").slice(0, 12), 16);
    assert(before <= at && at <= Date.now(), id);
  }
  assertEquals(new Set(ids).size, ids.length);
  const random = [0, 0, 0, 0, 0, 0, 0x0f, 0xff, 0x3f, ...Array(7).fill(0xff)];
  const ones = random.map((_, at) =>
    octets.reduce((all, one) => all | (one[at] ?? 0), 0) & (random[at] ?? 0)
  );
  const zeros = random.map((_, at) =>
    octets.reduce((all, one) => all | ~(one[at] ?? 0), 0) & (random[at] ?? 0)
  );
  assertEquals([ones, zeros], [random, random], "each of these bits has both values");
});
