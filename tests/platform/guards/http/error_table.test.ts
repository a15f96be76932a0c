/** What each reason answers on each surface, all of it, as `error_table.txt` beside this file says. */
import { assertEquals } from "@std/assert";
import { BUG_WIRE, ERROR_TABLE, type Wire } from "../../../../src/platform/guards/http/error_table.ts";

const TABLE = new URL("error_table.txt", import.meta.url);

/** `silent` stands for an answer without a message. */
function writeWire(reason: string, { oauth, resource, page }: Wire): string {
  const { status, error, description } = oauth;
  const parts = [`${reason}: ${status} ${error}${description === "" ? " silent" : ""}`];
  if (resource !== undefined) {
    const { message, status, ...members } = resource;
    const words = Object.entries(members).map(([name, value]) => `${name}=${value}`).toSorted();
    parts.push(["resource", status, ...words, ...(message === "" ? ["silent"] : [])].join(" "));
  }
  if (page !== undefined) parts.push(`page ${page.status} ${page.page}`);
  return parts.join(", ");
}

Deno.test("every reason has its status, code and challenge on each surface [C3]", async () => {
  const found = Object.entries<Wire>({ ...ERROR_TABLE, "(a bug)": BUG_WIRE }).map(([reason, wire]) =>
    writeWire(reason, wire)
  );
  if (Deno.env.has("WRITE_OUTLINE")) await Deno.writeTextFile(TABLE, `${found.join("\n")}\n`);
  const expected = (await Deno.readTextFile(TABLE)).split("\n").filter((line) => line !== "");
  assertEquals(found, expected);
});
