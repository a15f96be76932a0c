/** The playground: the fields of a consent, its JSON, and the real consent screens beside it. */
import { raw } from "hono/html";
import type { JSX } from "hono/jsx/jsx-runtime";
import { type Language, LANGUAGE_NAMES } from "../../pages/language.ts";
import { ConsentPage } from "../bank/consent_page.tsx";
import { merchant } from "../shop/catalogue.ts";
import { DeveloperPage, type PartAddresses, PLAYGROUND_PATH, SCRIPT_PATH } from "./frame.tsx";
import { tryPath } from "./operations.ts";
import {
  accountsAt,
  balanceOf,
  consentBody,
  consentOf,
  type Edited,
  FIELDS,
  type PlaygroundField,
} from "./playground.ts";

/** The screens, each in two widths. */
export const SCREENS = [
  { name: "platform", title: "The platform’s screen" },
  { name: "bank", title: "Bank B’s own screen" },
] as const;
const WIDTHS = [
  { name: "phone", title: "on a phone, 390 pixels" },
  { name: "desk", title: "on a desk, 1280 pixels" },
] as const;

export function PlaygroundPage(
  { addresses, edited }: { readonly addresses: PartAddresses; readonly edited: Edited },
): JSX.Element {
  return (
    <DeveloperPage
      title="Playground"
      lead="Edit a consent, and see what its customer sees: the real pages of the platform and of a bank that shows its own."
      addresses={addresses}
      script={SCRIPT_PATH}
    >
      <div class="playground">
        <form id="consent" method="get" action={PLAYGROUND_PATH}>
          {FIELDS.map((field) => <Field field={field} edited={edited} />)}
          <p class="actions">
            <button type="submit">Show</button> <a href={PLAYGROUND_PATH}>Start again</a>
          </p>
        </form>
        <div class="all">
          {SCREENS.map(({ name, title }) => <Screens name={name} title={title} query={queryOf(edited)} />)}
        </div>
        <Json edited={edited} />
      </div>
    </DeveloperPage>
  );
}

/** The bank's screen, for an edited consent. */
export function BankScreen({ edited }: { readonly edited: Edited }): JSX.Element {
  return (
    <ConsentPage
      reader={{ language: edited.language }}
      profile={{ displayName: "Bank B" }}
      session={{
        handover: { tppName: merchant.name },
        consent: consentOf(edited.values),
        csrf: "",
        complaint: undefined,
      }}
      accounts={accountsAt("BANKB")}
      balances={{ of: balanceOf }}
    />
  );
}

/** The query of an address with these values. */
export function queryOf({ values }: Edited, language?: Language): string {
  return new URLSearchParams({ ...values, ...(language === undefined ? {} : { lang: language }) }).toString();
}

/** The page that sends the edited consent to the platform. */
export function createLink(edited: Edited): string {
  const body = JSON.stringify(consentBody(edited), null, 2);
  return `${tryPath("BANKA", "createDomesticPaymentConsent")}?${new URLSearchParams({ new: "", body })}`;
}

function Field({ field, edited }: { readonly field: PlaygroundField; readonly edited: Edited }): JSX.Element {
  const { name, label, member, options, max } = field;
  const fault = edited.faults.get(name);
  const value = edited.values[name] ?? "";
  const described = fault === undefined ? {} : { "aria-describedby": `${name}-fault`, "aria-invalid": true };
  return (
    <div class="field">
      <label for={name}>
        {label} {member === undefined ? null : <code>{member}</code>}
      </label>
      {options === undefined
        ? <input id={name} name={name} value={value} maxlength={max} autocomplete="off" {...described} />
        : (
          <select id={name} name={name}>
            {options.map((one) => (
              <option value={one} selected={one === value}>
                {name === "lang" ? LANGUAGE_NAMES[one as Language] : one}
              </option>
            ))}
          </select>
        )}
      {fault === undefined ? null : <p class="fault" id={`${name}-fault`}>Expected {fault}.</p>}
    </div>
  );
}

function Json({ edited }: { readonly edited: Edited }): JSX.Element {
  const json = JSON.stringify(consentBody(edited), null, 2);
  return (
    <div id="json">
      <h2>The consent, to copy</h2>
      <figure class="code">
        <figcaption>Body of POST /BANKA/domestic-payment-consents/v1</figcaption>
        <pre tabindex={0} role="group" aria-label="Body of the consent">
          {raw(json.replaceAll("&", "&amp;").replaceAll("<", "&lt;"))}
        </pre>
      </figure>
      <p>
        <a href={createLink(edited)}>Create this consent</a>
      </p>
    </div>
  );
}

function Screens(
  { name, title, query }: { readonly name: string; readonly title: string; readonly query: string },
): JSX.Element {
  const path = `${PLAYGROUND_PATH}/${name}`;
  return (
    <section aria-labelledby={name}>
      <h2 id={name}>{title}</h2>
      <div class="screens">
        {WIDTHS.map((width) => {
          const what = `${title} ${width.title}`;
          return (
            <figure class={`screen ${width.name} scroll`} role="group" tabindex={0} aria-label={what}>
              <iframe title={what} src={`${path}?${query}`} data-screen={path} loading="lazy"></iframe>
            </figure>
          );
        })}
      </div>
    </section>
  );
}
