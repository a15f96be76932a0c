import { assertEquals } from "@std/assert";
import fc from "fast-check";
import {
  chooseLanguage,
  directionOf,
  isLanguage,
  type Language,
  LANGUAGES,
} from "../../src/pages/language.ts";

const HEADERS: readonly (readonly [string | undefined, Language])[] = [
  [undefined, "en"],
  ["", "en"],
  ["fr", "fr"],
  ["FR", "fr"],
  ["es-CO", "es"],
  ["ar-EG,ar;q=0.9", "ar"],
  ["de", "en"],
  ["de, fr;q=0.1", "fr"],
  ["en;q=0.5, es;q=0.8", "es"],
  ["fr, es", "fr"],
  ["es, fr", "es"],
  ["fr;q=0.8, es;q=0.8, en;q=0.8", "fr"],
  ["*", "en"],
  ["fr;q=0.2, *;q=0.9", "en"],
  ["en;q=0, *", "es"],
  ["en;q=0, es;q=0, *;q=0.1", "fr"],
  ["en;q=0", "en"],
  ["es;q=0, es-CO;q=0.7, fr;q=0.6", "es"],
  ["fr; q=1.000 , en", "fr"],
  ["arc, es;q=0.1", "es"],
  ["fr;q=2, es", "es"],
  ["fr;q=0.1234, es;q=0.1", "es"],
  ["fr;level=1, es;q=0.1", "es"],
  [",,; ;=,fr", "fr"],
];

Deno.test("chooseLanguage takes the best of Accept-Language [RFC 9110 §12.5.4]", () => {
  for (const [header, expected] of HEADERS) assertEquals(chooseLanguage(header, undefined), expected, header);
});

Deno.test("chooseLanguage prefers what was chosen on the page and ignores what is not there", () => {
  assertEquals(chooseLanguage("fr", "ar"), "ar");
  for (const chosen of ["de", "EN", "", "__proto__", "en-GB"]) {
    assertEquals(chooseLanguage("fr", chosen), "fr");
  }
});

Deno.test("chooseLanguage answers any text with one of its languages", () => {
  fc.assert(fc.property(fc.string(), fc.option(fc.string(), { nil: undefined }), (header, chosen) => {
    return isLanguage(chooseLanguage(header, chosen));
  }));
});

Deno.test("directionOf: Arabic only is written from right to left", () => {
  assertEquals(LANGUAGES.map(directionOf), ["ltr", "ltr", "ltr", "rtl"]);
});
