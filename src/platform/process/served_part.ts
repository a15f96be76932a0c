/**
 * `deno task serve --only`: a process that serves one part of the platform, so that documentation, customers' pages and
 * the operators' console take no time of the thread that answers participants. All parts share one database, and each
 * process does its share of the background work.
 */
import type { Config } from "../config/config.ts";
import { CommandLineFault } from "../../base/kernel/command_line_fault.ts";
import { isUrl } from "../../base/store/store_url.ts";

/** The participants' API, the browser host, or operations with the console. */
export const SERVED_PARTS = ["api", "browser", "console"] as const;
/** One of {@link SERVED_PARTS}. */
export type ServedPart = typeof SERVED_PARTS[number];

/** Options that do not choose a part. */
const SWITCHES: ReadonlySet<string> = new Set(["--listen", "--check"]);

const HEALTH = "/health/";
/** The operations endpoints in a process of another part: that process is measured, and not operated. */
const MEASURED: ReadonlySet<string> = new Set(["/operations/metrics"]);

/**
 * Reads the part from a command line, or undefined if the process serves all of them.
 *
 * @throws {CommandLineFault} if the command line has another option, or names no part
 */
export function readServedPart(args: readonly string[]): ServedPart | undefined {
  const [option, name, ...others] = args.filter((arg) => !SWITCHES.has(arg)).flatMap((arg) => arg.split("="));
  if (option === undefined) return undefined;
  const part = SERVED_PARTS.find((each) => each === name);
  if (option === "--only" && part !== undefined && others.length === 0) return part;
  throw new CommandLineFault(
    `the command line has "${
      args.join(" ")
    }"; it takes --check, --only api, --only browser or --only console`,
  );
}

/** Returns what a process of this part lacks. */
export function partFaults(part: ServedPart | undefined, { storeUrl, operationsPort }: Config): string[] {
  return [
    ...(part !== undefined && !isUrl(storeUrl)
      ? [
        `PLATFORM_STORE_URL: --only ${part} needs PostgreSQL; a database file belongs to one process, which serves all`,
      ]
      : []),
    ...(part === "console" && operationsPort === undefined
      ? ["PLATFORM_OPERATIONS_PORT: --only console needs it"]
      : []),
  ];
}

/** Whether a process of this part answers a path at the participants' listener. */
export function servesPath(part: ServedPart | undefined, path: string, isApi: boolean): boolean {
  return part === undefined || path.startsWith(HEALTH) || part === (isApi ? "api" : "browser");
}

/** Whether a process of this part answers a path at the operators' listener. */
export function operatesPath(part: ServedPart | undefined, path: string): boolean {
  return part === undefined || part === "console" || path.startsWith(HEALTH) || MEASURED.has(path);
}
