/** A copy of the database, taken while payments run, is a database that the platform serves from. */
import { assertEquals } from "@std/assert";
import { authorised, call, good, pay } from "../support/flows.ts";
import { freePort, startPlatform } from "../support/served_platform.ts";
import { asTheProxy, openServedWorld } from "../support/served_world.ts";

Deno.test("serve is backed up by VACUUM INTO while it runs, and starts again from the copy", async () => {
  await using world = await openServedWorld();
  const flow = await authorised(world);
  const payment = await good(pay(world, flow), 201);
  const copy = `${world.ground.folder}/copy.kv`;
  await vacuumInto(`${world.ground.folder}/platform.kv`, copy);
  const later = await good(pay(world, await authorised(world)), 201);

  world.process.kill("SIGKILL");
  await world.process.ended;
  const port = String(freePort());
  const restored = await startPlatform(world.ground.folder, {
    ...world.ground.env,
    STORE_URL: copy,
    PORT: port,
  });
  try {
    await restored.ready;
    const api = asTheProxy(port);
    const read = (id: string): Promise<Response> =>
      call({ ...world, now: Date.now(), api }, world.tpp, flow.bound, `/BANKA/domestic-payments/v1/${id}`);
    const { Data } = await good(read(payment.Data.DomesticPaymentId), 200);
    assertEquals([Data.ConsentId, Data.Status], [flow.consentId, "AcceptedSettlementInProcess"]);
    assertEquals((await read(later.Data.DomesticPaymentId)).status, 400, "made after the copy");
  } finally {
    restored.kill("SIGTERM");
    assertEquals((await restored.ended).code, 0);
  }
});

/** As the sqlite3 command does it. A process of its own, since Deno attaches databases only with every permission. */
async function vacuumInto(path: string, copy: string): Promise<void> {
  const code = `import { DatabaseSync } from "node:sqlite";
    const database = new DatabaseSync(${JSON.stringify(path)}, { readOnly: true });
    database.exec("VACUUM INTO '${copy}'");
    database.close();`;
  const { success, stderr } = await new Deno.Command(Deno.execPath(), { args: ["eval", "--quiet", code] })
    .output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}
