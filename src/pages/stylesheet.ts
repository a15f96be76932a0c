/** The one stylesheet of the platform's pages and their icon, as text for the browser app to serve. */
import base from "./base.css" with { type: "text" };
import decision from "./decision.css" with { type: "text" };
import facts from "./facts.css" with { type: "text" };
import frame from "./frame.css" with { type: "text" };
import levels from "./levels.css" with { type: "text" };
import plot from "./plot.css" with { type: "text" };
import icon from "./platform.svg" with { type: "text" };
import { FONT_FACES } from "./fonts.ts";
import receipt from "./receipt.css" with { type: "text" };
import portal from "./portal.css" with { type: "text" };

/** Where the browser app serves {@link STYLESHEET}. */
export const STYLESHEET_PATH = "/assets/platform.css";
/** Where the browser app serves {@link ICON}. */
export const ICON_PATH = "/assets/platform.svg";

/** `image/svg+xml`. */
export const ICON = icon;

/** `text/css`, for every page with the platform's frame. Later files build on the names and elements of `frame.css`. */
export const PAGE_STYLES: readonly string[] = [FONT_FACES, base, frame, facts, decision];

/** `text/css`, for pages with plots. */
export const PLOT_STYLE: string = plot;

/** `text/css`. */
export const STYLESHEET = [...PAGE_STYLES, receipt, portal, PLOT_STYLE, levels].join("\n");
