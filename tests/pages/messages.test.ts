import { assert, assertEquals } from "@std/assert";
import { LANGUAGES } from "../../src/pages/language.ts";
import type { Messages } from "../../src/pages/messages_en.ts";
import { MESSAGES_EN } from "../../src/pages/messages_en.ts";
import { CATALOGUES, phrase } from "../../src/pages/phrase.ts";

function placeholders(text: string): string[] {
  return [...text.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name).toSorted();
}

for (const language of LANGUAGES) {
  Deno.test(`Every message in ${language} has the placeholders of the English one`, () => {
    const catalogue: Messages = CATALOGUES[language];
    for (const [key, english] of Object.entries(MESSAGES_EN)) {
      const text = Object.entries(catalogue).find(([name]) => name === key)?.[1] ?? "";
      assertEquals(placeholders(text), placeholders(english), key);
    }
    assertEquals(Object.keys(catalogue).length, Object.keys(MESSAGES_EN).length);
  });

  Deno.test(`Every message in ${language} is there, trimmed and free of markup`, () => {
    for (const [key, text] of Object.entries(CATALOGUES[language])) {
      assert(text.trim() === text && text !== "", key);
      assert(!/[<>&]/.test(text), key);
      assert(text.replaceAll(/\{\w+\}/g, "").search(/[{}]/) === -1, key);
    }
  });
}

Deno.test("No message is left in English", () => {
  const shared = new Set(["scheme.IBAN", "consent.message"]); // "Message" is French too
  for (const [key, english] of Object.entries(MESSAGES_EN)) {
    for (const language of LANGUAGES.filter((one) => one !== "en" && !shared.has(key))) {
      const text = Object.entries(CATALOGUES[language]).find(([name]) => name === key)?.[1];
      assert(text !== english, `${language} ${key}`);
    }
  }
});

Deno.test("phrase fills placeholders in the order of the language", () => {
  assertEquals(phrase("en", "consent.balance", { amount: "€1.00" }).join(""), "Balance €1.00");
  assertEquals(
    phrase("es", "consent.ifRefuse", { tpp: "X" }).join(""),
    "Si rechaza, no se pagará nada y volverá a X.",
  );
  assertEquals(phrase("fr", "layout.language"), ["Langue"]);
});

Deno.test("phrase does not compile with placeholders missing or made up", () => {
  // @ts-expect-error -- amount is missing
  phrase("en", "consent.balance", {});
  // @ts-expect-error -- no values at all
  phrase("en", "consent.balance");
  // @ts-expect-error -- there is no such placeholder
  phrase("en", "layout.skip", { amount: "1" });
  // @ts-expect-error -- there is no such message
  assertEquals(messageOf("consent.nothing"), undefined);
});

function messageOf(key: keyof Messages): string | undefined {
  return CATALOGUES.en[key];
}
