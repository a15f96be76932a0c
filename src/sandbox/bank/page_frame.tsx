/** The frame around every page of the banks: language, title, style sheet, bank's name, "Sandbox" marking. */
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";

/** Frame of one page. */
export interface FrameProps {
  /** The bank's name, or the name of the server on pages of no bank. */
  readonly owner: string;
  readonly title: string;
  readonly children?: Child;
}

/** A whole HTML document. */
export function PageFrame({ owner, title, children }: FrameProps): JSX.Element {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>{`${title} - ${owner}`}</title>
        <link rel="stylesheet" href="/assets/bank.css" />
      </head>
      <body>
        <header class="bar">
          <p class="brand">{owner}</p>
          <p class="badge">Sandbox</p>
        </header>
        <main>
          <h1>{title}</h1>
          {children}
        </main>
        <footer>
          <p>This is a simulated bank. No real money moves.</p>
        </footer>
      </body>
    </html>
  );
}

/** What is wrong with the last entry; screen readers say it at once. */
export function Complaint(
  { id, message }: { readonly id: string; readonly message: string | undefined },
): JSX.Element | null {
  return message === undefined ? null : <p id={id} class="complaint" role="alert">{message}</p>;
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
