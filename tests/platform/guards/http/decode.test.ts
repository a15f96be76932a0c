/** How schema issues become faults: codes, paths, order, number, and silence about the input. */
import { z } from "@hono/zod-openapi";
import { assertEquals } from "@std/assert";
import { decode, rejectedAs, valueAt } from "../../../../src/platform/guards/http/decode.ts";
import { text } from "../../../../src/platform/guards/http/wire_fields.ts";
import { faultsOf, rejectionOf } from "./rejections.ts";

const schema = z.strictObject({
  Name: text(3),
  Kind: z.enum(["A", "B"]).optional(),
  List: z.array(z.strictObject({ Id: text(2) })).min(1).max(20).optional(),
  Own: z.string().refine((value) => value === "right", rejectedAs("Unsupported.Scheme", "Must be right."))
    .optional(),
});

Deno.test("decode gives the value back where it is sound", () => {
  assertEquals(decode(schema, { Name: "abc", List: [{ Id: "1" }] }), { Name: "abc", List: [{ Id: "1" }] });
});

Deno.test("decode names each kind of fault", () => {
  const cases: [unknown, string[]][] = [
    [{}, ["Field.Missing Name"]],
    [{ Name: null }, ["Field.Invalid Name"]],
    [{ Name: 5 }, ["Field.Invalid Name"]],
    [{ Name: "abcd" }, ["Field.Invalid Name"]],
    [{ Name: "" }, ["Field.Invalid Name"]],
    [{ Name: "a\u0000\u0000\u0000" }, ["Field.Invalid Name"]],
    [{ Name: "abc", Kind: "C" }, ["Field.Invalid Kind"]],
    [{ Name: "abc", Kind: null }, ["Field.Invalid Kind"]],
    [{ Name: "abc", Own: "wrong" }, ["Unsupported.Scheme Own"]],
    [{ Name: "abc", Own: 1 }, ["Field.Invalid Own"]],
    [{ Name: "abc", List: [] }, ["Field.Missing List"]],
    [{ Name: "abc", List: {} }, ["Field.Invalid List"]],
    [{ Name: "abc", List: [{}, null, { Id: "123" }] }, [
      "Field.Missing List[0].Id",
      "Field.Invalid List[1]",
      "Field.Invalid List[2].Id",
    ]],
    [{ Name: "abc", Extra: 1 }, ["Field.Unexpected Extra"]],
    [{ Name: "abc", List: [{ Id: "1", Extra: 1 }] }, ["Field.Unexpected List[0].Extra"]],
  ];
  for (const [value, expected] of cases) assertEquals(faultsOf(() => decode(schema, value)), expected);
});

Deno.test("decode rejects a body that is no object as unreadable", () => {
  for (const value of [null, [], "text", 5, true, undefined]) {
    const rejection = rejectionOf(() => decode(schema, value));
    assertEquals(rejection.reason, "resource.invalid_format");
    assertEquals(rejection.parts.faults?.[0]?.code, "Resource.InvalidFormat");
  }
});

Deno.test("decode orders faults by path with positions as numbers, and names 20 at most [EB4]", () => {
  const list = Array.from({ length: 12 }, () => ({}));
  const faults = faultsOf(() => decode(schema, { List: list }));
  assertEquals(faults[2], "Field.Missing List[2].Id");
  assertEquals(faults[10], "Field.Missing List[10].Id");
  assertEquals(faults.at(-1), "Field.Missing Name");
  const many = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`x${i}`, 1]));
  assertEquals(faultsOf(() => decode(schema, { Name: "abc", ...many })).length, 20);
});

Deno.test("decode merges rules, and the schema's word counts for the same path", () => {
  const rules = [
    { code: "Unsupported.Currency", path: "Name", message: "rule" },
    { code: "Field.InvalidDate", path: "Kind", message: "rule" },
  ] as const;
  assertEquals(faultsOf(() => decode(schema, { Name: 1 }, rules)), [
    "Field.InvalidDate Kind",
    "Field.Invalid Name",
  ]);
  assertEquals(faultsOf(() => decode(schema, { Name: "abc" }, rules)), [
    "Field.InvalidDate Kind",
    "Unsupported.Currency Name",
  ]);
});

Deno.test("decode names an unknown member only where its name can stand in a path", () => {
  const cases: [string, string[]][] = [
    ["plain_name-1", ["Field.Unexpected plain_name-1"]],
    ["__proto__", ["Field.Unexpected __proto__"]],
    ["constructor", ["Field.Unexpected constructor"]],
    ["toString", ["Field.Unexpected toString"]],
    ["with space", ["Field.Unexpected"]],
    ["<script>", ["Field.Unexpected"]],
    ["x".repeat(65), ["Field.Unexpected"]],
  ];
  for (const [name, expected] of cases) {
    const value = JSON.parse(`{"Name":"abc",${JSON.stringify(name)}:1}`);
    assertEquals(faultsOf(() => decode(schema, value)), expected, name);
  }
  assertEquals(faultsOf(() => decode(schema, { Name: "abc", List: [{ Id: "1", "a b": 1 }] })), [
    "Field.Unexpected List[0]",
  ]);
});

Deno.test("text rejects C0 controls, DEL and noncharacters [CON-15]", () => {
  for (const none of ["a\ufffeb", "\u{10ffff}"]) assertEquals(text(10).safeParse(none).success, false);
  for (let code = 0; code < 0x80; code++) {
    const expected = code >= 0x20 && code !== 0x7f;
    assertEquals(
      text(10).safeParse(`a${String.fromCharCode(code)}b`).success,
      expected,
      `U+${code.toString(16)}`,
    );
  }
});

Deno.test("valueAt reads own members only", () => {
  const body: unknown = { a: [{ b: "x" }], s: "text" };
  assertEquals(valueAt(body, ["a", 0, "b"]), "x");
  assertEquals(valueAt(body, []), body);
  for (const path of [["a", 1, "b"], ["toString"], ["__proto__"], ["s", "length"], ["a", "b"], ["z", "y"]]) {
    assertEquals(valueAt(body, path), undefined);
  }
});
