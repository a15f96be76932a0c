/** The options of the commands: which command lines are read, and the message for the others. */
import { assertEquals, assertThrows } from "@std/assert";
import { readFile } from "node:fs/promises";
import { describeError, optionsOf, UsageError } from "../../../scripts/command_line/run.ts";

Deno.test("optionsOf reads values in both spellings, and switches", () => {
  const read = (...args: readonly string[]): unknown => ({ ...optionsOf(args, ["seed", "only"], ["json"]) });
  assertEquals(read(), {});
  assertEquals(read("--seed", "7", "--json"), { seed: "7", json: true });
  assertEquals(read("--seed=7", "--only", "a b", "--only=c=d"), { seed: "7", only: "c=d" });
});

Deno.test("optionsOf reads a hash that begins with a dash, and takes no other text for one", () => {
  const kid = `-${"a_b-".repeat(7)}`.slice(0, 27);
  for (const one of [kid, `--${kid.slice(2)}`, `-${"k".repeat(42)}`]) {
    assertEquals({ ...optionsOf(["--kid", one, "--tpp", one], ["kid", "tpp"]) }, { kid: one, tpp: one });
    assertEquals({ ...optionsOf([`--kid=${one}`], ["kid"]) }, { kid: one });
  }
  const long = "an-option-of-25-characters";
  for (const other of ["--reason", "-x", `--${long.slice(0, 25)}`]) {
    const names = ["kid", "reason", long.slice(0, 25)] as const;
    assertThrows(() => optionsOf(["--kid", other], names), UsageError, "--kid", other);
  }
});

Deno.test("optionsOf rejects unknown options, missing values and other arguments", () => {
  const wrong = {
    "--sed 7": "Unknown option '--sed'",
    "--seed": "--seed",
    "--seed --json": "--seed",
    "--json=yes": "--json",
    "seed 7": "seed",
  };
  for (const [line, message] of Object.entries(wrong)) {
    assertThrows(() => optionsOf(line.split(" "), ["seed"], ["json"]), UsageError, message, line);
  }
});

Deno.test("the message about a file that does not exist names it, however it is read", async () => {
  const reads = [Deno.readFile, Deno.readTextFile, readFile];
  const said = await Promise.all(reads.map((read) => read("none/a.json").catch(describeError)));
  assertEquals(said, reads.map(() => "The file none/a.json does not exist."));
});
