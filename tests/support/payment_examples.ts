/** The examples of the first payment in other languages than TypeScript, and how a machine runs them. */

/** A command with its first arguments. */
type Command = readonly [program: string, ...args: string[]];

/** An example and how it is run. */
export interface PaymentExample {
  readonly language: string;
  readonly file: string;
  /** As the example's first lines say. */
  readonly command: Command;
  /** Each must succeed, else the language is missing. */
  readonly needs: readonly Command[];
  /** Debian's packages of what is needed. */
  readonly packages: readonly string[];
  /** Compiles the example for many runs. The command's arguments may name `{dir}`. */
  readonly compile?: Command;
  readonly compiled?: Command;
  /** The customer brings back the address to standard input, because a shell cannot listen at the redirect URL. */
  readonly isAddressPasted?: true;
  /** A payment takes several times as long as in the other languages. */
  readonly isSlow?: true;
}

/** Debian's, which has its packages. */
export const PYTHON = "/usr/bin/python3";

export const PAYMENT_EXAMPLES: readonly PaymentExample[] = [
  {
    language: "bash",
    file: "examples/first_payment.sh",
    command: ["bash", "examples/first_payment.sh"],
    needs: [["curl", "--version"], ["openssl", "version"], ["jq", "--version"]],
    packages: ["curl", "openssl", "jq"],
    isAddressPasted: true,
    isSlow: true,
  },
  {
    language: "Python",
    file: "examples/first_payment.py",
    command: ["env", "REQUESTS_CA_BUNDLE=/etc/hostname", PYTHON, "examples/first_payment.py"],
    needs: [[PYTHON, "-c", "import jwcrypto, requests"]],
    packages: ["python3-jwcrypto", "python3-requests"],
  },
  {
    language: "Go",
    file: "examples/first_payment.go",
    command: ["go", "run", "examples/first_payment.go"],
    needs: [["go", "version"]],
    packages: ["golang-go"],
    compile: ["go", "build", "-o", "{dir}/first_payment", "examples/first_payment.go"],
    compiled: ["{dir}/first_payment"],
  },
  {
    language: "Java",
    file: "examples/FirstPayment.java",
    command: ["java", "examples/FirstPayment.java"],
    needs: [["javac", "--version"]],
    packages: ["default-jdk-headless"],
    compile: ["javac", "-Xlint:all,-serial", "-Werror", "-d", "{dir}", "examples/FirstPayment.java"],
    compiled: ["java", "-XX:TieredStopAtLevel=1", "-cp", "{dir}", "FirstPayment"],
    isSlow: true,
  },
];

const root = new URL("../../", import.meta.url).pathname;

/** Returns whether the example can run here. Prints a warning if not. */
export function canRun(
  { language, needs, packages }: Pick<PaymentExample, "language" | "needs" | "packages">,
): boolean {
  if (needs.every(succeeds)) return true;
  const words = `\n*** SKIPPED: nothing was paid in ${language}, install ${packages.join(", ")} ***\n\n`;
  Deno.stdout.writeSync(new TextEncoder().encode(words));
  return false;
}

function succeeds([program, ...args]: Command): boolean {
  try {
    return new Deno.Command(program, { args, stdout: "null", stderr: "null" }).outputSync().success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** How an example ended. */
export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** An example that is ready to run against the sandbox of `dir`. */
export interface ReadyExample {
  readonly isSlow: boolean;
  /** Runs it to its end. `onLink` answers the customer's link with the address to which the browser is sent. */
  run(args: readonly string[], onLink?: (link: URL) => Promise<URL> | URL): Promise<Ended>;
  /** The same with the command that the example's first lines name. */
  runAsWritten: ReadyExample["run"];
}

/** Compiles the example if its language is compiled. */
export async function prepare(example: PaymentExample, dir: string): Promise<ReadyExample> {
  const inDir = (command: Command): Command =>
    command.map((word) => word.replace("{dir}", dir)) as [string, ...string[]];
  if (example.compile) {
    const { success, stderr } = await new Deno.Command(...options(inDir(example.compile), dir)).output();
    if (!success) throw new Error(new TextDecoder().decode(stderr));
  }
  const written = example.command;
  const fast = example.compiled ? inDir(example.compiled) : written;
  const runWith = (command: Command): ReadyExample["run"] => async (args, onLink) =>
    await run(example, [...command, ...args], dir, onLink);
  return { isSlow: example.isSlow === true, run: runWith(fast), runAsWritten: runWith(written) };
}

function options([program, ...args]: Command, dir: string): [string, Deno.CommandOptions] {
  return [program, { args, cwd: root, env: { SANDBOX_DIR: dir }, stdout: "piped", stderr: "piped" }];
}

async function run(
  { isAddressPasted }: PaymentExample,
  command: Command,
  dir: string,
  onLink?: (link: URL) => Promise<URL> | URL,
): Promise<Ended> {
  const [program, settings] = options(command, dir);
  const child = new Deno.Command(program, { ...settings, stdin: "piped" }).spawn();
  const stderr = new Response(child.stderr).text();
  const input = child.stdin.getWriter();
  let stdout = "";
  let visit: Promise<void> | undefined;
  const bringBack = async (link: URL): Promise<void> => {
    const back = await onLink?.(link) ?? link;
    if (isAddressPasted) await input.write(new TextEncoder().encode(`${back.href}\n`));
    else await (await fetch(back)).body?.cancel();
  };
  for await (const part of child.stdout.pipeThrough(new TextDecoderStream())) {
    stdout += part;
    const link = /^http\S+authorization\.oauth2\S+(?=\n)/m.exec(stdout)?.[0];
    if (link === undefined) continue;
    // An example that stops may end the browser's connection. One that goes on without the browser waits for ever.
    visit ??= bringBack(new URL(link)).catch((error) => void (stdout += `browser: ${error}\n`));
  }
  await visit;
  await input.close().catch(() => {}); // it may have ended without reading
  return { code: (await child.status).code, stdout, stderr: await stderr };
}
