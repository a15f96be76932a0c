/** A POST from Node or Bun whose connection ends without a response [D4]. Runs with `PLATFORM_RUNTIME` alone. */
import { assertEquals } from "@std/assert";
import { otherProgram } from "testing/other_runtime.ts";
import { openSilentBank } from "support/silent_bank.ts";

const posting = new URL("node_fetch_process.ts", import.meta.url).pathname;

if (otherProgram !== undefined) {
  Deno.test("a POST from another runtime arrives once, whether the bank keeps the connection or ends it [D4]", async () => {
    using bank = openSilentBank();
    const post = async (body: string): Promise<string> => {
      const command = new Deno.Command(otherProgram ?? "", { args: [posting, bank.uri, body] });
      return new TextDecoder().decode((await command.output()).stdout);
    };
    assertEquals(await post("one"), "200 200 200\n");
    assertEquals(bank.arrived, ["one 1", "one 2", "one 3"]);
    bank.closes = true;
    assertEquals(await post("two"), "TypeError TypeError TypeError\n");
    assertEquals(bank.arrived.slice(3), ["two 1", "two 2", "two 3"]);
  });
}
