/**
 * Finds references that lead nowhere: ids that neither the contract nor the decisions have, clauses of standards that
 * the contract does not list, and names of documents that are not here. Links are for `tests/docs/links.test.ts`.
 */
import type { Requirement } from "../requirements/contract.ts";
import { idsIn, namesInStrings } from "../requirements/names.ts";
import { lineAt } from "../sources/source_files.ts";
import { readTokens } from "../sources/tokens.ts";
import type { Violation } from "./violation.ts";

/** The valid targets of a reference. */
export interface Known {
  /** Ids of the contract's rows. */
  readonly rows: ReadonlySet<string>;
  /** Ids of decisions. */
  readonly decisions: ReadonlySet<string>;
  /** Numbers of the RFCs that the contract lists. */
  readonly rfcs: ReadonlySet<string>;
}

/** A file as the rules read it. Each text has the same positions; a line break and the sign of a comment are blank. */
interface Reading {
  readonly all: string;
  /** Comments alone; the whole text of a file that is not a program. */
  readonly prose: string;
  readonly path: string;
  readonly names: readonly { readonly ids: readonly string[]; readonly at: number }[];
}

/** The problem with the reference at a position. */
interface Finding {
  readonly at: number;
  /** The name referred to. Repetitions in a line are reported once. */
  readonly name: string;
  readonly sentence: string;
}

type Find = (reading: Reading, known: Known) => Finding[];

const ID = "(?:FAPI-)?[A-Z]{1,4}-?N?\\d+";
const LIST = `${ID}(?:(?:[,;]\\s+(?:and\\s+)?|\\s+(?:and|or|to)\\s+|-|\\.\\.)${ID})*`;
const NAMED = RegExp(`\\b([Dd]ecisions?|[Cc]ontract)\\s+(${LIST})`, "g");
const ALGORITHM = /^(RS|PS|ES|HS)(256|384|512)$/;
/** A text without it needs no closer look. */
const LIKE_AN_ID = /[A-Z]N?\d|[A-Z]-N?\d/;
/** Ids with these letters are examples, in the tests of these rules. */
const EXAMPLE = /^XY/;

/** Names of documents that are not in the repository. Split so that this file does not break its own rule. */
const ELSEWHERE = RegExp(
  [
    "\\b[Cc]heck" + "lists?\\b",
    "\\bref" + "erence\\s+§?\\d",
    "\\b[Ii]nter" + 'face,?\\s+"',
    "\\b(?:end" + "point|tab" + "le)s?\\s+\\d",
    "\\bof\\s+the\\s+(?:deci" + "sions|open-banking)\\b",
  ].join("|"),
  "g",
);

/** An RFC, and the text behind its number if it looks like a clause. */
const RFC = /\bRFC\s*(\d{4})\b(?:,?\s+(?:sections?\s+|appendix\s+)?(\d+(?:\.\d+)*|[A-Z]\.\d)(?!\w))?/g;
const FAPI = /\bFAPI\s+(?!2\.0\b)(?:SP\s+)?\d/g;

const FINDS: readonly Find[] = [findNamed, findLetters, findBare, findBracketed, findElsewhere, findClauses];

/** The valid targets that the documents define. `index` is the contract's README, which lists the RFCs. */
export function knownReferences(requirements: readonly Requirement[], index: string): Known {
  const ids = (isDecision: boolean): Set<string> =>
    new Set(requirements.filter(({ kind }) => (kind === "decision") === isDecision).map(({ id }) => id));
  const listed = /^- \*\*RFC\*\* ([\d,\s]+):/m.exec(index)?.[1] ?? "";
  return { rows: ids(false), decisions: ids(true), rfcs: new Set(listed.match(/\d{4}/g)) };
}

/** The references of a text that lead nowhere. */
export function referenceViolations(path: string, text: string, known: Known): Violation[] {
  const reading = { all: withoutLineBreaks(text), path, ...readParts(path, text) };
  const found = FINDS.flatMap((find) => find(reading, known)).sort((a, b) => a.at - b.at)
    .map(({ at, name, sentence }) => ({ where: `${path}:${lineAt(text, at)}`, name, sentence }));
  const once = new Map(found.toReversed().map((finding) => [`${finding.where} ${finding.name}`, finding]));
  return [...once.values()].reverse().map(({ where, sentence }) => ({ where, sentence }));
}

/** `Decision C7`, `Decisions A10, B3`, `contract CA14`, `contract TA7-TA9`, in any text. */
function findNamed({ all }: Reading, { rows, decisions }: Known): Finding[] {
  return [...all.matchAll(NAMED)].flatMap(({ 0: words, 1: word = "", 2: list = "", index }) => {
    const isRow = word.toLowerCase() === "contract";
    const offset = index + words.length - list.length;
    return [...list.matchAll(RegExp(ID, "g"))]
      .filter(([id]) => !(isRow ? rows : decisions).has(id) && !EXAMPLE.test(id))
      .map((match) => ({
        at: offset + match.index,
        name: match[0],
        sentence: `names ${match[0]}, which is not a ${isRow ? "row of docs/contract" : "decision"}`,
      }));
  });
}

