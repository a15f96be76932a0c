/** Documents as HTML: anchors, captions, links, and nothing of a document that a browser would run. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { readMarkdown } from "../../src/portal/markdown.ts";

const known = (href: string): string | undefined => href === "other.md" ? "/docs/other" : undefined;
const bodyOf = (text: string): string => readMarkdown(`# Title\n\nLead.\n\n${text}`, known).body();

Deno.test("a document's HTML is shown as text, but for its anchors [W4]", () => {
  for (
    const html of [
      "<script>alert(1)</script>",
      "a <img src=x onerror=alert(1)> b",
      "<a href='javascript:x'>x</a>",
    ]
  ) {
    assertEquals(/<(script|img|a )/.exec(bodyOf(html))?.[0], undefined, html);
  }
  assertEquals(
    bodyOf('- <a id="ab1"></a>**AB1** Rule.').includes('<span id="ab1"></span><strong>AB1</strong>'),
    true,
  );
});

Deno.test("a link to what the portal does not serve is text, and no link runs a script", () => {
  assertStringIncludes(bodyOf("[a](other.md)"), '<a href="/docs/other">a</a>');
  for (const link of ["[a](../src/x.ts)", "[a](javascript:alert(1))", "![a](https://example.com/a.png)"]) {
    assertEquals(bodyOf(link), "<p>a</p>\n", link);
  }
});

Deno.test("headings have GitHub's anchors or their own, and each once", () => {
  const { title, sections, lead } = readMarkdown(
    '# Title\n\nLead `x`.\n\n## A, b & C\n\nText.\n\n### Rules\n\n## <a id="d1"></a>D1: Named\n\n### Rules\n',
    known,
  );
  assertEquals([title, lead()], ["Title", "Lead <code>x</code>."]);
  assertEquals(sections.map(({ id, title }) => [id, title]), [
    ["title", "Title"],
    ["a-b--c", "A, b & C"],
    ["rules", "A, b & C: Rules"],
    ["d1", "D1: Named"],
    ["rules-1", "D1: Named: Rules"],
  ]);
});

Deno.test("a code block has its caption, its words coloured, and no markup of its own", () => {
  const html = bodyOf("```sh Look <here>\ncurl 'a' \"<b>\" # c\n```");
  assertStringIncludes(html, "<figcaption>Look &lt;here&gt;</figcaption>");
  assertStringIncludes(html, '<span class="hljs-comment"># c</span>');
  assertEquals(html.includes("<b>"), false);
  assertStringIncludes(bodyOf("```unknown\n<b>\n```"), "<code>&lt;b&gt;</code>");
});

Deno.test("a list of links to the page's own headings is left out, because the portal shows one", () => {
  assertEquals(bodyOf("- [a](#a)\n- [b](#b)\n\nText."), "<p>Text.</p>\n");
  assertStringIncludes(bodyOf("- [a](#a)\n- more"), "<li>");
});
