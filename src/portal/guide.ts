/** The data types of a guide. Other files render and search them. */

/** A paragraph (`code` between backticks), something to copy, a list, or terms with their meaning. */
export type Block =
  | string
  | { readonly about: string; readonly code: string }
  | { readonly list: readonly string[] }
  | { readonly terms: readonly (readonly [term: string, meaning: string])[] }
  | { readonly see: readonly (readonly [href: string, text: string])[] };

/** A part of a guide, under a heading that is its anchor. */
export interface GuideSection {
  readonly id: string;
  readonly title: string;
  readonly blocks: readonly Block[];
}

/** A page of words. */
export interface Guide {
  readonly title: string;
  readonly lead: string;
  readonly sections: readonly GuideSection[];
}

/** Where the platform is, for requests that can be copied. Without trailing slashes. */
export interface GuideAddresses {
  readonly baseUrl: string;
  readonly authUrl: string;
}

/** Everything that a section says, for searching. */
export function textOf({ title, blocks }: GuideSection): string {
  return [title, ...blocks.map(blockText)].join("\n");
}

function blockText(block: Block): string {
  if (typeof block === "string") return block;
  if ("code" in block) return `${block.about}\n${block.code}`;
  if ("list" in block) return block.list.join("\n");
  if ("terms" in block) return block.terms.flat().join("\n");
  return block.see.map(([, text]) => text).join("\n");
}
