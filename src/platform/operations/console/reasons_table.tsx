/** Requests that did not succeed by their reason, of one or several periods. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { z } from "zod";
import { type Language, LOCALES } from "../../../pages/language.ts";
import type { reasonsSchema } from "../reports/report_representation.ts";
import { Coded, Table } from "./parts.tsx";
import { phrase, type PlainKey } from "./phrase.ts";

type Counted = z.infer<typeof reasonsSchema>;

/** Rows. Rarer reasons are in the report as a file. */
const SHOWN = 10;

export function Reasons(
  { language, columns, href }: {
    readonly language: Language;
    readonly columns: readonly (readonly [head: PlainKey, counted: Counted])[];
    /** The page that shows the numbers by participant, unless this one does. */
    readonly href?: string;
  },
): JSX.Element {
  const { format } = new Intl.NumberFormat(LOCALES[language]);
  const names = new Set(columns.flatMap(([, counted]) => counted.map(({ Reason }) => Reason)));
  const countOf = (name: string, counted: Counted): JSX.Element => {
    const number = format(counted.find(({ Reason }) => Reason === name)?.Requests ?? 0);
    return <span class="number">{href === undefined ? number : <a href={href}>{number}</a>}</span>;
  };
  return (
    <>
      <h3>{phrase(language, "hour.reasons")}</h3>
      <Table
        language={language}
        name="hour.reasons"
        none="hour.noReasons"
        rows={[...names].slice(0, SHOWN)}
        columns={{
          "column.errorReason": (name) => <Coded language={language} kind="reason" code={name} />,
          ...Object.fromEntries(
            columns.map(([head, counted]) => [head, (name: string) => countOf(name, counted)]),
          ),
        }}
      />
    </>
  );
}
