/** The limit of connections, for listeners in which several wait for a place at once (Node and Bun). */
import { assertEquals } from "@std/assert";
import { type Connection, openConnectionTable } from "../../../src/base/http/connection_table.ts";

Deno.test("of many that wait, one gets each place that becomes free, in the order in which they came", async () => {
  const table = openConnectionTable(3, { header: 1000, idle: 1000 });
  const open: Connection[] = [];
  const entered: number[] = [];
  const enter = async (name: number): Promise<void> => {
    await table.room();
    const connection = table.add({ close: () => {}, cut: () => {} });
    connection.began();
    open.push(connection);
    entered.push(name);
  };
  const all = [1, 2, 3, 4, 5, 6, 7, 8].map(enter);
  await turns();
  assertEquals([table.size(), entered], [3, [1, 2, 3]]);
  for (let name = 4; name <= 8; name++) {
    open.shift()?.closed();
    await turns();
    assertEquals([table.size(), entered.at(-1), entered.length], [3, name, name]);
  }
  await Promise.all(all);
  for (const connection of open) connection.closed();
  assertEquals(table.size(), 0);
  await table.closeAll();
});

/** Longer than any continuation of a waiting caller takes. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
}
