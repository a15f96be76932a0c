/** The parts of which the consoles' pages are made, with the names of their styles. For those who build pages. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { AccountNumber } from "../../../pages/account_number.tsx";
import { Fact } from "../../../pages/fact.tsx";
import { formatMoney } from "../../../pages/formats.ts";
import { Plot } from "../../../pages/plot.tsx";
import { ChangeForm, type FormView } from "../../../console/form.tsx";
import { type Badge, Instant, NamedTable, State } from "../../../console/parts.tsx";
import type { Visit } from "../../../console/visit.ts";
import { Card } from "./parts.tsx";

const BADGES: readonly (readonly [Badge, string])[] = [
  ["good", "Works"],
  ["neutral", "Nothing to do"],
  ["warn", "Slow"],
  ["bad", "Failing"],
];
const COLOURS = ["surface", "sunken", "accent-soft", "good", "warn", "bad"] as const;
const ACCOUNT = { schemeName: "UK.OBIE.IBAN", identification: "FR1420041010050500013M02606" };
const FORM: FormView = {
  title: "A change",
  effect: "The page of a change says what follows, and marks the field that was not accepted.",
  path: "/console/design",
  fields: [{ name: "reason", label: "Reason", hint: "Who reads it.", kind: "lines" }],
  submit: "Make the change",
  back: "/console",
  fault: "reason: must have at least 10 characters.",
};
const PLOTTED = [3, 5, 4, undefined, 0, 8, 6].map((value, day) => [`day ${day + 1}`, value] as const);

export function designPage(visit: Visit, now: number): JSX.Element {
  return (
    <>
      <div lang="en" dir="ltr" class="cards">
        <Card title="Type">
          <NamedTable
            name="Type"
            rows={scale()}
            columns={[["Element", ([name]) => name], ["Shown", ([, of]) => of]]}
          />
        </Card>
        <Card title="Colours">
          <ul class="swatches">{COLOURS.map((name) => <li class={`swatch ${name}`}>--{name}</li>)}</ul>
        </Card>
        <Card title="States">
          <p>{BADGES.map(([is, words]) => <State is={is} words={words} />)}</p>
        </Card>
        <Actions />
        <Facts visit={visit} now={now} />
        <Card title="Plot">
          <Plot title="A value by day" values={PLOTTED} least={5} format={String} />
        </Card>
      </div>
      <div lang="en" dir="ltr">
        <ChangeForm visit={visit} view={FORM} />
      </div>
    </>
  );
}

function Actions(): JSX.Element {
  return (
    <Card title="Actions">
      <div class="buttons">
        <button type="button" class="accept">Makes the change</button>
        <button type="button">Another way</button>
        <button type="button" class="quiet">Least</button>
      </div>
      <ul class="changes">
        <li>
          <a href="/console/design">Leads to a change</a>
        </li>
        <li>
          <a href="/console/design" class="danger">Stops something</a>
        </li>
      </ul>
    </Card>
  );
}

function Facts({ visit, now }: { readonly visit: Visit; readonly now: number }): JSX.Element {
  const { language } = visit;
  return (
    <Card title="Facts">
      <dl class="facts">
        <Fact name="Amount">
          <span class="money">{formatMoney(language, "1242.43", "EUR")}</span>
        </Fact>
        <Fact name="Account">
          <AccountNumber account={ACCOUNT} language={language} />
        </Fact>
        <Fact name="Time">
          <Instant visit={visit} at={new Date(now).toISOString()} />
        </Fact>
      </dl>
    </Card>
  );
}

function scale(): readonly (readonly [string, JSX.Element])[] {
  return [
    ["h1", <h1>Title of a page</h1>],
    ["h2", <h2>Head of a card</h2>],
    ["h3", <h3>Head within a card</h3>],
    [
      "p",
      <p>
        Text, with an <a href="/console/design">address</a> and <code>code</code>.
      </p>,
    ],
    [".detail", <p class="detail">What stands below something, smaller.</p>],
  ];
}
