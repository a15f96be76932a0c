/** The console's style sheet: the one of the platform's pages, and its own rules. */
import { ICON, PAGE_STYLES, PLOT_STYLE } from "../../pages/stylesheet.ts";
import console from "./console.css" with { type: "text" };

export const STYLE_PATH = "/console/assets/console.css";
export const ICON_PATH = "/console/assets/console.svg";

/** Paths, media types and texts of the files that pages load. */
export const ASSETS: readonly (readonly [path: string, type: string, content: string])[] = [
  [STYLE_PATH, "text/css; charset=utf-8", [...PAGE_STYLES, PLOT_STYLE, console].join("\n")],
  [ICON_PATH, "image/svg+xml", ICON],
];
