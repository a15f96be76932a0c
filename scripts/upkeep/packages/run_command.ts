/** `npx @payment-initiation/cli <command>`: runs a command of the package on Node, by the Deno that the package depends on. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { constants } from "node:os";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { PackagedCommand } from "./cli_package.ts";

const commands = JSON.parse(
  readFileSync(new URL("./commands.json", import.meta.url), "utf8"),
) as Readonly<Record<string, PackagedCommand>>;
const [, , name = "", ...args] = process.argv;
const command = Object.hasOwn(commands, name) ? commands[name] : undefined;

if (command === undefined) {
  const list = Object.entries(commands).map(([each, { description }]) =>
    `  ${each.padEnd(12)} ${description}`
  );
  process.stderr.write(`npx @payment-initiation/cli <command> [options]\n\n${list.join("\n")}\n`);
  process.exitCode = name === "--help" ? 0 : 2;
} else {
  const { runInstall } = createRequire(import.meta.url)("deno/install_api.cjs") as {
    runInstall: () => string;
  };
  const file = fileURLToPath(new URL(command.file, import.meta.url));
  const own = ["run", "--no-config", "--no-lock", "--unstable-kv"];
  const child = spawn(runInstall(), [...own, ...command.flags, file, ...args], { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
  child.on("error", ({ message }) => {
    process.stderr.write(`Deno cannot be started: ${message}\n`);
    process.exitCode = 1;
  });
  child.on("exit", (code, signal) => {
    process.exitCode = code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
  });
}
