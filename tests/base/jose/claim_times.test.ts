/** `checkTimes` at every edge of contract LT1 to LT12, and against what is no honest number [J32]. */
import { assertEquals } from "@std/assert";
import { checkTimes, type TimeRules } from "../../../src/base/jose/verify_jwt.ts";
import type { JsonObject } from "../../../src/base/jose/compact_jws.ts";

const NOW = 1_700_000_000;
const ASSERTION: TimeRules = { exp: "required", iat: "optional", maxAhead: 330 };
const PROOF: TimeRules = { exp: "optional", iat: "required", maxAge: 60 };
const BANK_RETURN: TimeRules = { exp: "required", iat: "required", maxLifetime: 600 };

function accepts(claims: JsonObject, rules: TimeRules): boolean {
  return checkTimes(claims, rules, NOW).ok;
}

Deno.test("checkTimes judges exp, iat and nbf at each offset from now [J32, FAPI-D4, CA-N12, CA-N14, CA-N15]", () => {
  //                       offset   exp    iat    nbf
  const table: readonly [number, boolean, boolean, boolean][] = [
    [-3600, false, false, true],
    [-61, false, false, true],
    [-60, false, true, true],
    [-31, false, true, true],
    [-30, false, true, true],
    [-29, true, true, true],
    [-10, true, true, true],
    [0, true, true, true],
    [8, true, true, true],
    [10, true, true, true],
    [30, true, true, true],
    [31, true, false, false],
    [60, true, false, false],
    [61, true, false, false],
    [62, true, false, false],
    [3600, true, false, false],
  ];
  for (const [offset, exp, iat, nbf] of table) {
    assertEquals(accepts({ iat: NOW, exp: NOW + offset }, PROOF), exp, `exp at ${offset}`);
    assertEquals(accepts({ iat: NOW + offset }, PROOF), iat, `iat at ${offset}`);
    assertEquals(accepts({ iat: NOW, nbf: NOW + offset }, PROOF), nbf, `nbf at ${offset}`);
  }
});

Deno.test("checkTimes lets exp lie 330 s ahead of now and no more [CA10, CA-N13]", () => {
  assertEquals(accepts({ exp: NOW + 330 }, ASSERTION), true);
  assertEquals(accepts({ exp: NOW + 330.5 }, ASSERTION), false);
  assertEquals(accepts({ exp: NOW + 331 }, ASSERTION), false);
  assertEquals(accepts({ exp: NOW + 86_400 }, ASSERTION), false);
  assertEquals(accepts({ exp: Number.MAX_VALUE }, ASSERTION), false);
});

Deno.test("checkTimes lets exp lie 600 s after iat and no more [BR-N9]", () => {
  assertEquals(accepts({ iat: NOW, exp: NOW + 600 }, BANK_RETURN), true);
  assertEquals(accepts({ iat: NOW, exp: NOW + 601 }, BANK_RETURN), false);
  assertEquals(accepts({ iat: NOW - 600, exp: NOW }, BANK_RETURN), true);
  assertEquals(accepts({ iat: NOW - 630, exp: NOW - 30 }, BANK_RETURN), false);
  assertEquals(accepts({ iat: -Number.MAX_VALUE, exp: NOW }, BANK_RETURN), false);
});

Deno.test("checkTimes puts no limit on how far ahead exp lies where the rules set none [DP-N19]", () => {
  assertEquals(accepts({ iat: NOW, nbf: NOW, exp: NOW + 300 }, PROOF), true);
  assertEquals(accepts({ iat: NOW, exp: NOW + 10 ** 9 }, PROOF), true);
});

Deno.test("checkTimes wants the required claims and does without the optional ones", () => {
  assertEquals(accepts({}, ASSERTION), false);
  assertEquals(accepts({ iat: NOW }, ASSERTION), false);
  assertEquals(accepts({ exp: NOW }, ASSERTION), true);
  assertEquals(accepts({}, PROOF), false);
  assertEquals(accepts({ exp: NOW }, PROOF), false);
  assertEquals(accepts({ exp: NOW }, BANK_RETURN), false);
  assertEquals(accepts({ iat: NOW }, BANK_RETURN), false);
});

Deno.test("checkTimes rejects what is no finite number, in required and optional claims alike [J16, J32]", () => {
  const odd: unknown[] = [
    String(NOW),
    "",
    JSON.parse("1e999"),
    JSON.parse("-1e999"),
    NaN,
    null,
    undefined,
    true,
    [NOW],
    { value: NOW },
    BigInt(NOW),
  ];
  for (const value of odd) {
    assertEquals(accepts({ exp: value }, ASSERTION), false, `exp ${value}`);
    assertEquals(accepts({ iat: value }, PROOF), false, `iat ${value}`);
    assertEquals(accepts({ iat: NOW, exp: value }, PROOF), false, `optional exp ${value}`);
    assertEquals(accepts({ exp: NOW, iat: value }, ASSERTION), false, `optional iat ${value}`);
    assertEquals(accepts({ exp: NOW, nbf: value }, ASSERTION), false, `nbf ${value}`);
  }
});

Deno.test("checkTimes takes fractional numbers for what they are [J16]", () => {
  assertEquals(accepts({ iat: NOW + 30 }, PROOF), true);
  assertEquals(accepts({ iat: NOW + 30.001 }, PROOF), false);
  assertEquals(accepts({ iat: NOW - 60.001 }, PROOF), false);
  assertEquals(accepts({ exp: NOW - 29.5 }, ASSERTION), true);
});

Deno.test("checkTimes reads own members only [J37]", () => {
  const inherited: JsonObject = Object.create({ exp: NOW, iat: NOW });
  assertEquals(accepts(inherited, ASSERTION), false);
  assertEquals(accepts(inherited, PROOF), false);
  assertEquals(accepts(JSON.parse(`{"__proto__":{"exp":${NOW}}}`) as JsonObject, ASSERTION), false);
});

Deno.test("checkTimes treats zero and negative times as long past", () => {
  for (const past of [0, -0, -1, -NOW]) {
    assertEquals(accepts({ exp: past }, ASSERTION), false);
    assertEquals(accepts({ iat: past }, PROOF), false);
  }
});
