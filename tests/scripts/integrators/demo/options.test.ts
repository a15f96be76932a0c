import { assertEquals, assertThrows } from "@std/assert";
import { UsageError } from "../../../../scripts/command_line/run.ts";
import { readOptions } from "../../../../scripts/integrators/demo/options.ts";

Deno.test("readOptions without arguments: explicit consent on the platform's page, profile b", () => {
  assertEquals(readOptions([]), {
    consent: "platform",
    reject: false,
    dispute: false,
    json: false,
    profile: "b",
  });
});

Deno.test("readOptions reads every option, in both spellings of a value", () => {
  const expected = { consent: "bank", reject: true, dispute: true, json: true, profile: "a" } as const;
  assertEquals(
    readOptions(["--consent", "bank", "--refuse", "--dispute", "--json", "--profile", "a"]),
    expected,
  );
  assertEquals(readOptions(["--consent=bank", "--profile=a", "--dispute", "--json", "--refuse"]), expected);
});

Deno.test("readOptions rejects what it does not know", () => {
  for (
    const args of [["--fast"], ["now"], ["--consent"], ["--consent", "nobody"], ["--profile=c"], [
      "--json=yes",
    ]]
  ) {
    assertThrows(() => readOptions(args), UsageError);
  }
});
