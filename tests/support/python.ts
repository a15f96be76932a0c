/** Runs the examples in Python with the packages of Debian. */
import { type Running, startProcess } from "./own_bank.ts";

const PYTHON = "/usr/bin/python3";
const PACKAGES = ["jwcrypto", "requests"];
const root = new URL("../../", import.meta.url).pathname;

/** Returns whether Python and the packages of the examples are installed. Prints a warning if not. */
export function isPythonThere(): boolean {
  try {
    const args = ["-c", `import ${PACKAGES.join(", ")}`];
    if (new Deno.Command(PYTHON, { args, stderr: "null" }).outputSync().success) return true;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  const words = `\n*** SKIPPED: nothing was run in Python, ${PACKAGES.join(" or ")} is missing ***\n\n`;
  Deno.stdout.writeSync(new TextEncoder().encode(words));
  return false;
}

/** Returns the command that runs a file with the sandbox of `dir`. */
export function pythonCommand(dir: string, line: string): Deno.Command {
  const options = { cwd: root, env: { SANDBOX_DIR: dir }, stdout: "piped", stderr: "piped" } as const;
  return new Deno.Command(PYTHON, { args: line.split(" "), ...options });
}

/** Starts `examples/first_payment.py` as the participant `mine`. */
export function startPythonPayment(dir: string, bankCode: string): Running {
  const line = `examples/first_payment.py ${dir}/participants/mine ${bankCode}`;
  return startProcess(line, pythonCommand(dir, line));
}
