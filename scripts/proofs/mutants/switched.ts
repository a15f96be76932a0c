/** A program that has every change of a file in it, and makes the one that is chosen while it runs. No I/O. */
import type { Change } from "./mutation_plugin.ts";

/** A change and the number that chooses it. */
export interface Numbered {
  readonly number: number;
  readonly change: Change;
}

/** The changes of one place. */
interface Place {
  readonly at: readonly [number, number];
  readonly changes: readonly Numbered[];
}

/** Asks whether a change is made. Its import is the first line of every program with changes. */
const CHOSEN = "isChosen__";

/**
 * The program's text with its changes.
 *
 * @param asks the module whose default export answers whether a number is chosen
 */
export function switched(text: string, changes: readonly Numbered[], asks: string): string {
  const places = [...Map.groupBy(changes, ({ change }) => change.at.join()).values()].flatMap((at) =>
    at[0] === undefined ? [] : [{ at: at[0].change.at, changes: at }]
  ).sort((one, other) => one.at[0] - other.at[0] || other.at[1] - one.at[1]);
  return `import ${CHOSEN} from "${asks}"; ${between(text, [0, text.length], places)}`;
}

/** A part of the text, with the changes of the places in it. A place lies inside another or beside it. */
function between(text: string, [start, end]: readonly [number, number], places: readonly Place[]): string {
  let [written, from] = ["", start];
  for (let index = 0; index < places.length;) {
    const place = places[index];
    if (place === undefined) break;
    const next = places.findIndex(({ at }, later) => later > index && at[0] >= place.at[1]);
    const inside = places.slice(index + 1, next < 0 ? undefined : next);
    written += text.slice(from, place.at[0]) + placeText(place, between(text, place.at, inside));
    from = place.at[1];
    index = next < 0 ? places.length : next;
  }
  return written + text.slice(from, end);
}

function placeText({ changes }: Place, original: string): string {
  const asked = ({ number }: Numbered): string => `${CHOSEN}(${number})`;
  const form = changes[0]?.change.form;
  if (form === "statement") {
    return changes.map((one) => `if (${asked(one)}) { ${one.change.to} } else `).join("") + `{ ${original} }`;
  }
  const [open, close] = form === "arguments" ? ["[", "]"] : ["(", ")"];
  const chosen = changes.map((one) => `${asked(one)} ? ${open}${one.change.to}${close} : `).join("");
  return `${form === "arguments" ? "..." : ""}(${chosen}${open}${original}${close})`;
}
