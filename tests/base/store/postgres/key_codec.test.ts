/** Keys as bytes: the order of the bytes is the order of the keys, part by part. */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { decodeKey, encodeKey, endBelow } from "../../../../src/base/store/postgres/key_codec.ts";
import type { Key } from "../../../../src/base/store/store.ts";

const part = fc.oneof(
  fc.string({ unit: "binary", maxLength: 4 }),
  fc.constantFrom("", "\0", "\0\0", "a", "a\0", "\u00ff", "\u{10ffff}"),
);
const key = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts): Key => parts);

const encoder = new TextEncoder();

function compareBytes(one: Uint8Array, other: Uint8Array): number {
  const differs = one.findIndex((byte, index) => byte !== other[index]);
  return differs < 0 ? one.length - other.length : (one[differs] ?? 0) - (other[differs] ?? -1);
}

/** Part by part, each by its UTF-8 bytes; a key comes before the keys below it. */
function compareKeys(one: Key, other: Key): number {
  for (const [index, part] of one.entries()) {
    const its = other[index];
    if (its === undefined) return 1;
    const order = compareBytes(encoder.encode(part), encoder.encode(its));
    if (order !== 0) return order;
  }
  return one.length - other.length;
}

function compareText(one: string, other: string): number {
  return one < other ? -1 : Number(one > other); // hexadecimal: the order of the text is that of the bytes
}

Deno.test("A key is decoded as it was encoded", () => {
  fc.assert(fc.property(key, (parts) => assertEquals(decodeKey(encodeKey(parts)), parts)));
});

Deno.test("Encoded keys have the order of the keys", () => {
  fc.assert(
    fc.property(key, key, (one, other) =>
      assertEquals(
        Math.sign(compareText(encodeKey(one), encodeKey(other))),
        Math.sign(compareKeys(one, other)),
      )),
  );
});

Deno.test("The keys below a key, and no others, are between it and its end", () => {
  fc.assert(fc.property(key, key, (prefix, other) => {
    const isBelow = other.length > prefix.length && prefix.every((part, index) => part === other[index]);
    const encoded = encodeKey(other);
    assert(isBelow === (encodeKey(prefix) < encoded && encoded < endBelow(prefix)));
  }));
  fc.assert(fc.property(key, part, (prefix, last) => {
    const encoded = encodeKey([...prefix, last]);
    assert(encodeKey(prefix) < encoded && encoded < endBelow(prefix));
  }));
});
