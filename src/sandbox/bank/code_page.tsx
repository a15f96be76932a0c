/**
 * The second page of a visit: shows the payment and asks for the one-time code that authorises it (dynamic linking).
 */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { Language } from "../../pages/language.ts";
import { SANDBOX_CODE } from "./customers.ts";
import type { VisitPageProps } from "./login_page.tsx";
import { Complaint, PageFrame, VisitFields } from "./page_frame.tsx";
import { phrase, words } from "./page_phrase.ts";
import { PaymentSummary } from "./payment_summary.tsx";
import { TextField } from "./text_field.tsx";

/** Page at step `code`. */
export function CodePage({ reader, profile, session }: VisitPageProps): JSX.Element {
  const { handover, consent, csrf, complaint } = session;
  const { language } = reader;
  const isLastPage = handover.debtorAccountPresent;
  const title = words(language, isLastPage ? "code.authoriseTitle" : "code.confirmTitle");
  return (
    <PageFrame
      reader={reader}
      owner={profile.displayName}
      title={title}
      isFaulty={complaint !== undefined}
    >
      <PaymentSummary language={language} tppName={handover.tppName} consent={consent} />
      {isLastPage ? null : <p>{phrase(language, "code.accountNext")}</p>}
      <form id="otp" method="post">
        <VisitFields csrf={csrf} step="code" />
        <Complaint id="code-complaint" language={language} complaint={complaint} />
        <p id="code-hint" class="hint">
          {phrase(language, "code.hint", { code: <kbd dir="ltr">{SANDBOX_CODE}</kbd> })}
        </p>
        <TextField
          name="code"
          label={words(language, "code.label")}
          inputmode="numeric"
          autocomplete="one-time-code"
          maxlength={12}
          describedBy={complaint === undefined ? "code-hint" : "code-complaint code-hint"}
          wrong={complaint !== undefined}
          focused={complaint !== undefined}
        />
        <Decisions language={language} isLastPage={isLastPage} />
      </form>
    </PageFrame>
  );
}

function Decisions(
  { language, isLastPage }: { readonly language: Language; readonly isLastPage: boolean },
): JSX.Element {
  return (
    <div class="actions">
      <button type="submit" name="decision" value="confirm">
        {phrase(language, isLastPage ? "code.authorise" : "code.confirm")}
      </button>
      <button type="submit" name="decision" value="refuse" class="quiet" formnovalidate>
        {phrase(language, "code.refuse")}
      </button>
    </div>
  );
}
