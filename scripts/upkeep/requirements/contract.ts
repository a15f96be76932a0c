/**
 * The requirements as the documents state them: the rows of `docs/contract` and the decisions of `docs/decisions`. Does
 * not look at tests.
 */
import { lineAt, listFiles, ROOT } from "../sources/source_files.ts";

/** A row of the contract or a decision. */
export interface Requirement {
  readonly id: string;
  readonly kind: "rule" | "negative" | "decision";
  /** A case among the negative ones that must still work. */
  readonly isAccepted: boolean;
  /** `path:line`. */
  readonly where: string;
  /** Requirements whose tests prove this one; empty if its own tests do. */
  readonly checkedBy: readonly string[];
  /** Why no test can stand for it. */
  readonly inapplicable?: string;
}

/** A document, by its path from the project's root. */
export interface Page {
  readonly path: string;
  readonly text: string;
}

/** The requirements of the documents, and the parts that cannot be read. */
export interface Requirements {
  readonly found: readonly Requirement[];
  /** A sentence each. */
  readonly faults: readonly string[];
}

/** Where the rows are. */
export const CONTRACT = "docs/contract";
/** Where the decisions are. */
export const DECISIONS = "docs/decisions";

const HEADING_OR_ITEM = /^#+ .*$|^- .*(?:\n {2}.*)*/gm;
const ROW = /^- <a id="([^"]*)"><\/a>\*\*([A-Z][A-Z-]*\d+)\*\* ([\s\S]+) _([^_]+)\._$/;
const KINDS: Readonly<Record<string, "rule" | "negative">> = {
  "### Rules": "rule",
  "### Negative cases": "negative",
};

/** Reads the project's own documents. */
export function readRequirements(): Requirements {
  const pages = [CONTRACT, DECISIONS].flatMap((folder) => listFiles(folder, [".md"]))
    .map((path) => ({ path, text: Deno.readTextFileSync(ROOT + path) }));
  return requirementsIn(pages);
}

/** The requirements of these pages. An index (`README.md`) has none. */
export function requirementsIn(pages: readonly Page[]): Requirements {
  const read = pages.filter(({ path }) => !path.endsWith("/README.md"))
    .flatMap((page) => page.path.startsWith(DECISIONS) ? readDecisions(page) : readRows(page));
  const found = read.filter((one) => typeof one !== "string");
  const places = Map.groupBy(found, ({ id }) => id);
  const repeated = [...places].filter(([, all]) => all.length > 1)
    .map(([id, all]) => `${id} is stated twice: ${all.map(({ where }) => where).join(", ")}`);
  return { found, faults: [...read.filter((one) => typeof one === "string"), ...repeated] };
}

function readRows({ path, text }: Page): (Requirement | string)[] {
  let kind: "rule" | "negative" | undefined;
  return [...text.matchAll(HEADING_OR_ITEM)].flatMap(({ 0: block, index }) => {
    if (block.startsWith("#")) {
      kind = KINDS[block];
      return [];
    }
    return kind === undefined ? [] : [readRow(block, kind, `${path}:${lineAt(text, index)}`)];
  });
}

function readRow(item: string, kind: "rule" | "negative", where: string): Requirement | string {
  const [, anchor, id = "", words = ""] = ROW.exec(onOneLine(item)) ?? [];
  if (id === "") return `${where} is not a row: anchor, id, text and source are needed`;
  if (anchor !== id.toLowerCase()) return `${where} has another anchor than its id ${id}`;
  return { id, kind, isAccepted: words.startsWith("Accepted: "), where, ...proofIn(words) };
}

function readDecisions({ path, text }: Page): (Requirement | string)[] {
  const letter = path.slice(DECISIONS.length + 1, DECISIONS.length + 2).toUpperCase();
  return [...text.matchAll(/^## .*\n(?:(?!## ).*\n?)*/gm)].map(({ 0: section, index }) =>
    readDecision(section, letter, `${path}:${lineAt(text, index)}`)
  );
}

function readDecision(section: string, letter: string, where: string): Requirement | string {
  const [, anchor, id = ""] = /^## <a id="([^"]*)"><\/a>([A-GLMOPTW]\d+): /.exec(section) ?? [];
  if (anchor !== id.toLowerCase() || !id.startsWith(letter)) {
    return `${where} is not a decision: anchor and id are needed, with the letter of the page`;
  }
  const lacks = ["Context", "Choice", "Consequence"].find((part) => !section.includes(`\n**${part}.** `));
  if (lacks !== undefined) return `${where} has no ${lacks}`;
  return { id, kind: "decision", isAccepted: false, where, ...proofIn(onOneLine(section)) };
}

function proofIn(words: string): Pick<Requirement, "checkedBy" | "inapplicable"> {
  const checkedBy = /\bChecked by ([A-Z0-9, -]+)\./.exec(words)?.[1]?.split(", ") ?? [];
  const inapplicable = /\bNot applicable: (.+?)\.?$/.exec(words.trim())?.[1];
  return inapplicable === undefined ? { checkedBy } : { checkedBy, inapplicable };
}

function onOneLine(text: string): string {
  return text.trim().replaceAll(/\s+/g, " ");
}
