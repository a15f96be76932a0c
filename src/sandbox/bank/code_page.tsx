/** The second page of a visit: the payment that the one-time code authorises, and the code (dynamic linking). */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { BankProfile } from "./bank_profile.ts";
import { SANDBOX_CODE } from "./customers.ts";
import { Complaint, PageFrame, VisitFields } from "./page_frame.tsx";
import { PaymentSummary } from "./payment_summary.tsx";
import type { ScaSession } from "./sessions.ts";
import { TextField } from "./text_field.tsx";

/** Page at step `code`. */
export function CodePage(
  { profile, session }: { readonly profile: BankProfile; readonly session: ScaSession },
): JSX.Element {
  const { handover, consent, csrf, message } = session;
  const isLastPage = handover.debtorAccountPresent;
  return (
    <PageFrame
      owner={profile.displayName}
      title={isLastPage ? "Authorise the payment" : "Confirm that it is you"}
    >
      <PaymentSummary tppName={handover.tppName} consent={consent} />
      {isLastPage ? null : <p>You choose the account to pay from on the next page.</p>}
      <form id="otp" method="post">
        <VisitFields csrf={csrf} step="code" />
        <Complaint id="code-complaint" message={message} />
        <TextField
          name="code"
          label="One-time code"
          inputmode="numeric"
          autocomplete="one-time-code"
          maxlength={12}
          describedBy={message === undefined ? "code-hint" : "code-complaint code-hint"}
        />
        <p id="code-hint" class="hint">
          In the sandbox the code is always <kbd>{SANDBOX_CODE}</kbd>
        </p>
        <div class="actions">
          <button type="submit" name="decision" value="confirm">
            {isLastPage ? "Authorise" : "Confirm"}
          </button>
          <button type="submit" name="decision" value="refuse" class="quiet" formnovalidate>Refuse</button>
        </div>
      </form>
    </PageFrame>
  );
}
