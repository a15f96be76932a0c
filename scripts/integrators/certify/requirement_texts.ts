/** The texts of the requirements that a report names, so that its page needs no other document. */
import { readRequirements } from "../../upkeep/requirements/contract.ts";
import { ROOT } from "../../upkeep/sources/source_files.ts";

/** An id of docs/contract or docs/decisions, with the document that has it and its text. */
export interface RequirementText {
  readonly id: string;
  readonly page: string;
  readonly text: string;
}

const ID = /(?<![\w-])(?:FAPI-)?[A-Z]{1,4}-?N?\d+(?![\w-])/g;

/** The ids in a requirement of a case, such as `BR11, BR12; Decision G1`, each with the text around it. */
export function piecesOf(requirement: string): readonly (readonly [before: string, id: string])[] {
  let at = 0;
  const named = [...requirement.matchAll(ID)].map(({ 0: id, index }) => {
    const before = requirement.slice(at, index);
    at = index + id.length;
    return [before, id] as const;
  });
  return [...named, [requirement.slice(at), ""]];
}

/** The texts of every id in these requirements, in the order of the documents. Ids of other documents have none. */
export function requirementTexts(requirements: readonly string[]): readonly RequirementText[] {
  const named = new Set(requirements.flatMap((each) => piecesOf(each).map(([, id]) => id)));
  return readRequirements().found.filter(({ id }) => named.has(id)).map(({ id, where }) => {
    const page = where.replace(/:\d+$/, "");
    const block = Deno.readTextFileSync(ROOT + page).split(`<a id="${id.toLowerCase()}"></a>`)[1] ?? "";
    const [text = ""] = block.split(/\n(?=- |#)/);
    const words = text.replaceAll(/\s+/g, " ").replaceAll(/\*\*|(?<!\w)_|_(?!\w)/g, "").trim();
    return { id, page, text: words.replace(RegExp(`^${id}:? `), "") };
  });
}
