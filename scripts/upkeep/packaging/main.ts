/** Writes the commands of the units and the images in `packaging`, from the tasks in `deno.json`. */
import { ROOT } from "../sources/source_files.ts";

interface Tasks {
  readonly tasks: Readonly<Record<string, { readonly command: string }>>;
}

/** Where a service runs, and what it is given in place of the rights of its task. */
interface Service {
  readonly task: string;
  /** The file with the command. */
  readonly file: string;
  /** Flags of the task that have another form here. */
  readonly flags: Readonly<Record<string, string>>;
  /** What follows the program. */
  readonly args?: readonly string[];
  /** Flags that the task does not have. */
  readonly more?: readonly string[];
  /** Variables of systemd, beside those of the task. */
  readonly variables?: readonly string[];
  /** A program of an image begins with this instruction, the only one of its stage. */
  readonly stage?: string;
}

const CONTAINERFILE = "packaging/container/Containerfile";

export const SERVICES: readonly Service[] = [
  {
    task: "serve",
    file: "packaging/systemd/payment-platform.service",
    flags: {
      "--allow-read":
        "--allow-read=/opt/payment-platform/.env,/etc/payment-platform,/var/lib/payment-platform,/run/platform-signer,%d,/run/%N,/run/systemd/notify",
      "--allow-write":
        "--allow-write=/var/lib/payment-platform,/run/platform-signer/signer.sock,/run/%N,/run/systemd/notify",
    },
    more: ["--unstable-net"], // sockets for datagrams
    variables: ["NOTIFY_SOCKET", "WATCHDOG_USEC", "RUNTIME_DIRECTORY", "STATE_DIRECTORY"],
  },
  {
    task: "signer",
    file: "packaging/systemd/platform-signer.service",
    flags: {
      "--allow-net": "--allow-net=unix:/run/platform-signer/signer.sock",
      "--allow-read": "--allow-read=/etc/platform-signer,/run/platform-signer,%d",
      "--allow-write": "--allow-write=/run/platform-signer",
    },
    args: [
      "serve",
      "--module=/usr/lib/softhsm/libsofthsm2.so",
      "--token=platform=%d/pin",
      "--file=/etc/platform-signer/platform-keys.json",
      "--socket=/run/platform-signer/signer.sock",
    ],
  },
  {
    task: "directory",
    file: "packaging/systemd/participants-directory.service",
    flags: {
      "--allow-net": "--allow-net=127.0.0.1:8090,127.0.0.1:8091",
      "--allow-read":
        "--allow-read=/opt/participants-directory/.env,/etc/participants-directory,/var/lib/participants-directory,/run/directory-signer,%d",
      "--allow-write": "--allow-write=/var/lib/participants-directory,/run/directory-signer",
    },
  },
  {
    task: "serve",
    file: CONTAINERFILE,
    stage: "platform",
    flags: {
      "--allow-read": "--allow-read=/etc/payment-platform,/run/secrets,/var/lib/payment-platform",
      "--allow-write": "--allow-write=/var/lib/payment-platform",
    },
  },
  {
    task: "directory",
    file: CONTAINERFILE,
    stage: "directory",
    flags: {
      "--allow-read": "--allow-read=/etc/participants-directory,/run/secrets,/var/lib/participants-directory",
      "--allow-write": "--allow-write=/var/lib/participants-directory",
    },
  },
];

/**
 * @param command of the task
 * @returns the words of the command. The environment comes from outside, and a service loads no code from elsewhere.
 */
export function serviceCommand(
  command: string,
  { flags, args = [], more = [], variables = [] }: Pick<Service, "flags" | "args" | "more" | "variables">,
): string[] {
  const [program, run, ...words] = command.split(" ");
  if (program !== "deno" || run !== "run") throw new Error(`${command} is not a task that runs a program`);
  const missing = Object.keys(flags).filter((flag) => !words.some((word) => flagOf(word) === flag));
  if (missing.length > 0) throw new Error(`the task has no ${missing.join(", ")}`);
  const kept = words.filter((word) => word !== "--env-file" && word !== "--quiet").map((word) =>
    flags[flagOf(word)] ?? word
  );
  const all = kept.map((word) => flagOf(word) === "--allow-env" ? [word, ...variables].join(",") : word);
  return ["/usr/local/bin/deno", "run", "--cached-only", ...more, ...all, ...args];
}

/** The text of the file with this command in its one place. */
export function withCommand(text: string, { file, stage }: Service, words: readonly string[]): string {
  const place = stage === undefined
    ? /^()ExecStart=.*$/gm
    : RegExp(`^(FROM [^\\n]* AS ${stage}\\n(?:(?!FROM )[^\\n]*\\n)*?)ENTRYPOINT [^\\n]*$`, "gm");
  const places = text.match(place)?.length ?? 0;
  if (places !== 1) throw new Error(`${file} has ${places} places for the command`);
  const line = stage === undefined ? `ExecStart=${words.join(" ")}` : `ENTRYPOINT ${JSON.stringify(words)}`;
  return text.replace(place, (_, before: string) => before + line);
}

function flagOf(word: string): string {
  return word.split("=")[0] ?? word;
}

if (import.meta.main) {
  const { tasks } = JSON.parse(await Deno.readTextFile(`${ROOT}deno.json`)) as Tasks;
  for (const service of SERVICES) {
    const { task, file } = service;
    const words = serviceCommand(tasks[task]?.command ?? "", service);
    await Deno.writeTextFile(ROOT + file, withCommand(await Deno.readTextFile(ROOT + file), service, words));
  }
}
