import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { renderErrorPage } from "../../src/ui/error_page.tsx";
import { LANGUAGES } from "../../src/ui/language.ts";
import { CATALOGUES } from "../../src/ui/phrase.ts";
import { ERROR_PAGES } from "../support/ui_samples.ts";

const interactionId = "5f0c7a52-7f65-4f0e-9c0b-1c7f4b0a9a11";

for (const language of LANGUAGES) {
  Deno.test(`renderErrorPage in ${language} says what happened, whether money moved and what to do`, () => {
    const words = CATALOGUES[language];
    for (const page of ERROR_PAGES) {
      const html = renderErrorPage({ page, interactionId, sandbox: false }, language);
      const money = page === "finished" || page === "link_unusable" ? "error.nothingAgain" : "error.noMoney";
      for (
        const shown of [
          words[`error.${page}.title`],
          words[`error.${page}.happened`],
          words[money],
          words[`error.${page}.todo`],
          interactionId,
        ]
      ) assertStringIncludes(html, shown);
      assert(!/<script|\sstyle=|\{\w+\}|class="sandbox"/.test(html));
      assertEquals(html.match(/<h1/g)?.length, LANGUAGES.length); // one is shown, the others by the language switch
      assert(
        html.indexOf(words[`error.${page}.title`]) < html.indexOf('class="card explanation translation"'),
      );
    }
  });
}

Deno.test("renderErrorPage escapes the interaction id and marks the sandbox", () => {
  const html = renderErrorPage({ page: "not_found", interactionId: "<b>", sandbox: true }, "en");
  assertStringIncludes(html, "&lt;b&gt;");
  assertStringIncludes(html, 'class="sandbox"');
});
