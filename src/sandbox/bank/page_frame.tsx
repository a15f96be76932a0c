/** The frame around every page of the banks: language, title, style sheet, bank's name, "Sandbox" marking. */
import type { Context } from "hono";
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import { LanguageSwitch } from "../pages/language_switch.tsx";
import { HtmlDocument, renderDocument } from "../../pages/html_document.tsx";
import type { Language } from "../../pages/language.ts";
import type { Reader } from "../pages/reader.ts";
import { phrase, words } from "./page_phrase.ts";
import type { EntryComplaint } from "./sessions.ts";

/** Frame of one page. */
interface FrameProps {
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
    <HtmlDocument
      language={language}
      title={`${announced} - ${owner}`}
      stylesheet="/assets/bank.css"
      icon="/logo.svg"
      skip={phrase(language, "frame.skip")}
      header={<BankHeader reader={reader} owner={owner} />}
      footer={
        <footer>
          <p>{phrase(language, "frame.notReal")}</p>
        </footer>
      }
    >
      <h1>{title}</h1>
      {children}
    </HtmlDocument>
  );
}

function BankHeader({ reader, owner }: Pick<FrameProps, "reader" | "owner">): JSX.Element {
  const { language } = reader;
  return (
    <header class="bar">
      <p class="brand">
        <bdi>{owner}</bdi>
      </p>
      <p class="badge">{phrase(language, "frame.sandbox")}</p>
      <LanguageSwitch reader={reader} label={words(language, "frame.language")} />
    </header>
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

/** The button that completes the step, and the one that rejects the payment. Rejecting needs no complete form. */
export function DecisionButtons(
  { language, decision, label, reject }: {
    readonly language: Language;
    readonly decision: "accept" | "confirm" | "continue";
    readonly label: "code.authorise" | "code.confirm" | "login.continue";
    readonly reject: "code.refuse" | "login.cancel";
  },
): JSX.Element {
  return (
    <div class="actions">
      <button type="submit" name="decision" value={decision}>{phrase(language, label)}</button>
      <button type="submit" name="decision" value="refuse" class="quiet" formnovalidate>
        {phrase(language, reject)}
      </button>
    </div>
  );
}

/** The page with its document type; default status 200. */
export function renderPage(
  c: Context,
  page: JSX.Element,
  status: 200 | 400 | 403 | 404 | 410 | 413 | 503 = 200,
): Response | Promise<Response> {
  return c.html(renderDocument(page), status);
}
