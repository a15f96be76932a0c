/** The rules of `docs/contract` that are about one field: those that begin with its name. */
import * as sources from "./documents.ts";
import { documentPath, type Link } from "./paths.ts";

/** A rule and the names that it begins with. Ids with a hyphen are cases that tests check. */
const RULE = /<a id="([a-z0-9]+)"><\/a>\*\*([A-Z0-9]+)\*\*\s+((?:`[\w.-]+`(?:,| and)?\s*)+)/g;
const MAX_RULES = 3;

let made: ReadonlyMap<string, readonly Link[]> | undefined;

/** Links to the rules about a field of this name, such as `CreditorAccount`. */
export function rulesAbout(name: string): readonly Link[] {
  return (made ??= rulesByName()).get(name)?.slice(0, MAX_RULES) ?? [];
}

function rulesByName(): ReadonlyMap<string, readonly Link[]> {
  const rules = new Map<string, Link[]>();
  for (const [document, text] of Object.entries(sources).filter(([path]) => path.startsWith("contract/"))) {
    for (const [, id = "", title = "", names = ""] of text.matchAll(RULE)) {
      for (const [, name = ""] of names.matchAll(/`(?:[\w-]+\.)*([\w-]+)`/g)) {
        rules.set(name, [...rules.get(name) ?? [], [`${documentPath(document)}#${id}`, title]]);
      }
    }
  }
  return rules;
}
