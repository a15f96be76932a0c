/** Finds places of the documentation that hold every word asked for; titles come first. */

/** A place that can be found. */
export interface Place {
  readonly href: string;
  readonly title: string;
  /** The page it is on. */
  readonly where: string;
  readonly text: string;
}

/** A place, prepared once for every search. */
export interface SearchablePlace {
  readonly place: Omit<Place, "text">;
  /** Text without markup, for the excerpt. */
  readonly plain: string;
  readonly lowerTitle: string;
  readonly lowerText: string;
  readonly lowerPlain: string;
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

/** Prepares places for {@link search}. */
export function searchable(places: readonly Place[]): readonly SearchablePlace[] {
  return places.map(({ text, ...place }) => {
    const plain = text.replaceAll("`", "").replaceAll(/\s+/g, " ");
    return {
      place,
      plain,
      lowerTitle: place.title.toLowerCase(),
      lowerText: text.toLowerCase(),
      lowerPlain: plain.toLowerCase(),
    };
  });
}

/** The best places for the question; none for one without words. */
export function search(places: readonly SearchablePlace[], question: string): readonly Finding[] {
  const words = question.toLowerCase().split(/\s+/).filter((word) => word !== "").slice(0, MAX_WORDS);
  const [first] = words;
  if (first === undefined) return [];
  return places
    .map((candidate) => ({ candidate, rank: rankOf(candidate, words) }))
    .filter(({ rank }) => rank > 0)
    .toSorted((a, b) => b.rank - a.rank)
    .slice(0, MAX_FINDINGS)
    .map(({ candidate }) => ({ ...candidate.place, excerpt: excerptOf(candidate, first) }));
}

/** Zero where a word is missing; more where words are in the title. */
function rankOf({ lowerTitle, lowerText }: SearchablePlace, words: readonly string[]): number {
  if (!words.every((word) => lowerTitle.includes(word) || lowerText.includes(word))) return 0;
  return 1 + words.filter((word) => lowerTitle.includes(word)).length;
}

function excerptOf({ plain, lowerPlain }: SearchablePlace, first: string): string {
  const before = Math.max(0, lowerPlain.indexOf(first) - EXCERPT_BEFORE);
  const start = before === 0 ? 0 : plain.indexOf(" ", before) + 1; // words are not cut
  const rest = plain.slice(start, start + EXCERPT_CHARACTERS + 1);
  if (rest.length <= EXCERPT_CHARACTERS) return `${start > 0 ? "… " : ""}${rest}`;
  const excerpt = rest.slice(0, rest.lastIndexOf(" ", EXCERPT_CHARACTERS));
  return `${start > 0 ? "… " : ""}${excerpt} …`;
}
