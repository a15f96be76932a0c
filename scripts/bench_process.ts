/** What the operating system says of a process: processor time and resident memory, in 10 ms ticks and 4 KiB pages. */

/** User and system time so far, milliseconds. */
export async function cpuMilliseconds(pid: number): Promise<number> {
  const fields = (await readFields(pid)).slice(11, 13).map(Number);
  return ((fields[0] ?? 0) + (fields[1] ?? 0)) * 10;
}

/** Resident memory, megabytes. */
export async function residentMegabytes(pid: number): Promise<number> {
  return Math.round(Number((await readFields(pid))[21]) * 4096 / 1e6);
}

/** Fields of `/proc/<pid>/stat` after the command's name; Deno itself reads `/proc` only with every permission. */
async function readFields(pid: number): Promise<string[]> {
  const { stdout } = await new Deno.Command("cat", { args: [`/proc/${pid}/stat`] }).output();
  const text = new TextDecoder().decode(stdout);
  return text.slice(text.lastIndexOf(")") + 2).split(" ");
}
