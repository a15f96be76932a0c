/**
 * Detects that the `npx` which started the sandbox has ended. Between `npx` and this process are a shell and `deno
 * task`. A SIGTERM for `npx` ends `npx` and the shell, and the sandbox would keep running with its ports and directory.
 * Only Linux shells stay in between. Without `--allow-run=cat` the watch is off: `/proc` lists parent processes, and
 * Deno reads it only with all permissions.
 */

/** A process and its parent. */
export interface ProcessFact {
  readonly pid: number;
  readonly name: string;
  readonly parent: number;
}

const LOOK_EVERY_MS = 1000;
const MAX_ANCESTORS = 4;

/** Calls `onGone` once if `npx` or a process between it and this one has ended. */
export async function watchLauncher(onGone: () => void): Promise<void> {
  if (Deno.build.os !== "linux") return;
  const permission = await Deno.permissions.query({ name: "run", command: "cat" });
  if (permission.state !== "granted") return;
  const launcher = await findLauncher(Deno.ppid);
  if (launcher.length === 0) return;
  const timer = setInterval(async () => {
    const now = await readProcesses(launcher.map(({ pid }) => pid));
    if (launcher.every(({ pid, parent }) => now.some((seen) => seen.pid === pid && seen.parent === parent))) {
      return;
    }
    clearInterval(timer);
    onGone();
  }, LOOK_EVERY_MS);
  Deno.unrefTimer(timer);
}

/** Parses a line of `/proc/<pid>/stat`; undefined if it is not valid. */
export function parseStat(line: string): ProcessFact | undefined {
  // The name may contain spaces and parentheses.
  const parts = /^(\d+) \((.*)\) \S (\d+) /.exec(line);
  return parts === null
    ? undefined
    : { pid: Number(parts[1]), name: parts[2] ?? "", parent: Number(parts[3]) };
}

/** The processes from `pid` up to the one below `npx`; empty if there is no `npx`. */
async function findLauncher(pid: number): Promise<readonly ProcessFact[]> {
  const below: ProcessFact[] = [];
  for (let next = pid; below.length < MAX_ANCESTORS;) {
    const [found] = await readProcesses([next]);
    if (found === undefined) return [];
    if (found.name.startsWith("npm ")) return below;
    below.push(found);
    next = found.parent;
  }
  return [];
}

async function readProcesses(pids: readonly number[]): Promise<readonly ProcessFact[]> {
  const args = pids.map((pid) => `/proc/${pid}/stat`);
  const { stdout } = await new Deno.Command("cat", { args, stdin: "null", stdout: "piped", stderr: "null" })
    .output();
  return new TextDecoder().decode(stdout).split("\n").flatMap((line) => parseStat(line) ?? []);
}
