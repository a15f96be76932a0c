/** The lint rules about imports: who may import whom (`layout_rules.ts`, `restriction_rules.ts`), no barrels, and who may call the store. */
import { LEVELS, MAY_CALL_STORE, OPENINGS, PROGRAMS } from "./layout_rules.ts";
import { belowSrc, IN_SRC, ruleFor } from "./linted_file.ts";
import { RESTRICTED_FILES, RESTRICTED_PACKAGES } from "./restriction_rules.ts";

/** An import with its ends named below `src/`. Packages keep their specifier. */
interface Edge {
  readonly specifier: string;
  /** The import is erased at compile time. */
  readonly typeOnly: boolean;
  readonly from: string;
  readonly to: string;
  readonly inSrc: boolean;
}

const STORE_VERBS = /^(get|getMany|list|commit)$/;

/** Each import is allowed by `layout_rules.ts`. */
export const imports: Deno.lint.Rule = ruleFor(/^(src|scripts)\//, ({ path, report }) => {
  const judge = (node: Deno.lint.Node, specifier: string, typeOnly: boolean): void => {
    const faults = IN_SRC.test(path)
      ? edgeFaults(edgeOf(path, specifier, typeOnly))
      : [levelFault(path, targetOf(path, specifier))];
    for (const fault of faults) if (fault !== undefined) report(node, fault);
  };
  return {
    ImportDeclaration: (node) => judge(node, node.source.value, isTypeOnly(node)),
    ExportNamedDeclaration(node): void {
      if (node.source !== null) judge(node, node.source.value, node.exportKind === "type");
    },
    ExportAllDeclaration: (node) => judge(node, node.source.value, node.exportKind === "type"),
    ImportExpression: (node) => judge(node, literalIn(node.source), false),
    TSImportType(node): void {
      judge(node, node.argument.type === "TSLiteralType" ? literalIn(node.argument.literal) : "", true);
    },
  };
});

/** What the client library's package offers, which its readers see in one place. */
const PACKAGE_ENTRIES = /^src\/client\/(tpp|bank|iso20022)\.ts$/;

/** A barrel only re-exports from other files, or re-exports everything of one. */
export const noBarrel: Deno.lint.Rule = ruleFor(IN_SRC, ({ path, report }) => ({
  Program(program): void {
    const exported = program.body.filter(({ type }) => type.startsWith("Export"));
    const own = exported.some((node) =>
      node.type === "ExportDefaultDeclaration" ||
      node.type === "ExportNamedDeclaration" && node.declaration !== null
    );
    if (PACKAGE_ENTRIES.test(path)) return;
    const everything = exported.find(({ type }) => type === "ExportAllDeclaration");
    const reExport = exported.find((node) =>
      node.type === "ExportNamedDeclaration" && node.source !== null &&
      !/\.md$|^\.\.\/\.\.\/examples\//.test(node.source.value)
    ); // a text, not a file of the program
    const isNamed = /(^|\/)(index|mod)\.tsx?$/.test(path);
    const found = everything ?? (own ? undefined : reExport);
    if (found === undefined && !isNamed) return;
    report(found ?? [0, 1], "This file is a barrel. Import from the files themselves.");
  },
}));

/** Only stores call the storage port. */
export const noStoreCall: Deno.lint.Rule = ruleFor(IN_SRC, ({ path, report }) => {
  const below = belowSrc(path);
  if (below.startsWith("sandbox/") || MAY_CALL_STORE.some(({ files }) => files.test(below))) return {};
  return {
    CallExpression({ callee }): void {
      if (callee.type !== "MemberExpression" || callee.property.type !== "Identifier") return;
      const verb = callee.property.name;
      if (!STORE_VERBS.test(verb) || !isStore(callee.object)) return;
      report(callee, `This calls store.${verb}. Give a \`*_store.ts\` a function for it.`);
    },
  };
});

function isStore(node: Deno.lint.Expression): boolean {
  const name = node.type === "MemberExpression" ? node.property : node;
  return name.type === "Identifier" && name.name === "store";
}

