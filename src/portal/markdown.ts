/** Draws Markdown documents as HTML: headings that can be linked to, captioned and highlighted code, scrolling tables. */
import hljs from "highlight.js/lib/core";
import go from "highlight.js/lib/languages/go";
import bash from "highlight.js/lib/languages/bash";
import http from "highlight.js/lib/languages/http";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import python from "highlight.js/lib/languages/python";
import sql from "highlight.js/lib/languages/sql";
import { Lexer, Parser, Renderer, type Token, type Tokens } from "marked";

/** Java and C# stay plain: in colours the longest page of the reference would have 20 kB more. */
const LANGUAGES = { bash, go, http, javascript, json, python, sql } as const;
for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);
hljs.registerAliases(["ts", "typescript"], { languageName: "javascript" });

/** A part of a document under a heading. */
export interface MarkdownSection {
  /** Anchor of its heading, as GitHub makes it. */
  readonly id: string;
  /** Below level 2, after the title of its section of level 2. */
  readonly title: string;
  /** 1 for the part before the first heading of level 2. */
  readonly depth: number;
  /** What it says, without markup. */
  readonly text: string;
}

export interface MarkdownPage {
  readonly title: string;
  readonly sections: readonly MarkdownSection[];
  /** The first paragraph, as HTML. */
  lead(): string;
  /** What follows it, as HTML. */
  body(): string;
}

/** Where a link of a document leads; undefined if that is not served. */
export type Resolve = (href: string) => string | undefined;

/** Reads a document. HTML in it is shown as text, except the anchor `<a id="…"></a>`. */
export function readMarkdown(text: string, resolve: Resolve): MarkdownPage {
  const tokens = new Lexer({ gfm: true }).lex(text).filter(({ type }) => type !== "space");
  const ids = headingIds(tokens);
  const [title] = tokens.filter(({ type }) => type === "heading");
  const rest = tokens.slice(title === undefined ? 0 : 1);
  const [lead] = rest.filter(({ type }, place) => place === 0 && type === "paragraph");
  const draw = (drawn: readonly Token[]): string =>
    new Parser({ renderer: rendererOf(ids, resolve) }).parse(drawn.filter((token) => !isContents(token)));
  return {
    title: title === undefined ? "" : plain(title),
    sections: sectionsOf(tokens, ids),
    lead: () => lead === undefined ? "" : draw([lead]).replaceAll(/<\/?p>\n?/g, ""),
    body: () => draw(rest.slice(lead === undefined ? 0 : 1)),
  };
}

