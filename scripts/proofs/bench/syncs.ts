/** Counts a process's fsyncs with strace, which slows the process down: never while processor time is measured. */

/** A count that is under way. */
export interface SyncCount {
  /** Ends it and resolves with the number of calls. */
  end(): Promise<number>;
}

const CALLS = "fsync,fdatasync";

/** Starts to count, or resolves with undefined where strace is missing or may not trace. */
export async function openSyncCount(pid: number): Promise<SyncCount | undefined> {
  const child = spawn(pid);
  if (child === undefined) return undefined;
  const lines = child.stderr.pipeThrough(new TextDecoderStream()).getReader();
  const { value: said = "" } = await lines.read(); // "Process … attached", or why not
  let text = said;
  const rest = (async () => {
    for (let part = await lines.read(); !part.done; part = await lines.read()) text += part.value;
  })();
  if (!said.includes("attached")) return void await Promise.all([child.status, rest]);
  return {
    async end(): Promise<number> {
      child.kill("SIGINT");
      await Promise.all([child.status, rest]);
      return [...text.matchAll(/^ *[\d.]+ +[\d.]+ +\d+ +(\d+) .*(?:fsync|fdatasync)$/gm)]
        .reduce((sum, [, calls]) => sum + Number(calls), 0);
    },
  };
}

function spawn(pid: number): Deno.ChildProcess | undefined {
  try {
    const args = ["-f", "-c", "-e", `trace=${CALLS}`, "-p", `${pid}`];
    return new Deno.Command("strace", { args, stdin: "null", stdout: "null", stderr: "piped" }).spawn();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
