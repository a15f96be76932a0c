/** The first page of a visit: user name and password. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { BankProfile } from "./bank_profile.ts";
import { SANDBOX_PASSWORD } from "./customers.ts";
import { Complaint, PageFrame, VisitFields } from "./page_frame.tsx";
import type { ScaSession } from "./sessions.ts";
import { TextField } from "./text_field.tsx";

/** Page at step `login`. */
export function LoginPage(
  { profile, session }: { readonly profile: BankProfile; readonly session: ScaSession },
): JSX.Element {
  const { handover, csrf, message } = session;
  const describedBy = message === undefined ? "login-hint" : "login-complaint login-hint";
  return (
    <PageFrame owner={profile.displayName} title="Sign in">
      <p>
        <strong>{handover.tppName}</strong>{" "}
        asks for a payment from your account. Sign in to see and authorise it.
      </p>
      <form id="login" method="post">
        <VisitFields csrf={csrf} step="login" />
        <Complaint id="login-complaint" message={message} />
        <TextField
          name="username"
          label="User name"
          autocomplete="username"
          maxlength={64}
          describedBy={describedBy}
        />
        <TextField
          name="password"
          label="Password"
          type="password"
          autocomplete="current-password"
          maxlength={128}
          describedBy={describedBy}
        />
        <p id="login-hint" class="hint">
          Sandbox customer: <kbd>alice</kbd>, password <kbd>{SANDBOX_PASSWORD}</kbd>
        </p>
        <div class="actions">
          <button type="submit" name="decision" value="continue">Continue</button>
          <button type="submit" name="decision" value="refuse" class="quiet" formnovalidate>Cancel</button>
        </div>
      </form>
    </PageFrame>
  );
}
