/**
 * Enforces the import rules of `layout_rules.ts` on every file of `src`: programs, levels, crossings, doors, cycles
 * and barrels. Prints each violation with what to do, and exits with 1 where there is one.
 */
import {
  CROSSINGS,
  FILE_DOORS,
  LEVELS,
  MAY_CALL_STORE,
  OPENINGS,
  PACKAGE_DOORS,
  PROGRAMS,
} from "./layout_rules.ts";
import {
  type Import,
  importsOf,
  lineAt,
  listFiles,
  readSource,
  resolve,
  type SourceFile,
} from "./source_files.ts";

/** One broken rule. */
export interface Violation {
  /** `path:line`, from the project's root. */
  readonly where: string;
  readonly sentence: string;
}

/** An import with its ends named below `src/`; packages keep their specifier. */
interface Edge extends Import {
  readonly from: string;
  readonly to: string;
  readonly inSrc: boolean;
}

const STORE_CALL = /\bstore\s*\.\s*(get|getMany|list|commit)\s*[<(]/g;

/** Every violation in these files of `src`. */
export function importViolations(files: readonly SourceFile[]): Violation[] {
  const edges = files.flatMap(edgesOf);
  return [
    ...edges.flatMap((edge) => edgeFaults(edge).map((sentence) => ({ where: place(edge), sentence }))),
    ...files.flatMap(barrelFault),
    ...files.flatMap(storeCallFaults),
    ...cycles(edges),
  ];
}

function edgesOf(file: SourceFile): Edge[] {
  return importsOf(file).map((imported) => {
    const relative = imported.specifier.startsWith(".");
    const target = relative ? resolve(file.path, imported.specifier) : imported.specifier;
    const inSrc = relative && target.startsWith("src/");
    return { ...imported, from: belowSrc(file.path), to: inSrc ? belowSrc(target) : target, inSrc };
  });
}

function edgeFaults(edge: Edge): string[] {
  return [outsideFault(edge), doorFault(edge), edge.inSrc ? partFault(edge) : undefined]
    .filter((fault) => fault !== undefined);
}

function outsideFault({ specifier, to, inSrc }: Edge): string | undefined {
  if (specifier === "") return "imports what only the running program knows; import a literal path";
  if (specifier.startsWith(".") && !inSrc) return `imports ${to}, outside src; src stands alone`;
  return undefined;
}

function doorFault({ from, to, typeOnly, inSrc }: Edge): string | undefined {
  const door = (inSrc ? FILE_DOORS : PACKAGE_DOORS).find(({ behind }) => behind.test(to));
  if (door === undefined || door.mayEnter.test(from)) return undefined;
  if (door.typesForAll === true && typeOnly) return undefined;
  return `may not import ${to} (${door.name}); ${door.instead}`;
}

function partFault({ from, to }: Edge): string | undefined {
  if (OPENINGS.some((opening) => opening.from.test(from) && opening.to.test(to))) return undefined;
  const [program, target] = [programOf(from), programOf(to)];
  if (program !== target) {
    if (PROGRAMS[program]?.includes(target) === true) return undefined;
    const seen = PROGRAMS[program]?.join(", ") || "no other program";
    return `${program} may not import ${to}; it may import ${seen} (scripts/checks/layout_rules.ts)`;
  }
  return program === "base" || program === "platform" ? levelFault(partOf(from), partOf(to)) : undefined;
}

function levelFault(part: string, target: string): string | undefined {
  const level = LEVELS.findIndex((parts) => parts.includes(part));
  const targetLevel = LEVELS.findIndex((parts) => parts.includes(target));
  if (level === -1 || targetLevel === -1) {
    return `${level === -1 ? part : target} has no level; give it one in scripts/checks/layout_rules.ts`;
  }
  if (part === target || targetLevel < level) return undefined;
  if (targetLevel > level) {
    return `${part} (level ${level}) may not import ${target} (level ${targetLevel}); turn the dependency round, or pass it in from compose.ts`;
  }
  if (CROSSINGS.some((crossing) => crossing.from === part && crossing.to === target)) return undefined;
  return `${part} may not import ${target} of its own level; move what both need down a level, or write the crossing and its reason into scripts/checks/layout_rules.ts`;
}

/** A barrel: a file that only hands on what others export, or hands on everything of one. */
function barrelFault(file: SourceFile): Violation[] {
  const own = /^export\s+(?!type\s*\{|\{|\*)/m.test(file.bare);
  const handedOn = importsOf(file).filter(({ reExport }) => reExport);
  const everything = /^export\s+\*/m.exec(file.bare);
  const named = /(^|\/)(index|mod)\.tsx?$/.test(file.path);
  const first = handedOn[0];
  if (!named && everything === null && (first === undefined || own)) return [];
  const line = everything === null ? first?.line ?? 1 : lineAt(file.bare, everything.index);
  return [{ where: `${file.path}:${line}`, sentence: "is a barrel; import from the files themselves" }];
}

function storeCallFaults(file: SourceFile): Violation[] {
  const path = belowSrc(file.path);
  if (path.startsWith("sandbox/") || MAY_CALL_STORE.some(({ files }) => files.test(path))) return [];
  return [...file.bare.matchAll(STORE_CALL)].map((call) => ({
    where: `${file.path}:${lineAt(file.bare, call.index)}`,
    sentence: `calls store.${call[1]}; give a \`*_store.ts\` a verb for it`,
  }));
}

/** Depth first; each cycle is told once, at the import that closes it. */
function cycles(edges: readonly Edge[]): Violation[] {
  const outgoing = Map.groupBy(edges.filter(({ inSrc }) => inSrc), ({ from }) => from);
  const done = new Set<string>();
  const found: Violation[] = [];
  const visit = (file: string, path: readonly string[]): void => {
    for (const edge of outgoing.get(file) ?? []) {
      const start = path.indexOf(edge.to);
      if (start !== -1) {
        const circle = [...path.slice(start), edge.to].join(" -> ");
        found.push({
          where: place(edge),
          sentence: `closes a circle of imports, ${circle}; move what both need into a third file`,
        });
      } else if (!done.has(edge.to)) visit(edge.to, [...path, edge.to]);
    }
    done.add(file);
  };
  for (const file of outgoing.keys()) if (!done.has(file)) visit(file, [file]);
  return found;
}

function programOf(path: string): string {
  return path.split("/")[0] ?? path;
}

function partOf(path: string): string {
  return path.split("/").slice(0, 2).join("/");
}

function belowSrc(path: string): string {
  return path.replace(/^src\//, "");
}

function place({ from, line }: Edge): string {
  return `src/${from}:${line}`;
}

if (import.meta.main) {
  const files = listFiles("src", [".ts", ".tsx"]).map(readSource);
  const violations = importViolations(files);
  const lines = violations.map(({ where, sentence }) => `${where}: ${sentence}.\n`);
  const summary = `imports: ${files.length} files, ${violations.length} violations\n`;
  Deno.stdout.writeSync(new TextEncoder().encode(lines.join("") + summary));
  Deno.exit(violations.length === 0 ? 0 : 1);
}
