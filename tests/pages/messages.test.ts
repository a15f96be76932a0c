/** The catalogues of platform, banks and shop: complete, valid ICU messages, and written as their language is. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { raw } from "hono/html";
import { formatDuration } from "../../src/pages/formats.ts";
import { type Language, LANGUAGES, LOCALES } from "../../src/pages/language.ts";
import { compileMessage } from "../../src/pages/messages.ts";
import { ARGUMENTS, CATALOGUES, phrase, words } from "../../src/pages/phrase.ts";
import * as consoles from "../../src/console/phrase.ts";
import * as console from "../../src/platform/operations/console/phrase.ts";
import * as directory from "../../src/directory/console/phrase.ts";
import { ERROR_TABLE } from "../../src/platform/guards/http/error_table.ts";
import * as bank from "../../src/sandbox/bank/page_phrase.ts";
import * as shop from "../../src/sandbox/shop/phrase.ts";

interface Owner {
  readonly CATALOGUES: Readonly<Record<Language, Readonly<Record<string, string>>>>;
  readonly ARGUMENTS: Readonly<Record<string, readonly string[]>>;
}

const OWNERS: Readonly<Record<string, Owner>> = {
  platform: { CATALOGUES, ARGUMENTS },
  bank,
  console,
  consoles,
  directory,
  shop,
};
/** The same in English on purpose: an abbreviation, and "Message" and "Organisation", which are French too. */
const LIKE_ENGLISH: ReadonlySet<string> = new Set([
  "* scheme.IBAN",
  "fr consent.message",
  "fr subject.organisation",
]);
/** Names that no language translates. */
const NAMES = /\b(IBAN|JSON|POST|UTC|Prometheus|sort code|cookies)\b/gi;
/** Words that exist only in English. */
const ENGLISH =
  /\b(the|and|is|are|was|your|you|with|from|this|that|payment|account|bank|shop|please|again|back|money|wait|try|of|to|for|not|or)\b/i;
/** Customers are addressed as external parties. */
const FAMILIAR: Readonly<Record<string, RegExp>> = {
  es: /(?<!\p{L})(tú|tu|tus|te|ti|contigo|puedes|quieres|tienes|aceptas|vuelves|eliges|abres)(?!\p{L})/iu,
  fr: /(?<!\p{L})(tu|ton|ta|tes|toi|peux|veux|choisis|ouvre|attends)(?!\p{L})/iu,
};
/** True if the punctuation is not the language's. */
const PUNCTUATION: Readonly<Record<string, (text: string) => boolean>> = {
  es: (text) => count(text, "¿") !== count(text, "?") || count(text, "¡") !== count(text, "!"),
  fr: (text) => /(?<![\u00a0\u202f])[:;?!»]/.test(text), // never alone on the next line
  ar: (text) => /[,;?]/.test(text) || /[A-Za-z]/.test(text.replaceAll(/\{\w+\}/g, "").replaceAll(NAMES, "")),
};
/** Numbers that take every plural form of these languages below a thousand. */
const NUMBERS = [0, 1, 2, 3, 10, 11, 99, 100, 102, 103];

