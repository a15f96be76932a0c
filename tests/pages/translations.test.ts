/** Automated checks of the translations in the catalogues of platform, bank and shop. */
import { assert, assertEquals } from "@std/assert";
import { formatDuration } from "../../src/pages/formats.ts";
import { CATALOGUES as PLATFORM } from "../../src/pages/phrase.ts";
import { CATALOGUES as BANK } from "../../src/sandbox/bank/page_phrase.ts";
import { LANGUAGES } from "../../src/sandbox/pages/language.ts";
import { CATALOGUES as SHOP } from "../../src/sandbox/shop/phrase.ts";

type Catalogue = Readonly<Record<string, string>>;

const OWNERS: Readonly<Record<string, Readonly<Record<string, Catalogue>>>> = {
  platform: PLATFORM,
  bank: BANK,
  shop: SHOP,
};
/** Texts that are the same in English: what they say is not a word of any language. */
const LIKE_ENGLISH: ReadonlySet<string> = new Set(["scheme.IBAN"]);
/** Names that no language translates. */
const NAMES = /\b(IBAN|JSON|POST|sort code|cookies)\b/gi;
/** Words that exist only in English. */
const ENGLISH =
  /\b(the|and|is|are|was|your|you|with|from|this|that|payment|account|bank|shop|please|again|back|money|wait|try|of|to|for|not|or)\b/i;
/** Customers are addressed as one addresses external parties. */
const FAMILIAR: Readonly<Record<string, RegExp>> = {
  es: /(?<!\p{L})(tú|tu|tus|te|ti|contigo|puedes|quieres|tienes|aceptas|vuelves|eliges|abres)(?!\p{L})/iu,
  fr: /(?<!\p{L})(tu|ton|ta|tes|toi|peux|veux|choisis|ouvre|attends)(?!\p{L})/iu,
};

for (const [owner, catalogues] of Object.entries(OWNERS)) {
  for (const language of LANGUAGES.filter((one) => one !== "en")) {
    const english = catalogues["en"] ?? {};
    const texts = Object.entries(catalogues[language] ?? {});

    Deno.test(`The ${owner}'s ${language} catalogue is whole, keeps every placeholder once and leaves nothing in English`, () => {
      assertEquals(texts.map(([key]) => key).toSorted(), Object.keys(english).toSorted());
      for (const [key, text] of texts) {
        assertEquals(placeholders(text), placeholders(english[key] ?? ""), key);
        if (LIKE_ENGLISH.has(key)) continue;
        assert(text !== english[key], key);
        const words = text.replaceAll(/\{\w+\}/g, "").replaceAll(NAMES, "");
        assert(!ENGLISH.test(words), `${key}: ${ENGLISH.exec(words)?.[0]} in ${text}`);
      }
    });

    Deno.test(`The ${owner}'s ${language} catalogue is written as ${language} is`, () => {
      for (const [key, text] of texts) {
        assert(!FAMILIAR[language]?.test(text), `${key} is too familiar: ${text}`);
        assert(!/ {2}|\s$|^\s|'|"/.test(text), `${key} has wrong spaces or quotes: ${text}`);
        assert(!(PUNCTUATION[language]?.(text) ?? false), `${key}: ${text}`);
      }
    });
  }
}

/** True where the punctuation is not the language's. */
const PUNCTUATION: Readonly<Record<string, (text: string) => boolean>> = {
  es: (text) => count(text, "¿") !== count(text, "?") || count(text, "¡") !== count(text, "!"),
  fr: (text) => /(?<![\u00a0\u202f])[:;?!»]/.test(text), // never alone on the next line
  ar: (text) => /[,;?]/.test(text) || /[A-Za-z]/.test(text.replaceAll(/\{\w+\}/g, "").replaceAll(NAMES, "")),
};

Deno.test("Arabic counts as Arabic does: one, two, few, many and hundreds each in their form", () => {
  const minutes = (count: number): string => formatDuration("ar", count * 60_000);
  assertEquals([1, 2, 3, 10, 11, 15, 100].map(minutes), [
    "دقيقة",
    "دقيقتان",
    "3 دقائق",
    "10 دقائق",
    "11 دقيقة",
    "15 دقيقة",
    "100 دقيقة",
  ]);
  const plural = new Intl.PluralRules("ar");
  const { "tries.one": one, "tries.two": two, "tries.other": other } = BANK.ar;
  assertEquals([plural.select(1), plural.select(2)], ["one", "two"]);
  assertEquals([one, two], ["بقيت محاولة واحدة.", "بقيت محاولتان."]);
  assert(
    /: \{count\}\.$/.test(other),
    "few, many and other differ: only a form without a counted noun fits them all",
  );
});

function placeholders(text: string): string[] {
  return [...text.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name).toSorted();
}

function count(text: string, mark: string): number {
  return text.split(mark).length - 1;
}
