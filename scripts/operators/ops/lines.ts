/** The answer of the operations API as lines for people: a list whose rows fit a terminal as a table, the rest indented. */
import { printable } from "./watch.ts";

type Row = Readonly<Record<string, unknown>>;

/** Characters of a line of a table. Wider lists are shown member by member. */
const MOST_WIDE = 200;

/** Returns the lines. A text is CSV. */
export function formatLines(value: unknown, indent = ""): string[] {
  if (typeof value === "string" && indent === "") return value.trimEnd().split(/\r?\n/).map(printable);
  if (Array.isArray(value)) {
    return tableOf(value, indent) ??
      value.flatMap((item) => [`${indent}-`, ...formatLines(item, `${indent}  `)]);
  }
  if (!isObject(value)) return [`${indent}${printable(value)}`];
  return Object.entries(value).flatMap(([name, member]) =>
    Array.isArray(member) && member.length === 0
      ? [`${indent}${name}: none`]
      : isObject(member)
      ? [`${indent}${name}:`, ...formatLines(member, `${indent}  `)]
      : [`${indent}${name}: ${printable(member)}`]
  );
}

/** A head and a line for each row, with numbers at the end of their columns; undefined if that does not fit. */
function tableOf(list: readonly unknown[], indent: string): string[] | undefined {
  const rows = list.filter((one): one is Row => isObject(one) && !Array.isArray(one));
  const names = [...new Set(rows.flatMap(Object.keys))];
  const cells = rows.map((row) => names.map((name) => cellOf(row[name])));
  if (names.length === 0 || rows.length < list.length || cells.flat().includes(undefined)) return undefined;
  const lines = [names, ...cells];
  const widths = names.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  if (widths.reduce((sum, width) => sum + width + 2, indent.length) > MOST_WIDE) return undefined;
  const isNumber = names.map((name) =>
    rows.every((row) => ["number", "undefined"].includes(typeof row[name]))
  );
  return lines.map((line) => {
    const padded = line.map((cell = "", column) => {
      const width = widths[column] ?? 0;
      return isNumber[column] ? cell.padStart(width) : cell.padEnd(width);
    });
    return `${indent}${padded.join("  ").trimEnd()}`;
  });
}

/** The text of a cell: a value, or a few of them; undefined for more. */
function cellOf(value: unknown): string | undefined {
  if (value === undefined) return "";
  if (!isObject(value)) return printable(value);
  const parts: readonly unknown[] = Object.values(value);
  return parts.some(isObject) ? undefined : parts.map(printable).join(" ");
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
