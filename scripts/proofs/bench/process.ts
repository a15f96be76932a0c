/** Resource usage of a process from the operating system: processor time in nanoseconds, and resident memory. */

const KILOBYTE = 1024;

/** Processor time of the process's threads so far, milliseconds. */
export async function cpuMilliseconds(pid: number): Promise<number> {
  // A thread may end meanwhile.
  const command = `cat /proc/${pid}/task/*/schedstat 2>/dev/null || test -d /proc/${pid}`;
  const lines = (await shell(command)).trim().split("\n");
  return lines.reduce((sum, line) => sum + Number(line.split(" ")[0]), 0) / 1e6;
}

/** Processor time of a PostgreSQL server with all its processes so far, also of those that have ended, milliseconds. */
export async function cpuOfServer(data: string): Promise<number> {
  const main = (await shell(`head -n 1 ${data}/postmaster.pid`)).trim();
  const children = (await shell(`cat /proc/${main}/task/${main}/children`)).trim().split(" ");
  const running = await Promise.all(
    [main, ...children].map((pid) => cpuMilliseconds(Number(pid)).catch(() => 0)),
  );
  const [, ended] = (await shell(`cat /proc/${main}/stat`)).split(") ");
  const [user = 0, system = 0] = (ended ?? "").split(" ").slice(13, 15).map(Number);
  return running.reduce((sum, cpu) => sum + cpu, (user + system) * TICK_MS);
}

/** Of the times of processes that have ended. */
const TICK_MS = 10;

/** Bytes that the process has sent to a disk so far. */
export async function writtenBytes(pid: number): Promise<number> {
  return Number(/^write_bytes: (\d+)$/m.exec(await shell(`cat /proc/${pid}/io`))?.[1]);
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