/** `C7` in a comment: a letter and a number can be an id of more than one kind. */
function findLetters({ prose, path }: Reading): Finding[] {
  if (path.endsWith(".md")) return [];
  const rest = prose.replaceAll(NAMED, blank).replaceAll(/\[[^\]\n]*\]/g, blank);
  return [...rest.matchAll(/(?<![\w§/.\-"`'{$])[A-Z][1-9]\d?(?![\w-])/g)].map(({ 0: id, index }) => ({
    at: index,
    name: id,
    sentence: `names ${id} alone; write Decision ${id}, or contract and the id of a row`,
  }));
}

/** `CA14` in prose and `DC-N5` in any text: letters that the contract's rows have, without a word before them. */
function findBare({ all, prose }: Reading, { rows }: Known): Finding[] {
  const families = [...new Set([...rows].map((id) => id.replace(/\d+$/, "")))];
  const within = (text: string, letters: readonly string[]): Finding[] =>
    letters.length === 0 ? [] : [...text.matchAll(
      RegExp(`(?<![\\w./-])(?:${letters.join("|")})\\d{1,3}(?!\\w)`, "g"),
    )].filter(([id]) => !rows.has(id) && !ALGORITHM.test(id))
      .map(({ 0: id, index }) => ({
        at: index,
        name: id,
        sentence: `names ${id}, which is not a row of docs/contract`,
      }));
  return [
    ...within(all, families.filter((letters) => letters.includes("-"))),
    ...within(prose, families.filter((letters) => /^[A-Z]{2,}$/.test(letters))),
  ];
}

/** `[CA-N5]`, `[DC-N1..N7]`, `[G9]`: ids in brackets, in a program's strings as tests are named, or anywhere else. */
function findBracketed({ names }: Reading, { rows, decisions }: Known): Finding[] {
  return names.flatMap(({ ids, at }) =>
    ids.filter((id) => /^[A-Z-]+\d+$/.test(id) && !rows.has(id) && !decisions.has(id) && !EXAMPLE.test(id))
      .map((id) => ({
        at,
        name: id,
        sentence: `names [${id}], which is neither a row of docs/contract nor a decision`,
      }))
  );
}

function findElsewhere({ all }: Reading): Finding[] {
  return [...all.matchAll(ELSEWHERE)].map(({ 0: words, index }) => ({
    at: index,
    name: words,
    sentence: `says "${
      words.replaceAll(/\s+/g, " ")
    }", a document that is not here; name the row, the decision or the clause`,
  }));
}

/** `RFC 9449 §4.3`: an RFC that the contract lists, its clause with the sign; `FAPI 2.0 §5.3.2.1` alike. */
function findClauses({ all }: Reading, { rfcs }: Known): Finding[] {
  const ofRfcs = [...all.matchAll(RFC)].flatMap(({ 1: number = "", 2: clause, index }) => {
    const sentences = [
      ...(rfcs.has(number) ? [] : [`names RFC ${number}, which docs/contract/README.md does not list`]),
      ...(clause === undefined ? [] : [`names a clause without its sign; write RFC ${number} §${clause}`]),
    ];
    return sentences.map((sentence) => ({ at: index, name: sentence, sentence }));
  });
  const ofFapi = [...all.matchAll(FAPI)].map(({ index }) => ({
    at: index,
    name: "FAPI",
    sentence: "names a clause without its document; write FAPI 2.0 §…",
  }));
  return [...ofRfcs, ...ofFapi];
}

function readParts(path: string, text: string): Pick<Reading, "prose" | "names"> {
  if (!LIKE_AN_ID.test(text)) return { prose: "", names: [] };
  if (!/\.tsx?$/.test(path)) {
    const lines = [...text.matchAll(/[^\n]+/g)].map(({ 0: line, index: at }) => ({ ids: idsIn(line), at }));
    return { prose: withoutLineBreaks(text), names: lines };
  }
  const { comments, strings } = readTokens(path, text);
  return { prose: withoutLineBreaks(comments), names: namesInStrings(strings) };
}

/** A reference may go on in the next line, behind the signs of a comment. */
function withoutLineBreaks(text: string): string {
  return text.replaceAll(/\n[ \t]*(?:\*(?!\/)|\/\/)?[ \t]*/g, blank);
}

function blank(text: string): string {
  return text.replaceAll(/[^\n]/g, " ").replaceAll("\n", " ");
}
