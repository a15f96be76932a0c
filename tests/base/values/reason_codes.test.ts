/** The closed list of codes of reasons. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import {
  BANK_REASON_CODES,
  bankReason,
  PAYER_TEXTS,
  REASON_CODES,
  REASONS,
} from "../../../src/base/values/reason_codes.ts";
import { BANK_REASON_CODES as CODES_OF_CLIENT } from "../../../src/client/party/reason_codes.ts";
import { LANGUAGES } from "../../../src/pages/language.ts";

Deno.test("codes of ISO 20022 have four characters, the platform's own are longer [RSN1]", () => {
  const iso: readonly string[] = BANK_REASON_CODES;
  for (const code of REASON_CODES) assertMatch(code, iso.includes(code) ? /^[A-Z0-9]{4}$/ : /^[A-Z_]{5,32}$/);
});

Deno.test("each text for payers is shown for a code, in every language, and differs from the others [RSN1]", () => {
  const shown = REASON_CODES.map((code) => REASONS[code].show);
  const texts = Object.entries(PAYER_TEXTS).flatMap(([name, text]) => {
    assert(shown.some((other) => other === name), name);
    assertEquals(Object.keys(text), [...LANGUAGES]);
    return Object.values<string>(text);
  });
  assertEquals(new Set(texts).size, texts.length);
});

Deno.test("the client's list is the platform's list of what banks report [RSN1, RSN5]", () => {
  assertEquals([...CODES_OF_CLIENT], [...BANK_REASON_CODES]);
});

Deno.test("a bank's rejection without a code of the list has the general one [RSN5]", () => {
  assertEquals(bankReason("AM04", "a text"), "AM04");
  assertEquals(bankReason(undefined, "a text"), "NARR");
  assertEquals(bankReason("SESSION_EXPIRED", ""), "MS03");
  assertEquals(bankReason("toString", undefined), "MS03");
});
