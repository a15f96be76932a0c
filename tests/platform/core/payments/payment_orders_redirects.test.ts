/** An order goes where the statement says and nowhere else: over real HTTP, since only a real fetch follows redirects [D4]. */
import { assertEquals } from "@std/assert";
import { openPushEnvironment, outboxOrder, paid, type Push } from "support/orders.ts";

Deno.test("POST domestic-payments follows no redirect of the bank, whatever its status [D4, SSRF]", async (t) => {
  let reached = 0;
  await using elsewhere = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, () => {
    reached++;
    return Response.json({ Status: "AcceptedSettlementInProcess" });
  });
  let status = 0;
  await using bank = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    await request.text();
    return new Response(null, { status, headers: { location: `http://127.0.0.1:${elsewhere.addr.port}/` } });
  });
  const toBank = ({ method, headers, body, signal, redirect }: Push): Promise<Response> =>
    fetch(`http://127.0.0.1:${bank.addr.port}/`, { method, headers, body, signal, redirect });
  await using env = await openPushEnvironment(toBank);
  for (status of [301, 302, 303, 307, 308]) {
    await t.step(String(status), async () => {
      const made = await paid(env);
      assertEquals([made.Status, reached], ["Pending", 0]);
      const order = await outboxOrder(env, made.DomesticPaymentId);
      assertEquals([order?.failures, order?.lastFailure], [1, `status ${status}`]);
    });
  }
});
