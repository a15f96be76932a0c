/**
 * Enforces the import rules of `layout_rules.ts` on every file of `src`: levels, crossings, doors, strangers, cycles
 * and barrels. Prints each violation with what to do, and exits with 1 where there is one.
 */
import {
  CROSSINGS,
  DIRECTORY,
  FILE_DOORS,
  LEVELS,
  MAY_CALL_STORE,
  PACKAGE_DOORS,
  SANDBOX,
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
  return [outsideFault(edge), doorFault(edge), edge.inSrc ? roomFault(edge) : undefined]
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

function roomFault({ from, to }: Edge): string | undefined {
  const [room, target] = [roomOf(from), roomOf(to)];
  if (room === "sandbox") return sandboxFault(from, to);
  if (target === "sandbox") return "may not import the sandbox; it is a stranger to the platform";
  const level = LEVELS.findIndex((rooms) => rooms.includes(room));
  const targetLevel = LEVELS.findIndex((rooms) => rooms.includes(target));
  if (room === "directory") return directoryFault(to, target, targetLevel);
  if (target === "directory") return "may not import the directory; it is another program, reached over HTTP";
  if (level === -1 || targetLevel === -1) {
    return `${level === -1 ? room : target} has no level; give it one in scripts/layout_rules.ts`;
  }
  if (room === target || targetLevel < level) return undefined;
  if (targetLevel > level) {
    return `${room} (level ${level}) may not import ${target} (level ${targetLevel}); turn the dependency round, or pass it in from compose.ts`;
  }
  if (CROSSINGS.some((crossing) => crossing.from === room && crossing.to === target)) return undefined;
  return `${room} may not import ${target} of its own level; move what both need down a level, or write the crossing and its reason into scripts/layout_rules.ts`;
}

function sandboxFault(from: string, to: string): string | undefined {
  if (SANDBOX.mayImport.test(to)) return undefined;
  if (SANDBOX.composer.test(from) && SANDBOX.composerMayImport.test(to)) return undefined;
  return `the sandbox may not import ${to}; it is a stranger that speaks HTTP and uses public libraries`;
}

function directoryFault(to: string, target: string, targetLevel: number): string | undefined {
  if (target === "directory" || (targetLevel > 0 && targetLevel <= DIRECTORY.highestLevel)) return undefined;
  return `the directory may not import ${to}; it sees levels 1 and ${DIRECTORY.highestLevel} only`;
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

function roomOf(path: string): string {
  return path.split("/")[0] ?? path;
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
