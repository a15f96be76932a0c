/** A copy of the database, taken while payments run, is a database that the platform serves from. */
import { DatabaseSync } from "node:sqlite";
import { assertEquals } from "@std/assert";
import { authorised, call, good, pay } from "../support/flows.ts";
import { freePort, startPlatform } from "../support/served_platform.ts";
import { asTheProxy, openServedWorld } from "../support/served_world.ts";

Deno.test("serve is backed up by VACUUM INTO while it runs, and starts again from the copy", async () => {
  await using world = await openServedWorld();
  const flow = await authorised(world);
  const payment = await good(pay(world, flow), 201);
  const copy = `${world.ground.folder}/copy.kv`;
  const database = new DatabaseSync(`${world.ground.folder}/platform.kv`, { readOnly: true });
  database.exec(`VACUUM INTO '${copy}'`);
  database.close();
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
