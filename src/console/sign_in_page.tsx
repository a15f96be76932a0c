/** The page on which people sign in, and the one that leads on after a sign-in at the provider. */
import type { Context } from "hono";
import type { JSX } from "hono/jsx/jsx-runtime";
import type { Form } from "../base/http/body.ts";
import type { Language } from "../pages/language.ts";
import { renderFrame } from "./frame.tsx";
import { HOME_PATH, safeNext, SIGN_IN_PATH } from "./paths.ts";
import { phrase, words } from "./phrase.ts";
import type { ConsoleProgram } from "./program.ts";
import { languageOf } from "./visit.ts";

export type SignInFault = "token" | "often" | "rejected" | "unavailable";

export interface SignInView {
  readonly language: Language;
  readonly next: string;
  readonly formToken: string;
  readonly providerPath: string | undefined;
  readonly takesToken: boolean;
  readonly fault?: SignInFault;
}

export function renderSignIn(program: ConsoleProgram, view: SignInView): string {
  const { language, next, providerPath, fault } = view;
  const title = program.signIn(language);
  const address = `${SIGN_IN_PATH}?${new URLSearchParams({ next })}`;
  return renderFrame(
    program,
    { language, title, address },
    <article class="card sign-in">
      <h1>{title}</h1>
      {fault === undefined
        ? null
        : <p class="notice" role="alert" id="fault">{phrase(language, `signIn.fault.${fault}`)}</p>}
      {providerPath === undefined ? null : (
        <p>
          <a class="button" href={`${providerPath}?${new URLSearchParams({ next })}`}>
            <span>{phrase(language, "signIn.provider")}</span>
          </a>
        </p>
      )}
      {view.takesToken ? <TokenForm {...view} /> : null}
    </article>,
  );
}

function TokenForm({ language, next, formToken, fault }: SignInView): JSX.Element {
  return (
    <form method="post" action={SIGN_IN_PATH}>
      <input type="hidden" name="form_token" value={formToken} />
      <input type="hidden" name="next" value={next} />
      <div class="field">
        <label for="token">{phrase(language, "signIn.token")}</label>
        <input
          id="token"
          name="token"
          type="password"
          required
          maxlength={500}
          autocomplete="current-password"
          dir="ltr"
          {...(fault === "token" ? { "aria-invalid": "true", "aria-describedby": "fault" } : {})}
        />
      </div>
      <button type="submit" class="accept">{phrase(language, "signIn.submit")}</button>
    </form>
  );
}

export function renderContinue(
  program: ConsoleProgram,
  { language, next, title: key = "signIn.done" }: Pick<SignInView, "language" | "next"> & {
    readonly title?: "signIn.done" | "layout.signOut";
  },
): string {
  const title = words(language, key);
  return renderFrame(
    program,
    { language, title, address: safeNext(next) },
    <article class="card">
      <h1>{title}</h1>
      <p>
        <a class="button" href={next}>
          <span>{phrase(language, "signIn.continue")}</span>
        </a>
      </p>
    </article>,
  );
}

/**
 * The page for a form whose sender has to sign in first. It keeps what was typed, and the page of the form shows it
 * again.
 *
 * @param at where the sender signs in
 */
export function drawLate(
  program: ConsoleProgram,
  c: Context,
  { form, at }: { readonly form: Form; readonly at: string },
): string {
  const language = languageOf(c);
  const title = words(language, "late.title");
  return renderFrame(
    program,
    { language, title, address: HOME_PATH },
    <article class="card">
      <h1>{title}</h1>
      <p>{phrase(language, "late.todo")}</p>
      <form method="post" action={c.req.path}>
        {[...form].map(([name, value]) => <input type="hidden" name={name} value={value} />)}
        <div class="buttons">
          <a class="button" href={at} target="_blank" rel="noopener">
            <span>{phrase(language, "late.signIn")}</span>
          </a>
          <button type="submit" class="accept">{phrase(language, "late.goOn")}</button>
        </div>
      </form>
    </article>,
  );
}
