/**
 * systemd's watchdog (`sd_notify`). While the event loop of this process turns, it says so; if it hangs, systemd kills
 * and starts it. Without `WatchdogSec`, or without the rights that the unit gives, nothing happens.
 */

/** A socket for datagrams, which Deno has with `--unstable-net`. */
interface Datagrams {
  send(bytes: Uint8Array, to: { readonly transport: "unixpacket"; readonly path: string }): Promise<number>;
}
type Listen = (at: { readonly transport: "unixpacket"; readonly path: string }) => Datagrams;

const VARIABLES = ["NOTIFY_SOCKET", "WATCHDOG_USEC", "RUNTIME_DIRECTORY", "STATE_DIRECTORY"] as const;
const ALIVE = new TextEncoder().encode("WATCHDOG=1");

/**
 * Starts to tell systemd that this process is alive.
 *
 * @returns the folder with the program's data, if the rights to write elsewhere are needed for the sockets from now on
 */
export async function startWatchdog(): Promise<string | undefined> {
  const listen: unknown = Reflect.get(Deno, "listenDatagram");
  if (typeof listen !== "function" || await mayWriteAnywhere()) return undefined;
  const [socket, microseconds, runtime, state] = await Promise.all(VARIABLES.map(variable));
  if (socket === undefined || microseconds === undefined || runtime === undefined || state === undefined) {
    return undefined;
  }
  const datagrams = (listen as Listen)({ transport: "unixpacket", path: `${runtime}/watchdog` });
  const tell = (): void =>
    void datagrams.send(ALIVE, { transport: "unixpacket", path: socket }).catch(() => {});
  Deno.unrefTimer(setInterval(tell, Number(microseconds) / 4000)); // four times in WatchdogSec
  tell();
  return state;
}

/** As `deno task serve` may. A service has folders. */
async function mayWriteAnywhere(): Promise<boolean> {
  return (await Deno.permissions.query({ name: "write" })).state === "granted";
}

async function variable(name: string): Promise<string | undefined> {
  const { state } = await Deno.permissions.query({ name: "env", variable: name });
  return state === "granted" ? Deno.env.get(name) || undefined : undefined;
}
