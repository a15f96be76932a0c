/** The `ExecStart` of a systemd unit, from the task of `deno.json` that starts the same program. */

/** What a service is given in place of the rights of its task. */
interface Narrowing {
  readonly task: string;
  /** The page that has the unit. */
  readonly page: string;
  /** Flags of the task that have another form in the unit. */
  readonly flags: Readonly<Record<string, string>>;
}

const AT = "/opt/payment-platform";
const DIRECTORY_AT = "/opt/participants-directory";

/** The services, each with its page. */
export const SERVICES: readonly Narrowing[] = [
  {
    task: "serve",
    page: "docs/operations/deployment.md",
    flags: {
      "--allow-read": `--allow-read=${AT}/.env,/etc/payment-platform,/var/lib/payment-platform`,
      "--allow-write": "--allow-write=/var/lib/payment-platform",
    },
  },
  {
    task: "directory",
    page: "docs/operations/directory.md",
    flags: {
      "--allow-net": "--allow-net=127.0.0.1:8090,127.0.0.1:8091",
      "--allow-read":
        `--allow-read=${DIRECTORY_AT}/.env,/etc/participants-directory,/var/lib/participants-directory`,
      "--allow-write": "--allow-write=/var/lib/participants-directory",
    },
  },
];

/**
 * @param command of the task
 * @returns the line. systemd reads the environment file itself, and a service loads no code from elsewhere.
 */
export function execStart(command: string, flags: Narrowing["flags"]): string {
  const [program, run, ...words] = command.split(" ");
  if (program !== "deno" || run !== "run") throw new Error(`${command} is not a task that runs a program`);
  const missing = Object.keys(flags).filter((flag) => !words.some((word) => flagOf(word) === flag));
  if (missing.length > 0) throw new Error(`the task has no ${missing.join(", ")}`);
  const kept = words.filter((word) => word !== "--env-file").map((word) => flags[flagOf(word)] ?? word);
  return ["ExecStart=/usr/local/bin/deno run --cached-only", ...kept].join(" ");
}

/** The page with the line of its unit. */
export function withExecStart(page: string, line: string): string {
  const units = page.match(/^ExecStart=.*$/gm)?.length ?? 0;
  if (units !== 1) throw new Error(`the page has ${units} units`);
  return page.replace(/^ExecStart=.*$/m, () => line);
}

function flagOf(word: string): string {
  return word.split("=")[0] ?? word;
}