function isTypeOnly({ importKind, specifiers }: Deno.lint.ImportDeclaration): boolean {
  return importKind === "type" ||
    specifiers.length > 0 &&
      specifiers.every((one) => one.type === "ImportSpecifier" && one.importKind === "type");
}

/** The text of a literal, or "" if only the running program knows it. */
function literalIn(node: Deno.lint.Node): string {
  return node.type === "Literal" && typeof node.value === "string" ? node.value : "";
}

function edgeOf(path: string, specifier: string, typeOnly: boolean): Edge {
  const target = targetOf(path, specifier);
  const inSrc = specifier.startsWith(".") && IN_SRC.test(target);
  return { specifier, typeOnly, from: belowSrc(path), to: inSrc ? belowSrc(target) : target, inSrc };
}

function targetOf(path: string, specifier: string): string {
  return specifier.startsWith(".") ? new URL(specifier, `file:///${path}`).pathname.slice(1) : specifier;
}

function edgeFaults(edge: Edge): string[] {
  return [outsideFault(edge), restrictionFault(edge), edge.inSrc ? partFault(edge) : undefined]
    .filter((fault) => fault !== undefined);
}

function outsideFault({ specifier, from, to, inSrc }: Edge): string | undefined {
  if (specifier === "") {
    return "The path of this import is known only to the running program. Import a literal path.";
  }
  const isDocument = from === "portal/documents.ts" && /^docs\/.+\.md$/.test(to) || // Decision W4
    from === "portal/examples.ts" && /^examples\/[^/]+$/.test(to);
  if (specifier.startsWith(".") && !inSrc && !isDocument) {
    return `${to} is outside src. Files of src import only src.`;
  }
  return undefined;
}

function restrictionFault({ from, to, typeOnly, inSrc }: Edge): string | undefined {
  const found = (inSrc ? RESTRICTED_FILES : RESTRICTED_PACKAGES).find(({ target }) => target.test(to));
  if (found === undefined || found.mayImport.test(from)) return undefined;
  if (found.typesForAll === true && typeOnly) return undefined;
  return `This file may not import ${to} (${found.name}): ${found.instead}.`;
}

function partFault({ from, to }: Edge): string | undefined {
  if (OPENINGS.some((opening) => opening.from.test(from) && opening.to.test(to))) return undefined;
  const [program, target] = [programOf(from), programOf(to)];
  if (program === target) return levelFault(`src/${from}`, `src/${to}`);
  if (PROGRAMS[program]?.includes(target) === true) return undefined;
  const allowed = PROGRAMS[program]?.join(", ") || "no other program";
  return `${program} may not import ${to}. It may import ${allowed} (scripts/upkeep/checks/layout_rules.ts).`;
}

/** Files beside the folders of levels, such as constants, are below all of them. */
function levelFault(from: string, to: string): string | undefined {
  const [home, levels] = Object.entries(LEVELS).find(([folder]) => from.startsWith(`${folder}/`)) ?? [];
  if (home === undefined || levels === undefined || !to.startsWith(`${home}/`)) return undefined;
  const [folder, target] = [from, to].map((path) => folderIn(path, home));
  const [level, targetLevel] = [folder, target].map((name) => name === undefined ? -1 : levels.indexOf(name));
  for (const [name, at] of [[folder, level], [target, targetLevel]] as const) {
    if (name !== undefined && at === -1) {
      return `${home}/${name} has no level. Give it one in scripts/upkeep/checks/layout_rules.ts.`;
    }
  }
  if (targetLevel === undefined || level === undefined || targetLevel <= level) return undefined;
  return `${
    folder ?? home
  } may not import ${target}, a higher level (scripts/upkeep/checks/layout_rules.ts). Turn the dependency round, or pass it in.`;
}

function folderIn(path: string, home: string): string | undefined {
  const [folder, ...rest] = path.slice(home.length + 1).split("/");
  return rest.length === 0 ? undefined : folder;
}

function programOf(path: string): string {
  return path.split("/")[0] ?? path;
}
