/** On PostgreSQL, neither the database nor a dump has the payer's data after an erasure, and reports still work. */
import { assert, assertEquals } from "@std/assert";
import { openConnections } from "../../../../src/base/store/postgres/connections.ts";
import { openPostgresStore } from "../../../../src/base/store/postgres/postgres_store.ts";
import { readPostgresUrl } from "../../../../src/base/store/postgres/settings.ts";
import { authorised } from "testing/authorization_flow.ts";
import { putStatus } from "testing/back_channel.ts";
import { openEnvironment } from "testing/environment.ts";
import { good, pay } from "testing/flows.ts";
import { isPostgresMissing, newPostgresDatabase } from "support/postgres.ts";
import { BODY, erase, PERSONAL } from "support/personal_case.ts";
import { heldIn } from "support/raw_bytes.ts";

Deno.test({
  name:
    "after an erasure no row of PostgreSQL has the payer's data, nor had one before, and reports work [EN12]",
  ignore: isPostgresMissing,
  async fn() {
    const url = await newPostgresDatabase();
    const connections = await openConnections(readPostgresUrl(url));
    const store = openPostgresStore(connections);
    await using env = await openEnvironment({ store, environment: { PLATFORM_KEEP_CASES_DAYS: "1" } });
    const flow = await authorised(env, { body: BODY });
    const { DomesticPaymentId: id } = (await good(pay(env, flow), 201)).Data;
    await good(putStatus(env, env.bankA, id, "AcceptedSettlementCompleted"), 200);
    const rows = async (): Promise<Uint8Array> => {
      const all = await connections.run((sql) =>
        sql`select key::text, value::text as value from hub.entry
          union all select 'consent', row::text from reporting.consent as row
          union all select 'payment', row::text from reporting.payment as row
          union all select 'order', row::text from reporting.payment_order as row
          union all select 'event', row::text from reporting.event as row`
      );
      assert(
        new Set(["consent", "payment", "order", "event"]).isSubsetOf(new Set(all.map(({ key }) => key))),
      );
      return new TextEncoder().encode(all.map(({ key, value }) => `${key} ${value}`).join("\n"));
    };
    const consents = (): Promise<unknown> =>
      connections.run((sql) =>
        sql`select amount::text, currency, names_debtor_account as named from reporting.consent`
      );
    const payments = (): Promise<unknown> =>
      connections.run((sql) => sql`select amount::text, currency from reporting.payment`);
    assertEquals(heldIn(await rows(), PERSONAL), []);
    const sum = { amount: "165.88", currency: "EUR" };
    assertEquals(JSON.stringify(await consents()), JSON.stringify([{ ...sum, named: true }]));
    env.now += 1000;
    await env.platform.growLog();
    await env.platform.followTime();
    env.now += 86_400_000;
    await env.platform.followTime();
    await good(erase(env, id), 200);
    assertEquals(heldIn(await rows(), PERSONAL), []);
    assertEquals(JSON.stringify(await payments()), JSON.stringify([sum]));
  },
});
