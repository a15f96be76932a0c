/** The page that lists the operations to try, and chooses the TPP that signs. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { DeveloperPage, type PartAddresses } from "./frame.tsx";
import { OPERATIONS, TRY_PATH, tryPath } from "./operations.ts";
import { Field } from "./try_page.tsx";
import type { Walk } from "./walk.ts";

/** The operations, with what the developer has at each bank. */
export function TryIndex(
  { addresses, walks, ...signing }: {
    readonly addresses: PartAddresses;
    readonly walks: readonly (readonly [bank: string, walk: Walk])[];
  } & SignerView,
): JSX.Element {
  return (
    <DeveloperPage
      title="Try it"
      lead="Send each request of a payment to this sandbox. The sandbox signs for its shop, or for a TPP of yours. At the bank, sign in as alice with the password sandbox and the code 123456."
      addresses={addresses}
    >
      <Signer {...signing} />
      <div class="exchange">
        {walks.map(([bank, walk]) => (
          <section class="card" aria-labelledby={bank}>
            <h2 id={bank}>At {bank}</h2>
            <Have walk={walk} />
            <ol class="operations">
              {OPERATIONS.map(({ id, title, method, path }) => (
                <li>
                  <a href={tryPath(bank, id)}>{title}</a> <span class="method">{method}</span>{" "}
                  <code>{path}</code>
                </li>
              ))}
            </ol>
          </section>
        ))}
      </div>
    </DeveloperPage>
  );
}

interface SignerView {
  readonly signer: string;
  /** The names to choose from. */
  readonly signers: readonly string[];
  readonly csrf: string;
}

/** The TPP that signs: chosen, or made with new keys. */
function Signer({ signer, signers, csrf }: SignerView): JSX.Element {
  return (
    <details class="card signer">
      <summary>Signs for {signer}. Change it, or make a TPP of your own</summary>
      <p>
        A TPP of yours is in the list if its folder is in the sandbox’s <code>participants</code>, where{" "}
        <code>participant onboard</code> writes it.
      </p>
      <div class="exchange">
        <form method="post" action={TRY_PATH}>
          <input type="hidden" name="csrf" value={csrf} />
          <div class="field">
            <label for="chosen">TPP</label>
            <select id="chosen" name="name">
              {signers.map((name) => <option value={name} selected={name === signer}>{name}</option>)}
            </select>
          </div>
          <button type="submit">Sign for it</button>
        </form>
        <form method="post" action={TRY_PATH}>
          <input type="hidden" name="csrf" value={csrf} />
          <Field name="name" label="Name of a new TPP" value="" />
          <button type="submit" name="make" value="yes">Make it, with new keys</button>
        </form>
      </div>
    </details>
  );
}

/** Consent, payment and authorization of the walk. */
function Have({ walk: { consent, paymentId, tokens } }: { readonly walk: Walk }): JSX.Element | null {
  const facts = [
    ["Tokens", [...tokens.keys()].join(", ")],
    ["Consent", consent?.id ?? ""],
    ["Payment", paymentId ?? ""],
  ].filter(([, value]) => value !== "");
  if (facts.length === 0) return null;
  return (
    <dl class="facts">
      {facts.map(([term, value]) => (
        <div>
          <dt>{term}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
