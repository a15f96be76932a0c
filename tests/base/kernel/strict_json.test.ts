/** What the strict reader rejects, by example. `tests/properties/json.test.ts` compares it with a second reader. */
import { assertEquals } from "@std/assert";
import { strictJson } from "../../../src/base/kernel/json.ts";

function whyNot(text: string): string | undefined {
  const parsed = strictJson(text);
  return parsed.ok ? undefined : parsed.fault;
}

function nested(levels: number): string {
  return "[".repeat(levels) + "]".repeat(levels);
}

Deno.test("strictJson rejects duplicate members at any level [CON-20]", () => {
  const duplicates = [
    '{"a":1,"a":1}',
    '{"a":1,"b":{"c":[{"d":1,"d":2}]}}',
    '{"iss":1,"\\u0069ss":2}',
    '{"\\u0069ss":1,"iss":2}',
    '{"a\\/b":1,"a/b":2}',
    '{"":1,"":2}',
    '{"__proto__":1,"__proto__":2}',
    '{"a" : {"x":1} ,\n"a":[]}',
    '{"a\\"":1,"a\\u0022":2}',
  ];
  for (const text of duplicates) assertEquals(whyNot(text), "has a duplicate member", text);
});

Deno.test("strictJson takes equal names in different objects, and names equal to values [CON-20]", () => {
  for (const text of ['[{"a":1},{"a":1}]', '{"a":{"a":{"a":"a"}},"b":["a","a"]}', '{"a":"b","b":"a"}']) {
    assertEquals(strictJson(text), { ok: true, value: JSON.parse(text) });
  }
});

Deno.test("strictJson nests 16 levels and no more [CON-20]", () => {
  assertEquals(whyNot(nested(16)), undefined);
  assertEquals(whyNot(nested(17)), "is nested too deeply");
  assertEquals(whyNot('{"a":'.repeat(16) + "1" + "}".repeat(16)), undefined);
  assertEquals(whyNot('{"a":'.repeat(17) + "1" + "}".repeat(17)), "is nested too deeply");
  assertEquals(whyNot(nested(60_000)), "is nested too deeply");
  assertEquals(whyNot(JSON.stringify(Array(1000).fill([[]]))), undefined);
});

Deno.test("strictJson rejects lone surrogates, raw or escaped, in names and values [CON-20]", () => {
  for (const text of ['"\\ud800"', '{"\\udc00":1}', '"a\\ud800b"', '"\ud800"', '["\\ud83d", "\\ude42"]']) {
    assertEquals(whyNot(text), "holds a lone surrogate", text);
  }
  assertEquals(strictJson('"\\ud83d\\ude42"'), { ok: true, value: "🙂" });
});

Deno.test("strictJson rejects numbers out of range [CON-20]", () => {
  for (const text of ["1e999", "-1e999", '{"a":[1,1e400]}', "1" + "0".repeat(400)]) {
    assertEquals(whyNot(text), "holds a number out of range", text);
  }
  for (const text of ["0", "-0", "1e308", "1.5E+3", "-1.25e-7", '"1e999"']) {
    assertEquals(whyNot(text), undefined, text);
  }
});

Deno.test("strictJson rejects what is not one JSON value [CON-20]", () => {
  const broken = [
    "",
    " ",
    "{",
    "{}x",
    "{} {}",
    "[1,]",
    "{'a':1}",
    "{}/* */",
    "01",
    "+1",
    "NaN",
    "undefined",
    '{"a"}',
    "\uFEFF{}",
    '"\t"',
  ];
  for (const text of broken) assertEquals(whyNot(text), "is not one JSON value", text);
});

Deno.test("strictJson keeps __proto__ as a member and touches no prototype [CON-20]", () => {
  const parsed = strictJson('{"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}}}');
  assertEquals(parsed.ok && Object.keys(parsed.value ?? {}), ["__proto__", "constructor"]);
  assertEquals(parsed.ok && Object.getPrototypeOf(parsed.value) === Object.prototype, true);
  assertEquals("admin" in {}, false);
});
