/** Pages outside a visit: the server's list of banks, a bank's own page, and the page of what went wrong. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { BankProfile } from "./bank_profile.ts";
import { type Customer, SANDBOX_CODE, SANDBOX_PASSWORD } from "./customers.ts";
import { FAULTS } from "./faults.ts";
import type { Balances } from "./ledger.ts";
import { PageFrame } from "./page_frame.tsx";
import { amountText, groupedIban } from "./payment_summary.tsx";

/** The banks of this server. */
export function BankListPage({ profiles }: { readonly profiles: readonly BankProfile[] }): JSX.Element {
  return (
    <PageFrame owner="Sandbox banks" title="Banks">
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

/** What a bank is, who banks there and what they own. */
export function BankHomePage(
  { profile, customers, balances }: {
    readonly profile: BankProfile;
    readonly customers: readonly Customer[];
    readonly balances: Balances;
  },
): JSX.Element {
  const screen = profile.consentScreen === "bank"
    ? "This bank shows its own consent screen."
    : "This bank leaves the consent screen to the platform.";
  return (
    <PageFrame owner={profile.displayName} title={`About ${profile.displayName}`}>
      <p>
        A bank of the sandbox, known to the platform as <strong>{profile.code}</strong>. {screen}
      </p>
      <p>
        Customers arrive here from a shop, by way of the platform. Every password is{" "}
        <kbd>{SANDBOX_PASSWORD}</kbd> and every one-time code is <kbd>{SANDBOX_CODE}</kbd>.
      </p>
      {customers.map((customer) => (
        <CustomerSection key={customer.id} customer={customer} balances={balances} />
      ))}
      <FaultSection code={profile.code} />
      <p>
        <a href={`/${profile.code}/ledger`}>Executed payment orders and balances (JSON)</a>
      </p>
    </PageFrame>
  );
}

/** Something went wrong, in words for the customer; the reason is in the log only. */
export function ProblemPage(
  { owner, title, message }: { readonly owner: string; readonly title: string; readonly message: string },
): JSX.Element {
  return (
    <PageFrame owner={owner} title={title}>
      <p>{message}</p>
    </PageFrame>
  );
}

function CustomerSection(
  { customer, balances }: { readonly key: string; readonly customer: Customer; readonly balances: Balances },
): JSX.Element {
  const headingId = `customer-${customer.username}`;
  return (
    <section aria-labelledby={headingId} class="summary">
      <h2 id={headingId}>{customer.name}</h2>
      <p>
        User name <kbd>{customer.username}</kbd>
      </p>
      <dl>
        {customer.accounts.map((account) => (
          <div>
            <dt>{account.label}</dt>
            <dd>
              <p class="number">{groupedIban(account.identification)}</p>
              <p>{amountText(balances.of(account), account.currency)}</p>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function FaultSection({ code }: { readonly code: string }): JSX.Element {
  return (
    <section aria-labelledby="faults" class="summary">
      <h2 id="faults">When it goes wrong</h2>
      <p>
        A payment over one of these amounts makes this bank go wrong, every time. For any other payment, POST
        {" "}
        <code>{'{"fault": "…", "times": 1}'}</code> as JSON to <code>{`/${code}/faults`}</code>.
      </p>
      <dl>
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
