/**
 * The HTML document of every page, of the platform and of the sandbox: language, direction, viewport, title, style
 * sheet, icon, and a link past the header. Contains no inline style.
 */
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import { firstFont, FONT_TYPE } from "./fonts.ts";
import { directionOf, type Language } from "./language.ts";

/** Values that a page passes to its document. */
export interface HtmlDocumentProps {
  readonly language: Language;
  readonly title: string;
  /** A sentence for search engines; by default the title. */
  readonly description?: string | undefined;
  readonly stylesheet: string;
  readonly icon: string;
  /** Whether the style sheet has our typefaces. They are beside it. */
  readonly hasFonts?: boolean;
  /** The words of the link that skips the header. */
  readonly skip: Child;
  /** Search engines may list the page. */
  readonly isIndexed?: boolean;
  /** Path of the page's script. */
  readonly script?: string | undefined;
  readonly bodyClass?: string;
  readonly header: Child;
  readonly footer: Child;
  /** The main part. */
  readonly children?: Child;
}

/** A whole page, from `<html>` on; {@link renderDocument} makes text of it. */
export function HtmlDocument(props: HtmlDocumentProps): JSX.Element {
  const { language, title, stylesheet, icon, skip, script, bodyClass, header, footer, children } = props;
  return (
    <html lang={language} dir={directionOf(language)}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        {/* Phones would turn account numbers into links. */}
        <meta name="format-detection" content="telephone=no" />
        {props.isIndexed === true ? null : <meta name="robots" content="noindex" />}
        <title>{title}</title>
        <meta name="description" content={props.description ?? title} />
        {props.hasFonts === true
          ? (
            <link
              rel="preload"
              as="font"
              type={FONT_TYPE}
              href={firstFont(language, stylesheet)}
              crossorigin="anonymous"
            />
          )
          : null}
        <link rel="stylesheet" href={stylesheet} />
        <link rel="icon" type="image/svg+xml" href={icon} />
        {script === undefined ? null : <script src={script} defer></script>}
      </head>
      <body {...(bodyClass === undefined ? {} : { class: bodyClass })}>
        <a class="skip" href="#main">{skip}</a>
        {header}
        <main id="main" tabindex={-1}>{children}</main>
        {footer}
      </body>
    </html>
  );
}

/** The document as text. Pages are rendered from plain data only, so no part is asynchronous. */
export function renderDocument(page: JSX.Element): string {
  return `<!DOCTYPE html>${page.toString()}`;
}
