/** Pages outside a visit: the server's list of banks, a bank's own page, and the error page. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { formatMoney } from "../../pages/formats.ts";
import type { Language } from "../../pages/language.ts";
import type { Reader } from "../pages/reader.ts";
import { accountLabel } from "./account_label.ts";
import type { BankProfile } from "./bank_profile.ts";
import { type Customer, SANDBOX_CODE, SANDBOX_PASSWORD } from "./customers.ts";
import { FAULTS } from "./faults.ts";
import type { Balances } from "./ledger.ts";
import { PageFrame } from "./page_frame.tsx";
import { phrase, words } from "./page_phrase.ts";
import { AccountNumber } from "./payment_summary.tsx";

/** The kinds of problems that are shown to the customer. */
export type Problem = "not_found" | "unavailable" | "link" | "over" | "form";

/** The banks of this server. */
export function BankListPage(
  { reader, profiles }: { readonly reader: Reader; readonly profiles: readonly BankProfile[] },
): JSX.Element {
  const { language } = reader;
  return (
    <PageFrame reader={reader} owner={words(language, "frame.banks")} title={words(language, "list.title")}>
      <ul class="plain">
        {profiles.map(({ code, displayName }) => (
          <li>
            <a href={`/${code}`}>{displayName}</a> ({code})
          </li>
        ))}
      </ul>
    </PageFrame>
  );
}

/** A bank with its customers and their balances. */
export function BankHomePage(
  { reader, profile, customers, balances }: {
    readonly reader: Reader;
    readonly profile: BankProfile;
    readonly customers: readonly Customer[];
    readonly balances: Balances;
  },
): JSX.Element {
  const { language } = reader;
  const { code, displayName, consentScreen } = profile;
  return (
    <PageFrame
      reader={reader}
      owner={displayName}
      title={words(language, "home.title", { bank: displayName })}
    >
      <p>
        {phrase(language, "home.known", { code: <strong>{code}</strong> })}{" "}
        {phrase(language, consentScreen === "bank" ? "home.ownScreen" : "home.platformScreen")}
      </p>
      <p>
        {phrase(language, "home.secrets", {
          password: <kbd dir="ltr">{SANDBOX_PASSWORD}</kbd>,
          code: <kbd dir="ltr">{SANDBOX_CODE}</kbd>,
        })}
      </p>
      {customers.map((customer) => (
        <CustomerSection language={language} customer={customer} balances={balances} />
      ))}
      <FaultSection language={language} code={code} />
      <p>
        <a href={`/${code}/ledger`}>{phrase(language, "home.ledger")}</a>
      </p>
    </PageFrame>
  );
}

/** Explains a problem to the customer. The reason is only logged. */
export function ProblemPage(
  { reader, owner, problem }: {
    readonly reader: Reader;
    /** The bank's name; absent if the problem belongs to no bank. */
    readonly owner?: string;
    readonly problem: Problem;
  },
): JSX.Element {
  const { language } = reader;
  return (
    <PageFrame
      reader={reader}
      owner={owner ?? words(language, "frame.banks")}
      title={words(language, `problem.${problem}.title`)}
    >
      <p>{phrase(language, `problem.${problem}.text`)}</p>
      {problem === "not_found" && (
        <p>
          <a href="/">{phrase(language, "problem.toBanks")}</a>
        </p>
      )}
    </PageFrame>
  );
}

function CustomerSection(
  { language, customer, balances }: {
    readonly language: Language;
    readonly customer: Customer;
    readonly balances: Balances;
  },
): JSX.Element {
  const headingId = `customer-${customer.username}`;
  return (
    <section aria-labelledby={headingId} class="summary">
      <h2 id={headingId}>
        <bdi>{customer.name}</bdi>
      </h2>
      <p>{phrase(language, "home.username", { username: <kbd dir="ltr">{customer.username}</kbd> })}</p>
      <dl>
        {customer.accounts.map((account) => (
          <div>
            <dt>{accountLabel(language, account)}</dt>
            <dd>
              <p>
                <AccountNumber identification={account.identification} />
              </p>
              <p>
                <bdi>{formatMoney(language, balances.of(account), account.currency)}</bdi>
              </p>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function FaultSection(
  { language, code }: { readonly language: Language; readonly code: string },
): JSX.Element {
  return (
    <section aria-labelledby="faults" class="summary">
      <h2 id="faults">{phrase(language, "faults.title")}</h2>
      <p>
        {phrase(language, "faults.text", {
          body: <code dir="ltr" class="body">{'{"fault": "…", "times": 1}'}</code>,
          path: <code dir="ltr">{`/${code}/faults`}</code>,
        })}
      </p>
      <dl lang="en" dir="ltr" class="faults">
        {FAULTS.map(({ name, amount, what }) => (
          <div>
            <dt>{amount}</dt>
            <dd>
              <p>
                <code>{name}</code>: {what}
              </p>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
