import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { renderErrorPage } from "../../src/pages/error_page.tsx";
import { LANGUAGES } from "../../src/pages/language.ts";
import { CATALOGUES } from "../../src/pages/phrase.ts";
import { ERROR_PAGES, errorView, SITE } from "support/ui_samples.ts";

for (const language of LANGUAGES) {
  Deno.test(`renderErrorPage in ${language} says what happened, whether money moved and what to do`, () => {
    const words = CATALOGUES[language];
    for (const page of ERROR_PAGES) {
      const view = errorView(page, { site: { ...SITE, sandbox: false } });
      const html = renderErrorPage(view, language);
      const isOnceDecided = ["finished", "accepted", "link_unusable"].includes(page);
      const money = isOnceDecided ? "error.nothingAgain" : "error.noMoney";
      for (
        const shown of [
          `<title>${words[`error.${page}.title`]}</title>`,
          `<h1>${words[`error.${page}.title`]}</h1>`,
          words[`error.${page}.happened`],
          words[money],
          words[`error.${page}.todo`],
          view.interactionId,
        ]
      ) assertStringIncludes(html, shown);
      assert(!/<script|\sstyle=|\{\w+\}|class="sandbox"|class="button"/.test(html));
      assert(
        html.startsWith(
          `<!DOCTYPE html><html lang="${language}" dir="${language === "ar" ? "rtl" : "ltr"}">`,
        ),
      );
    }
  });
}

Deno.test("renderErrorPage escapes what it is given and marks the sandbox", () => {
  const html = renderErrorPage(
    errorView("not_found", { interactionId: "<b>", nextUrl: 'https://x.example/?a=1&b="><b>' }),
    "en",
  );
  assertStringIncludes(html, "&lt;b&gt;");
  assertStringIncludes(
    html,
    'href="https://x.example/?a=1&amp;b=&quot;&gt;&lt;b&gt;"><span>Back to the shop or app</span></a>',
  );
  assertStringIncludes(html, 'class="sandbox"');
});

Deno.test("renderErrorPage leads to itself in every language and marks the one it is in", () => {
  const html = renderErrorPage(errorView("finished"), "es");
  const links = [...html.matchAll(/<a href="([^"]*)" lang="(\w+)"[^>]*?(?: aria-current="(\w+)")?>/g)];
  assertEquals(links.map(([, href, lang, current]) => [href, lang, current]), [
    ["/error-finished?lang=en", "en", undefined],
    ["/error-finished?lang=es", "es", "true"],
    ["/error-finished?lang=fr", "fr", undefined],
    ["/error-finished?lang=ar", "ar", undefined],
  ]);
});
