/**
 * The second page of a visit: shows the payment and asks for the one-time code that authorises it (dynamic linking).
 */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { Language } from "../../pages/language.ts";
import { SANDBOX_CODE } from "./customers.ts";
import type { VisitPageProps } from "./login_page.tsx";
import { Complaint, DecisionButtons, PageFrame, VisitFields } from "./page_frame.tsx";
import { phrase, words } from "./page_phrase.ts";
import { PaymentSummary } from "./payment_summary.tsx";
import { tryOf } from "./sessions.ts";
import { TextField } from "./text_field.tsx";

/** Page at step `code`. */
export function CodePage({ reader, profile, session }: VisitPageProps): JSX.Element {
  const { handover, consent, complaint } = session;
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
      {session.app === undefined ? null : (
        <p>
          <strong>{phrase(language, "app.began")}</strong>
        </p>
      )}
      {isLastPage ? null : <p>{phrase(language, "code.accountNext")}</p>}
      <CodeForm reader={reader} profile={profile} session={session} />
    </PageFrame>
  );
}

function CodeForm({ reader: { language }, profile, session }: VisitPageProps): JSX.Element {
  const { handover: { debtorAccountPresent: isLastPage }, csrf, complaint } = session;
  return (
    <form id="otp" method="post">
      <VisitFields csrf={csrf} step={tryOf(session)} />
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
      <DecisionButtons
        language={language}
        decision="confirm"
        label={isLastPage ? "code.authorise" : "code.confirm"}
        reject="code.refuse"
      />
      {profile.hasApp && session.app === undefined ? <AppChoice language={language} /> : null}
    </form>
  );
}

/** The customer confirms on another device instead. */
function AppChoice({ language }: { readonly language: Language }): JSX.Element {
  return (
    <div class="actions">
      <button type="submit" name="decision" value="app" class="quiet" formnovalidate>
        {phrase(language, "app.use")}
      </button>
    </div>
  );
}
