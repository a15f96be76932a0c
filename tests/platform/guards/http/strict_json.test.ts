/** Request bytes as JSON: rejected inputs, in words that quote none of them. */
import { assertEquals } from "@std/assert";
import { parseStrictJson } from "../../../../src/base/http/body.ts";
import { rejectionOf } from "./rejections.ts";

function messageFor(bytes: Uint8Array): string {
  const rejection = rejectionOf(() => parseStrictJson(bytes));
  assertEquals(rejection.reason, "resource.invalid_format");
  assertEquals(rejection.parts.faults?.map((fault) => fault.code), ["Resource.InvalidFormat"]);
  return rejection.parts.faults?.[0]?.message ?? "";
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

Deno.test("parseStrictJson reads UTF-8, emoji included [CON-20]", () => {
  assertEquals(parseStrictJson(utf8('{"Name":"Café 🙂"}')), { Name: "Café 🙂" });
});

Deno.test("parseStrictJson rejects bytes that are not UTF-8 [CON-20]", () => {
  const invalid = [[0x22, 0xff, 0x22], [0x22, 0xc0, 0xaf, 0x22], [0x22, 0xed, 0xa0, 0x80, 0x22], [
    0x22,
    0xf0,
    0x9f,
    0x99,
  ]];
  for (const bytes of invalid) assertEquals(messageFor(Uint8Array.from(bytes)), "The body is not UTF-8.");
});

Deno.test("parseStrictJson rejects a byte order mark [CON-20]", () => {
  const marked = Uint8Array.from([0xef, 0xbb, 0xbf, 0x7b, 0x7d]);
  assertEquals(messageFor(marked), "The body begins with a byte order mark.");
  assertEquals(messageFor(Uint8Array.from([0xff, 0xfe, 0x7b, 0x00])), "The body is not UTF-8.");
});

Deno.test("parseStrictJson says why without quoting the body [CON-20]", () => {
  assertEquals(messageFor(utf8('{"secret":1,"secret":2}')), "The body has a duplicate member.");
  assertEquals(messageFor(utf8('{"secret":1}garbage')), "The body is not one JSON value.");
  assertEquals(messageFor(utf8("")), "The body is not one JSON value.");
  assertEquals(messageFor(utf8('{"a":1e999}')), "The body holds a number out of range.");
  assertEquals(messageFor(utf8('"\\ud800"')), "The body holds a lone surrogate.");
  assertEquals(messageFor(utf8("[".repeat(17) + "]".repeat(17))), "The body is nested too deeply.");
});
