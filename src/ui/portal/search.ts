/** Finds places of the documentation that hold every word asked for; titles come first. No index is kept. */

/** A place that can be found. */
export interface Place {
  readonly href: string;
  readonly title: string;
  /** The page it is on. */
  readonly where: string;
  readonly text: string;
}

/** A place that was found. */
export interface Finding extends Omit<Place, "text"> {
  /** Of its text, around the first word asked for. */
  readonly excerpt: string;
}

const MAX_WORDS = 8;
const MAX_FINDINGS = 30;
const EXCERPT_BEFORE = 60;
const EXCERPT_CHARACTERS = 200;

/** The best places for the question; none for one without words. */
export function search(places: readonly Place[], question: string): readonly Finding[] {
  const words = question.toLowerCase().split(/\s+/).filter((word) => word !== "").slice(0, MAX_WORDS);
  if (words.length === 0) return [];
  return places
    .map((place) => ({ place, rank: rankOf(place, words) }))
    .filter(({ rank }) => rank > 0)
    .toSorted((a, b) => b.rank - a.rank)
    .slice(0, MAX_FINDINGS)
    .map(({ place: { href, title, where, text } }) => ({
      href,
      title,
      where,
      excerpt: excerptOf(text, words),
    }));
}

/** Zero where a word is missing; more where words are in the title. */
function rankOf({ title, text }: Place, words: readonly string[]): number {
  const [inTitle, inText] = [title.toLowerCase(), text.toLowerCase()];
  if (!words.every((word) => inTitle.includes(word) || inText.includes(word))) return 0;
  return 1 + words.filter((word) => inTitle.includes(word)).length;
}

function excerptOf(text: string, [first = ""]: readonly string[]): string {
  const plain = text.replaceAll("`", "").replaceAll(/\s+/g, " ");
  const before = Math.max(0, plain.toLowerCase().indexOf(first) - EXCERPT_BEFORE);
  const start = before === 0 ? 0 : plain.indexOf(" ", before) + 1; // words are not cut
  const rest = plain.slice(start);
  if (rest.length <= EXCERPT_CHARACTERS) return `${start > 0 ? "… " : ""}${rest}`;
  const excerpt = rest.slice(0, rest.lastIndexOf(" ", EXCERPT_CHARACTERS));
  return `${start > 0 ? "… " : ""}${excerpt} …`;
}
