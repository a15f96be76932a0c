/** Leaf paths in which two JSON values differ. */
import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { differences } from "../../../src/base/kernel/json.ts";

Deno.test("differences names each differing leaf, depth first", () => {
  const a = { one: "x", two: { three: "y", four: ["p", "q"] }, five: "z" };
  const b = { five: "z", two: { four: ["q", "p"], three: "Y" }, one: "x" };
  assertEquals(differences(a, b, "R"), ["R.two.three", "R.two.four[0]", "R.two.four[1]"]);
});

Deno.test("differences names the leaves that one side lacks", () => {
  assertEquals(differences({}, { a: { b: "1", c: ["2", "3"] } }, "R"), ["R.a.b", "R.a.c[0]", "R.a.c[1]"]);
  assertEquals(differences({ a: ["1", "2"] }, { a: ["1"] }, "R"), ["R.a[1]"]);
  assertEquals(differences({ a: {} }, {}, "R"), ["R.a"]);
  assertEquals(differences({ a: undefined }, {}, "R"), []);
});

Deno.test("differences does not fold case, trim or normalise", () => {
  assertEquals(differences({ a: "é" }, { a: "e\u0301" }, "R"), ["R.a"]);
  assertEquals(differences({ a: "x " }, { a: "x" }, "R"), ["R.a"]);
  assertEquals(differences({ a: "1.0" }, { a: "1.00" }, "R"), ["R.a"]);
});

Deno.test("differences is empty exactly for equal documents", () => {
  fc.assert(fc.property(fc.json(), fc.json(), (a, b) => {
    const [left, right] = [JSON.parse(a), JSON.parse(b)];
    assertEquals(differences(left, JSON.parse(a), "R"), []);
    if (differences(left, right, "R").length === 0) assertEquals(left, right);
  }));
});
