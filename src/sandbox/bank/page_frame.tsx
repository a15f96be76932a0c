/** The frame around every page of the banks: language, title, style sheet, bank's name, "Sandbox" marking. */
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import { LanguageSwitch } from "../pages/language_switch.tsx";
import { directionOf, type Language } from "../../pages/language.ts";
import type { Reader } from "../pages/reader.ts";
import { phrase, words } from "./page_phrase.ts";
import type { EntryComplaint } from "./sessions.ts";

/** Frame of one page. */
export interface FrameProps {
  readonly reader: Reader;
  /** The bank's name, or the server's name on pages that belong to no bank. */
  readonly owner: string;
  readonly title: string;
  /** The last entry had an error. The title, which screen readers read first, states it. */
  readonly isFaulty?: boolean;
  readonly children?: Child;
}

/** A whole HTML document. */
export function PageFrame({ reader, owner, title, isFaulty, children }: FrameProps): JSX.Element {
  const { language } = reader;
  const announced = isFaulty === true ? words(language, "frame.error", { title }) : title;
  return (
    <html lang={language} dir={directionOf(language)}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        {/* Phones would turn account numbers into links. */}
        <meta name="format-detection" content="telephone=no" />
        <meta name="robots" content="noindex" />
        <title>{`${announced} - ${owner}`}</title>
        <link rel="stylesheet" href="/assets/bank.css" />
        <link rel="icon" type="image/svg+xml" href="/logo.svg" />
      </head>
      <body>
        <a class="skip" href="#main">{phrase(language, "frame.skip")}</a>
        <header class="bar">
          <p class="brand">
            <bdi>{owner}</bdi>
          </p>
          <p class="badge">{phrase(language, "frame.sandbox")}</p>
          <LanguageSwitch reader={reader} label={words(language, "frame.language")} />
        </header>
        <main id="main" tabindex={-1}>
          <h1>{title}</h1>
          {children}
        </main>
        <footer>
          <p>{phrase(language, "frame.notReal")}</p>
        </footer>
      </body>
    </html>
  );
}

/** The complaint about the last entry. Screen readers announce it immediately. */
export function Complaint(
  { id, language, complaint }: {
    readonly id: string;
    readonly language: Language;
    readonly complaint: EntryComplaint | undefined;
  },
): JSX.Element | null {
  if (complaint === undefined) return null;
  const { says, triesLeft } = complaint;
  return (
    <p id={id} class="complaint" role="alert">
      {phrase(language, `complaint.${says}`)}{" "}
      {triesLeft === undefined ? null : phrase(language, "complaint.triesLeft", { count: triesLeft })}
    </p>
  );
}

/** Fields that tie a form to its visit. */
export function VisitFields({ csrf, step }: { readonly csrf: string; readonly step: string }): JSX.Element {
  return (
    <>
      <input type="hidden" name="csrf" value={csrf} />
      <input type="hidden" name="step" value={step} />
    </>
  );
}