/** A list of links to the page's own headings. The portal shows one beside each page. */
function isContents(token: Token): boolean {
  return token.type === "list" &&
    (token as Tokens.List).items.every(({ text }) => /^\[[^\]]*\]\(#[^)]*\)$/.test(text.trim()));
}

type HeadingIds = ReadonlyMap<Token, string>;

/** The heading's own anchor, or GitHub's: lower case, no punctuation, hyphens for spaces, a number from the second use on. */
function headingIds(tokens: readonly Token[]): HeadingIds {
  const uses = new Map<string, number>();
  return new Map(
    tokens.filter(({ type }) => type === "heading").map((heading) => {
      const own = /<a id="([a-z0-9.-]+)">/.exec(heading.raw)?.[1];
      if (own !== undefined) return [heading, own];
      const name = plain(heading).toLowerCase().replaceAll(/[^\p{L}\p{N}_ -]/gu, "").replaceAll(" ", "-");
      const before = uses.get(name) ?? 0;
      uses.set(name, before + 1);
      return [heading, before === 0 ? name : `${name}-${before}`];
    }),
  );
}

function sectionsOf(tokens: readonly Token[], ids: HeadingIds): MarkdownSection[] {
  const sections: { id: string; title: string; depth: number; text: string }[] = [];
  let above = "";
  for (const token of tokens) {
    const id = ids.get(token);
    if (id !== undefined) {
      const { depth } = token as Tokens.Heading;
      if (depth < 3) above = plain(token);
      sections.push({ id, title: depth < 3 ? above : `${above}: ${plain(token)}`, depth, text: "" });
      continue;
    }
    const last = sections.at(-1);
    if (last !== undefined && !isContents(token)) last.text += `${plain(token)}\n`;
  }
  return sections;
}

/** The token's text without markup. */
function plain(token: Token): string {
  if (token.type === "html") return "";
  if (token.type === "code") return `${captionOf(token as Tokens.Code)} ${(token as Tokens.Code).text}`;
  if (token.type === "table") {
    const { header, rows } = token as Tokens.Table;
    return [header, ...rows].map((row) => row.map(cellText).join(" ")).join("\n");
  }
  if (token.type === "list") return (token as Tokens.List).items.map(plain).join("\n");
  if ("tokens" in token && token.tokens !== undefined) return token.tokens.map(plain).join("");
  return "text" in token && typeof token.text === "string" ? unescapeHtml(token.text) : "";
}

function cellText({ tokens }: Tokens.TableCell): string {
  return tokens.map(plain).join("");
}

function unescapeHtml(text: string): string {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}

/** What a code block is: the rest of its first line, after the language. */
function captionOf({ lang = "" }: Tokens.Code): string {
  return lang.replace(/^\S*\s*/, "");
}

/** Code with its words coloured by classes, on the server. */
export function codeBlock(code: string, language: string, caption = ""): string {
  const html = hljs.getLanguage(language) ? hljs.highlight(code, { language }).value : escapeHtml(code);
  return codeFigure(html, caption, `Code ${language}`.trim());
}

/** A box that scrolls must be reachable by keyboard (WCAG 2.1.1) and say what it is (4.1.2). */
export function codeFigure(html: string, caption: string, label = caption): string {
  const title = caption === "" ? "" : `<figcaption>${escapeHtml(caption)}</figcaption>`;
  return `<figure class="code">${title}<pre tabindex="0" role="group" aria-label="${
    escapeHtml(caption || label)
  }">` +
    `<code>${html}</code></pre></figure>\n`;
}

const NAMED: Readonly<Record<string, string>> = { "&": "amp", "<": "lt", ">": "gt", '"': "quot" };

/** Text as HTML. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (one) => `&${NAMED[one] ?? "#39"};`);
}

function rendererOf(ids: HeadingIds, resolve: Resolve): Renderer {
  const own: Partial<Renderer> & ThisType<Renderer> = {
    heading(token) {
      const id = escapeHtml(ids.get(token) ?? "");
      const label = escapeHtml(`Link to “${plain(token)}”`);
      const link = `<a class="anchor" href="#${id}" aria-label="${label}">#</a>`;
      const text = this.parser.parseInline(token.tokens.filter(({ type }) => type !== "html"));
      return `<h${token.depth} id="${id}">${text} ${link}</h${token.depth}>\n`;
    },
    code: (token) => codeBlock(token.text, /^\S*/.exec(token.lang ?? "")?.[0] ?? "", captionOf(token)),
    table(token) {
      const label = escapeHtml(`Table: ${token.header.map(cellText).join(", ")}`);
      const table = Renderer.prototype.table.call(this, token);
      return `<div class="scroll" role="group" tabindex="0" aria-label="${label}">${table}</div>\n`;
    },
    link({ href, tokens }) {
      const text = this.parser.parseInline(tokens);
      const target = resolve(href);
      return target === undefined ? text : `<a href="${escapeHtml(target)}">${text}</a>`;
    },
    image: ({ text }) => escapeHtml(text),
    html({ text }) {
      const [, id] = /^<a id="([a-z0-9.-]+)">(?:<\/a>)?\s*$/.exec(text) ?? [];
      if (id !== undefined) return `<span id="${id}"></span>`;
      return text === "</a>" ? "" : escapeHtml(text);
    },
  };
  return Object.assign(new Renderer(), own);
}
