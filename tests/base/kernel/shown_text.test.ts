/** Texts that one party writes and another one reads. */
import { assertEquals } from "@std/assert";
import { isPlain, withoutInvisible } from "../../../src/base/kernel/foreign_text.ts";

const ENGLAND = "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}";

Deno.test("withoutInvisible keeps flags of tag characters, and removes tag characters that hide text [CF22]", () => {
  assertEquals([
    isPlain(ENGLAND),
    isPlain(`Football ${ENGLAND} shop`),
    isPlain("\u{1f3f4} \u{1f1e8}\u{1f1f4}"),
  ], [true, true, true]);
  const hidden = "\u{e0068}\u{e0069}";
  assertEquals(withoutInvisible(`shop${hidden}`), "shop");
  assertEquals(withoutInvisible(`\u{1f3f4}${hidden}\u{e007f}`), "\u{1f3f4}"); // no flag
  assertEquals(withoutInvisible(`${ENGLAND}${hidden}`), ENGLAND);
});

Deno.test("withoutInvisible removes noncharacters [CF24]", () => {
  assertEquals(withoutInvisible("a\ufffe\uffff\ufdd0\u{1fffe}\u{10ffff}b"), "ab");
});