for (const [name, owner] of Object.entries(OWNERS)) {
  const english = owner.CATALOGUES.en;
  for (const language of LANGUAGES) {
    const entries = Object.entries(owner.CATALOGUES[language]);

    Deno.test(`The ${name}'s ${language} catalogue has the messages and arguments of the English one [W1]`, () => {
      assertEquals(entries.map(([key]) => key).toSorted(), Object.keys(english).toSorted());
      for (const [key, text] of entries) {
        const known = [...owner.ARGUMENTS[key] ?? []].toSorted();
        assertEquals(argumentsOf(text, language).toSorted(), known, key);
      }
      assertEquals(Object.keys(owner.ARGUMENTS).filter((key) => !(key in english)), []);
    });

    Deno.test(`The ${name}'s ${language} messages have a form for every number [W1]`, () => {
      const rules = new Intl.PluralRules(LOCALES[language]);
      for (const [key, text] of entries) {
        for (const forms of pluralsIn(text, language)) {
          assertEquals(NUMBERS.map((one) => rules.select(one)).filter((form) => !forms.has(form)), [], key);
        }
      }
    });

    Deno.test(`The ${name}'s ${language} messages are trimmed and free of markup and quotes`, () => {
      for (const [key, text] of entries) {
        for (const reading of readingsOf(text, language)) {
          const text = reading.replaceAll(/\{\w+\}/g, "");
          assert(reading !== "" && !/ {2}|\s$|^\s/.test(reading), `${key}: ${reading}`);
          assert(!/["'<>&{}]/.test(text), `${key}: ${reading}`);
        }
      }
    });

    if (language === "en") continue;
    Deno.test(`The ${name}'s ${language} messages are written as ${language} is, with nothing left in English`, () => {
      for (const [key, text] of entries) {
        for (const reading of readingsOf(text, language)) {
          assert(!FAMILIAR[language]?.test(reading), `${key} is too familiar: ${reading}`);
          assert(!(PUNCTUATION[language]?.(reading) ?? false), `${key}: ${reading}`);
          if (LIKE_ENGLISH.has(`* ${key}`) || LIKE_ENGLISH.has(`${language} ${key}`)) continue;
          assert(text !== english[key], key);
          const left = ENGLISH.exec(reading.replaceAll(/\{\w+\}/g, "").replaceAll(NAMES, ""));
          assertEquals(left?.[0], undefined, `${key}: ${reading}`);
        }
      }
    });
  }
}

/** Reasons whose other part differs. */
const FORMS: Readonly<Record<string, string>> = {
  "bank:": "bank",
  "software statement of": "statement",
};

Deno.test("each code that a console shows has words: reasons, statuses, events, evidence, steps [OP23, OP24]", async () => {
  const shapes = (await Deno.readTextFile("scripts/testing/history_shapes.txt")).split("\n")
    .filter((line) => /^\w+\./.test(line));
  const events = shapes.map((line) => line.split(" ")[0] ?? "");
  const kinds = shapes.flatMap((line) => / items ([^;]+)/.exec(line)?.[1]?.split(", ") ?? [])
    .map((item) => item.split(" ")[0] ?? "");
  const whys = shapes.flatMap((line) => / reason ([^;]+)/.exec(line)?.[1] ?? []).filter((why) =>
    why !== "(any)"
  );
  const actors = shapes.map((line) => / by (\w+)/.exec(line)?.[1] ?? "");
  const reasons = Object.keys(ERROR_TABLE).filter((reason) => !reason.startsWith("directory."));
  assert(events.length > 50 && kinds.includes("status_report") && reasons.length > 80);
  const keys = [
    ...["platform.failed", ...reasons].map((reason) => `reason.${reason}`),
    ...events.map((event) => `event.${event}`),
    ...whys.map((why) => `why.${FORMS[why] ?? why}`),
    ...actors.filter((actor) => actor !== "participant" && actor !== "bank").map((actor) => `actor.${actor}`),
    ...kinds.map((kind) => `proof.${kind}`),
    ...events.filter((event) => /^(?:consent|payment)\.[A-Z]/.test(event)).map((event) => `status.${event}`),
  ];
  assertEquals(keys.filter((key) => console.messageNamed(key) === undefined), []);
});

Deno.test("Arabic counts as Arabic does: none, one, two, few, many and hundreds each in their form [W1]", () => {
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
  const tries = (count: number): string => bank.words("ar", "complaint.triesLeft", { count });
  assertEquals([0, 1, 2, 3, 10, 11, 99, 100, 102, 103].map(tries), [
    "لم تبقَ أي محاولة.",
    "بقيت محاولة واحدة.",
    "بقيت محاولتان.",
    "بقيت 3 محاولات.",
    "بقيت 10 محاولات.",
    "بقيت 11 محاولة.",
    "بقيت 99 محاولة.",
    "بقيت 100 محاولة.",
    "بقيت 102 محاولة.",
    "بقيت 103 محاولات.",
  ]);
});

Deno.test("A count is written with the reader's separators and the digits of account numbers", () => {
  const tries = (language: Language): string => bank.words(language, "complaint.triesLeft", { count: 12345 });
  assertEquals(tries("en"), "12,345 tries are left.");
  assertEquals(tries("es"), "Quedan 12.345 intentos.");
  assertEquals(tries("fr"), "Il reste 12\u202f345 essais.");
  assertEquals(tries("ar"), "بقيت 12,345 محاولة.");
});

Deno.test("phrase fills arguments in the order of the language and keeps elements apart from text", () => {
  assertEquals(words("es", "consent.ifRefuse", { tpp: "X" }), "Si rechaza, volverá a X y no se pagará nada.");
  assertEquals(phrase("fr", "layout.language"), ["Langue"]);
  const amount = raw("<bdi>€1.00</bdi>");
  assertEquals(phrase("en", "consent.balance", { amount }), ["Balance ", amount]);
});

Deno.test("A message that is not valid ICU does not compile [W1]", () => {
  for (
    const text of ["{tpp", "{count, plural, one {1}}", "{count, plural, few}", "{count, choice, other {1}}"]
  ) {
    assertThrows(() => compileMessage(text, "en"), Error, undefined, text);
  }
});

Deno.test("phrase does not compile with values missing or made up [W1]", () => {
  // @ts-expect-error -- amount is missing
  assertThrows(() => phrase("en", "consent.balance", {}), Error, "amount");
  // @ts-expect-error -- no values at all
  assertThrows(() => phrase("en", "consent.balance"), Error, "amount");
  // @ts-expect-error -- the message has no such argument
  assertEquals(phrase("en", "layout.skip", { amount: "1" }), ["Skip to the main content"]);
  // @ts-expect-error -- there is no such message
  assertThrows(() => phrase("en", "consent.nothing"));
});

type Ast = ReturnType<ReturnType<typeof compileMessage>["getAst"]>;

/** Every element of the message, those inside plural forms included. */
function elementsIn(ast: Ast): Ast {
  return ast.flatMap((element) =>
    "options" in element
      ? [element, ...Object.values(element.options).flatMap(({ value }) => elementsIn(value))]
      : [element]
  );
}

function argumentsOf(text: string, language: Language): string[] {
  // Literals and `#` are no arguments; a literal's value is its text.
  const named = elementsIn(compileMessage(text, language).getAst()).filter((one) =>
    one.type !== 0 && one.type !== 7
  );
  return [...new Set(named.map((one) => "value" in one ? String(one.value) : ""))];
}

function pluralsIn(text: string, language: Language): ReadonlySet<string>[] {
  return elementsIn(compileMessage(text, language).getAst()).flatMap((one) =>
    "options" in one ? [new Set(Object.keys(one.options))] : []
  );
}

/** The text of the message, in each form that a number takes; an argument is shown as `{name}`. */
function readingsOf(text: string, language: Language): string[] {
  const names = argumentsOf(text, language);
  const isCounted = pluralsIn(text, language).length > 0;
  const readings = (isCounted ? NUMBERS : [0]).map((number) => {
    const values = names.map((name) => [name, isCounted && name === "count" ? number : `{${name}}`]);
    return String(compileMessage(text, language).format(Object.fromEntries(values)));
  });
  return [...new Set(readings)];
}

function count(text: string, mark: string): number {
  return text.split(mark).length - 1;
}
