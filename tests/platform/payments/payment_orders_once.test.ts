/** A POST of the platform whose connection ends without a response, over real connections [D4]. */
import { assertEquals } from "@std/assert";
import { decodeJwt } from "jose";
import { openKeyRing } from "../../../src/base/jose/key_ring.ts";
import { paymentRecord } from "../../../src/platform/payments/stored_payment.ts";
import { pushOrder } from "../../../src/platform/payments/push_order.ts";
import { askBank } from "../../../src/platform/recovery/ask_bank.ts";
import { NOTHING_COMPARED } from "../../../src/platform/recovery/hold.ts";
import { AUTH_URL, openEnvironment, START } from "testing/environment.ts";
import { outboxKeys, paid } from "support/orders.ts";

/** A bank that answers the first POST of a connection and keeps it, then reads the second and closes it in silence. */
interface SilentBank extends Disposable {
  readonly uri: string;
  /** Ids of the JWTs that have arrived. */
  readonly arrived: string[];
  /** Whether it closes every connection in silence. */
  closes: boolean;
}

function openSilentBank(): SilentBank {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const open = new Set<Deno.Conn>();
  const bank: SilentBank = {
    uri: `http://127.0.0.1:${listener.addr.port}/orders`,
    arrived: [],
    closes: false,
    [Symbol.dispose]() {
      listener.close();
      for (const connection of open) connection.close();
    },
  };
  const serve = async (connection: Deno.Conn): Promise<void> => {
    open.add(connection);
    for (let answered = 0;; answered++) {
      const body = await readBody(connection);
      if (body === undefined) break;
      bank.arrived.push(String(decodeJwt(body).jti));
      if (bank.closes || answered > 0) break;
      const answer = `{"Status":"AcceptedSettlementInProcess"}`;
      const head = `HTTP/1.1 200 OK\r\ncontent-length: ${answer.length}\r\n\r\n`;
      await connection.write(new TextEncoder().encode(head + answer));
    }
    if (open.delete(connection)) connection.close();
  };
  void (async () => {
    for await (const connection of listener) void serve(connection).catch(() => {});
  })();
  return bank;
}

/** Returns the body of the next request, or undefined at the end of the connection. */
async function readBody(connection: Deno.Conn): Promise<string | undefined> {
  const buffer = new Uint8Array(65_536);
  for (let text = "";;) {
    const read = await connection.read(buffer);
    if (read === null) return undefined;
    text += new TextDecoder().decode(buffer.subarray(0, read));
    const [head = "", body] = text.split("\r\n\r\n");
    if (body !== undefined && body.length >= Number(/content-length: (\d+)/i.exec(head)?.[1])) return body;
  }
}

Deno.test("a POST to a bank arrives once, whether the bank keeps the connection or ends it without a response [D4]", async (t) => {
  await using env = await openEnvironment();
  const { DomesticPaymentId: id } = await paid(env);
  assertEquals(await outboxKeys(env), []);
  const entry = await paymentRecord.get(env.store, ["payment", id]);
  if (entry === null) throw new Error("no payment");
  const { signer } = await openKeyRing(env.config.platformKeys);
  const deps = { fetch, signer, ownKey: () => undefined, authUrl: AUTH_URL, loopbackBanks: true };
  const hold = { bank: entry.value.bank, epoch: "", restoredAt: 0, since: 0, comparison: NOTHING_COMPARED };
  const posts = {
    "an order": async (uri: string) => (await pushOrder(deps, uri, entry.value, START)).outcome.ok,
    "an inquiry": async (uri: string) => (await askBank(deps, uri, hold, START)).ok,
  };
  for (const [name, post] of Object.entries(posts)) {
    await t.step(name, async () => {
      using bank = openSilentBank();
      assertEquals([await post(bank.uri), await post(bank.uri), await post(bank.uri)], [true, true, true]);
      assertEquals([bank.arrived.length, new Set(bank.arrived).size], [3, 3]);
      bank.closes = true;
      assertEquals(await post(bank.uri), false);
      assertEquals([bank.arrived.length, new Set(bank.arrived).size], [4, 4]);
    });
  }
});
