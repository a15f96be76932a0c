/** Resource usage of a process from the operating system: processor time in nanoseconds, and resident memory. */

const KILOBYTE = 1024;
/** Of `/proc/<pid>/stat` after the command: utime, stime, and those of the children that have ended. */
const OWN_TICKS = { first: 11, end: 15 };
const TICK_MS = 10;

/** Processor time of the process's threads so far, milliseconds. */
export async function cpuMilliseconds(pid: number): Promise<number> {
  const lines = (await shell(`cat /proc/${pid}/task/*/schedstat`)).trim().split("\n");
  return lines.reduce((sum, line) => sum + Number(line.split(" ")[0]), 0) / 1e6;
}

/** Usage of a process since its start. */
export interface Usage {
  /** Processor time, milliseconds. */
  readonly cpu: number;
  /** Bytes that it has sent to a disk. */
  readonly written: number;
}

/** Reads the usage of a running process. */
export async function usageOf(pid: number): Promise<Usage> {
  const written = /^write_bytes: (\d+)$/m.exec(await shell(`cat /proc/${pid}/io`))?.[1];
  return { cpu: await cpuMilliseconds(pid), written: Number(written) };
}

/** Processor time of a process and its children, those that have ended included, milliseconds. */
export async function cpuWithChildren(pid: number): Promise<number> {
  const [stat = "", ...running] = (await shell(
    `cat /proc/${pid}/stat; for child in $(cat /proc/${pid}/task/${pid}/children); do cat /proc/$child/schedstat; done`,
  )).trim().split("\n");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = fields.slice(OWN_TICKS.first, OWN_TICKS.end).reduce((sum, field) => sum + Number(field), 0);
  return ticks * TICK_MS + running.reduce((sum, line) => sum + Number(line.split(" ")[0]), 0) / 1e6;
}

/** Resident memory, megabytes. */
export async function residentMegabytes(pid: number): Promise<number> {
  return await statusMegabytes(pid, /^VmRSS:\s+(\d+) kB$/m);
}

/** The largest resident memory that the process has had since its start, megabytes. */
export async function peakMegabytes(pid: number): Promise<number> {
  return await statusMegabytes(pid, /^VmHWM:\s+(\d+) kB$/m);
}

async function statusMegabytes(pid: number, line: RegExp): Promise<number> {
  const kilobytes = line.exec(await shell(`cat /proc/${pid}/status`))?.[1];
  return Math.round(Number(kilobytes) * KILOBYTE / 1e6);
}

/** Deno itself reads `/proc` only with every permission. */
async function shell(command: string): Promise<string> {
  const { stdout, success } = await new Deno.Command("sh", { args: ["-c", command] }).output();
  if (!success) throw new Error(`cannot be read: ${command}`);
  return new TextDecoder().decode(stdout);
}
