/** Finds places of the portal by words: also other words for the same, beginnings of words, and mistyped ones. */
import MiniSearch, { type SearchResult } from "minisearch";
import WORDS from "./search_words.txt" with { type: "text" };

/** A place that can be found. */
export interface Place {
  readonly href: string;
  readonly title: string;
  /** The page it is on. */
  readonly where: string;
  readonly text: string;
  /** How much more likely than another place it is what readers look for. */
  readonly weight: number;
}

/** A place that was found. */
export interface Finding extends Omit<Place, "text" | "weight"> {
  /** Of its text, around the first word asked for. */
  readonly excerpt: string;
}

/** The best places for the question; none for one without words. */
export type Search = (question: string) => readonly Finding[];

const MAX_WORDS = 6;
const MAX_FINDINGS = 20;
const EXCERPT_BEFORE = 60;
const EXCERPT_CHARACTERS = 200;
/** Of the score, what a word counts that only means the same. */
const SYNONYM_WEIGHT = 0.7;

const [, stopWords = "", synonyms = ""] = WORDS.split(/^#.*\n/m);
const STOP_WORDS: ReadonlySet<string> = new Set(stopWords.trim().split(/\s+/));
const SYNONYMS: ReadonlyMap<string, readonly string[]> = new Map(
  [...synonyms.matchAll(/^(\S+): (.+)$/gm)].map(([, word = "", others = ""]) => [word, others.split(" ")]),
);

/** Opens the search in these parts. Other work of the process gets its turn between them. */
export async function openSearch(parts: readonly (() => readonly Place[])[]): Promise<Search> {
  const places: Place[] = [];
  const index = new MiniSearch<Place & { readonly id: number }>({
    fields: ["title", "where", "text"],
    tokenize: splitWords,
    processTerm: (word) => STOP_WORDS.has(word) ? null : word,
  });
  for (const part of parts) {
    const added = part();
    index.addAll(added.map((place, number) => ({ ...place, id: places.length + number })));
    places.push(...added);
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  return (question) => {
    const words = splitWords(question).filter((word) => word.length > 1 && !STOP_WORDS.has(word))
      .slice(0, MAX_WORDS);
    const found = words.length === 0 ? [] : index.search(queryOf(words), { boost: { title: 3, where: 1.5 } });
    return found.flatMap((result) => {
      const place = places[Number(result.id)];
      return place === undefined ? [] : [{ place, result, rank: rankOf(place, result, words, question) }];
    }).toSorted((a, b) => b.rank - a.rank).slice(0, MAX_FINDINGS)
      .map(({ place: { href, title, where, text }, result }) => {
        const asked = result.terms.filter((term) => words.includes(term));
        const shown = asked.length > 0 ? asked : result.terms; // others mean the same, or nearly
        return { href, title, where, excerpt: excerptOf(text.replaceAll(/\s+/g, " ").trim(), shown) };
      });
  };
}

/** Lower case; names with a dot, hyphen or underscore as a whole and in their parts. */
function splitWords(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+(?:[._-][\p{L}\p{N}]+)*/gu) ?? [];
  return words.flatMap((word) => /[._-]/.test(word) ? [word, ...word.split(/[._-]/)] : [word]);
}

function queryOf(words: readonly string[]): Parameters<MiniSearch["search"]>[0] {
  const exact = {
    prefix: (word: string) => word.length > 3,
    fuzzy: (word: string) => word.length > 4 ? 0.2 : false,
  };
  return {
    combineWith: "OR",
    queries: words.flatMap((word) => [
      { queries: [word], ...exact },
      { queries: [...SYNONYMS.get(word) ?? []], boostTerm: () => SYNONYM_WEIGHT },
    ]),
  };
}

/** More for a place with every word than for one that has a rare word often, and for the words side by side. */
function rankOf(
  { weight, title, text }: Place,
  { score, queryTerms }: SearchResult,
  words: readonly string[],
  question: string,
): number {
  const isMet = (word: string): boolean =>
    [word, ...SYNONYMS.get(word) ?? []].some((other) => queryTerms.includes(other));
  const met = words.filter(isMet).length / words.length;
  return score * met ** 2 * weight *
    (`${title} ${text}`.toLowerCase().includes(question.toLowerCase()) ? 3 : 1);
}

function excerptOf(text: string, words: readonly string[]): string {
  const lower = text.toLowerCase();
  const at = words.map((word) => lower.indexOf(word)).filter((place) => place >= 0);
  const before = Math.max(0, Math.min(...at, text.length) - EXCERPT_BEFORE);
  const start = before === 0 || at.length === 0 ? 0 : text.indexOf(" ", before) + 1; // words are not cut
  const rest = text.slice(start, start + EXCERPT_CHARACTERS + 1);
  if (rest.length <= EXCERPT_CHARACTERS) return `${start > 0 ? "… " : ""}${rest}`;
  const cut = rest.lastIndexOf(" ", EXCERPT_CHARACTERS);
  return `${start > 0 ? "… " : ""}${rest.slice(0, cut > 0 ? cut : EXCERPT_CHARACTERS)} …`;
}
