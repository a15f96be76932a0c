/** The style sheet and the icon of every console. */
import { answerDocument, documentStore, PUBLIC_CACHE } from "../base/http/public_document.ts";
import type { Context } from "hono";
import { FONT_CACHE, FONT_TYPE, fontFiles } from "../pages/fonts.ts";
import { ICON, PAGE_STYLES, PLOT_STYLE } from "../pages/stylesheet.ts";
import console from "./console.css" with { type: "text" };
import { ICON_PATH, STYLE_PATH } from "./paths.ts";

/** `text/css`, for pages with the console's parts. */
export const CONSOLE_STYLE = [...PAGE_STYLES, PLOT_STYLE, console].join("\n");

const ASSETS = [
  [STYLE_PATH, "text/css; charset=utf-8", CONSOLE_STYLE, PUBLIC_CACHE],
  [ICON_PATH, "image/svg+xml", ICON, PUBLIC_CACHE],
  ...fontFiles(STYLE_PATH).map(([path, bytes]) => [path, FONT_TYPE, bytes, FONT_CACHE] as const),
] as const;

/** The files that pages load: their paths, and what answers there. */
export function consoleAssets(): readonly (readonly [
  path: string,
  answer: (c: Context) => Promise<Response>,
])[] {
  const document = documentStore();
  return ASSETS.map(([path, type, content, cache]) => [
    path,
    async (c) => answerDocument(c as never, await document(path, type, () => content), cache),
  ]);
}
