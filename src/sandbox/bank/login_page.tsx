/** The first page of a visit: user name and password. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { Language } from "../../pages/language.ts";
import type { Reader } from "../pages/reader.ts";
import type { BankProfile } from "./bank_profile.ts";
import { SANDBOX_PASSWORD } from "./customers.ts";
import { Complaint, DecisionButtons, PageFrame, VisitFields } from "./page_frame.tsx";
import { phrase, words } from "./page_phrase.ts";
import { type ScaSession, tryOf } from "./sessions.ts";
import { TextField } from "./text_field.tsx";

export interface VisitPageProps {
  readonly reader: Reader;
  readonly profile: BankProfile;
  readonly session: ScaSession;
}

/** Page at step `login`. */
export function LoginPage({ reader, profile, session }: VisitPageProps): JSX.Element {
  const { handover, csrf, complaint } = session;
  const { language } = reader;
  return (
    <PageFrame
      reader={reader}
      owner={profile.displayName}
      title={words(language, "login.title")}
      isFaulty={complaint !== undefined}
    >
      <p>
        {phrase(language, "login.asks", {
          tpp: (
            <strong>
              <bdi>{handover.tppName}</bdi>
            </strong>
          ),
        })}
      </p>
      <form id="login" method="post">
        <VisitFields csrf={csrf} step={tryOf(session)} />
        <Complaint id="login-complaint" language={language} complaint={complaint} />
        <p id="login-hint" class="hint">
          {phrase(language, "login.hint", {
            username: <kbd dir="ltr">alice</kbd>,
            password: <kbd dir="ltr">{SANDBOX_PASSWORD}</kbd>,
          })}
        </p>
        <Credentials language={language} complaint={complaint} />
        <DecisionButtons
          language={language}
          decision="continue"
          label="login.continue"
          reject="login.cancel"
        />
      </form>
    </PageFrame>
  );
}

function Credentials(
  { language, complaint }: { readonly language: Language; readonly complaint: ScaSession["complaint"] },
): JSX.Element {
  const field = {
    describedBy: complaint === undefined ? "login-hint" : "login-complaint login-hint",
    wrong: complaint !== undefined,
  };
  const username = complaint?.username ?? "";
  const goesOnAt = complaint === undefined ? undefined : username === "" ? "username" : "password";
  return (
    <>
      <TextField
        name="username"
        label={words(language, "login.username")}
        autocomplete="username"
        maxlength={64}
        focused={goesOnAt === "username"}
        {...(username === "" ? {} : { value: username })}
        {...field}
      />
      <TextField
        name="password"
        label={words(language, "login.password")}
        type="password"
        autocomplete="current-password"
        maxlength={128}
        focused={goesOnAt === "password"}
        {...field}
      />
    </>
  );
}
