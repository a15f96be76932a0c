/** The rules of `docs/contract` that are about one field: those that begin with its name. */
import * as sources from "./documents.ts";
import { documentPath, type Link } from "./paths.ts";

/** A rule and the names that it begins with. Ids with a hyphen are cases that tests check. */
const RULE = /<a id="([a-z0-9]+)"><\/a>\*\*([A-Z0-9]+)\*\*\s+((?:`[\w.-]+`(?:,| and)?\s*)+)/g;
const MAX_RULES = 3;

let made: ReadonlyMap<string, readonly Link[]> | undefined;

/** Links to the rules about a field of this name, such as `CreditorAccount`. */
export function rulesAbout(name: string): readonly Link[] {
  return (made ??= rulesByName()).get(name) ?? [];
}

function rulesByName(): ReadonlyMap<string, readonly Link[]> {
  const rules = Object.entries(sources as Readonly<Record<string, string>>).filter(([document]) =>
    document.startsWith("contract/")
  ).flatMap(([document, text]) =>
    [...text.matchAll(RULE)].flatMap(([, id = "", title = "", names = ""]) =>
      [...names.matchAll(/`(?:[\w-]+\.)*([\w-]+)`/g)].map(([, name = ""]) =>
        [name, [`${documentPath(document)}#${id}`, title]] as const
      )
    )
  );
  return new Map(
    [...Map.groupBy(rules, ([name]) => name)].map(([name, found]) =>
      [name, found.map(([, link]): Link => link).slice(0, MAX_RULES)] as const
    ),
  );
}
