/**
 * Notices that the `npx` which started the sandbox is gone. Between `npx` and this process are a shell and
 * `deno task`; a SIGTERM for `npx` ends it and the shell, and the sandbox would live on unseen, its ports and its
 * directory taken. Only Linux shells stay in between like that. Without `--allow-run=cat` nothing is watched:
 * `/proc` tells who started whom, and Deno itself reads it with all permissions only.
 */

/** A process and who started it. */
export interface ProcessFact {
  readonly pid: number;
  readonly name: string;
  readonly parent: number;
}

const LOOK_EVERY_MS = 1000;
const MAX_ANCESTORS = 4;

/** Calls `onGone` once when a process between this one and the `npx` above it, or `npx` itself, has ended. */
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

/** The line of `/proc/<pid>/stat`, or undefined where it is none. */
export function parseStat(line: string): ProcessFact | undefined {
  // The name may hold spaces and parentheses of its own.
  const parts = /^(\d+) \((.*)\) \S (\d+) /.exec(line);
  return parts === null
    ? undefined
    : { pid: Number(parts[1]), name: parts[2] ?? "", parent: Number(parts[3]) };
}

/** The processes from `pid` up to the one below `npx`; none where there is no `npx`. */
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
