/** Search by amount and days, on the page of searches. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { More, queryOf, Read } from "../../../console/parts.tsx";
import type { Visit } from "../../../console/visit.ts";
import { amountSchema } from "../search/routes.ts";
import { readNames } from "./names.ts";
import { phrase, type PlainKey } from "./phrase.ts";
import { Days } from "./reports_page.tsx";
import { Cases } from "./cases_table.tsx";

const PATH = "/console/search";
const FIELDS = ["amount", "currency", "from", "until", "bank", "after"] as const;

/** The fields that were sent. Empty ones are left out. */
export type AskedAmount = Readonly<Partial<Record<typeof FIELDS[number], string>>>;

export function askedAmount(query: Readonly<Record<string, string>>): AskedAmount {
  const sent = FIELDS.map((name) => [name, query[name]?.trim() ?? ""] as const);
  return Object.fromEntries(sent.filter(([, value]) => value !== ""));
}

/** The form, and what was found if it was sent. */
export async function AmountSearch(visit: Visit, asked: AskedAmount): Promise<JSX.Element> {
  const { language } = visit;
  return (
    <>
      <h2>{phrase(language, "amount.title")}</h2>
      <Days language={language} action={PATH} from={asked.from} until={asked.until} isFirstRequired>
        <Field
          visit={visit}
          name="amount"
          label="amount.amount"
          value={asked.amount}
          pattern="[0-9]+\.[0-9]{2}"
          isRequired
        />
        <Field
          visit={visit}
          name="currency"
          label="amount.currency"
          value={asked.currency}
          pattern="[A-Z]{3}"
        />
        <Field visit={visit} name="bank" label="amount.bank" value={asked.bank} />
      </Days>
      {asked.amount === undefined ? null : await results(visit, asked)}
    </>
  );
}

function Field(
  { visit, name, label, value, pattern, isRequired = false }: {
    readonly visit: Visit;
    readonly name: string;
    readonly label: PlainKey;
    readonly value: string | undefined;
    readonly pattern?: string;
    readonly isRequired?: boolean;
  },
): JSX.Element {
  return (
    <div class="field">
      <label for={name}>{phrase(visit.language, label)}</label>
      <input
        id={name}
        name={name}
        value={value}
        pattern={pattern}
        maxlength={32}
        dir="ltr"
        required={isRequired}
      />
    </div>
  );
}

async function results(visit: Visit, asked: AskedAmount): Promise<JSX.Element> {
  const { language } = visit;
  if (asked.from === undefined) {
    return <p class="notice" role="alert">{phrase(language, "amount.incomplete")}</p>;
  }
  const answer = await visit.read(`/operations/cases${queryOf(asked)}`, amountSchema);
  const names = await readNames(visit, answer.ok ? answer.value.Data.Case.map(({ Bank }) => Bank) : []);
  return (
    <Read visit={visit} answer={answer}>
      {({ Data: { Case: found, After } }) => (
        <>
          {found.length > 0
            ? <Cases visit={visit} found={found} names={names} />
            : (
              <p class="notice" role="status">
                {phrase(language, After === undefined ? "amount.none" : "amount.notYet")}
              </p>
            )}
          <More visit={visit} path={PATH} query={{ ...asked, after: After }} />
        </>
      )}
    </Read>
  );
}
