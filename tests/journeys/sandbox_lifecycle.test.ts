/** `deno task start` through its life: first start, rejected starts, a crash, a second start, a clean stop [F1, F2]. */
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { disputePayment } from "../../scripts/integrators/demo/dispute.ts";
import { makePayment } from "../../scripts/integrators/demo/payment.ts";
import { grantClientToken } from "../../src/client/tpp/authorization.ts";
import { readPayment } from "../../src/client/tpp/domestic_payments.ts";
import { emptyMessageLog } from "../../src/client/tpp/message_log.ts";
import { openFlow } from "../../src/client/tpp/payment_journey.ts";
import type { Endpoints } from "../../src/sandbox/ecosystem/ecosystem.ts";
import { readEndpoints } from "../../src/sandbox/shop/sandbox_endpoints.ts";
import { openTpp, type Tpp } from "../../src/client/tpp/tpp.ts";
import { freeSandboxPorts } from "../../scripts/command_line/free_ports.ts";
import { startSandbox } from "support/sandbox_process.ts";

async function asShop<T>(dir: string, act: (shop: Tpp) => Promise<T>): Promise<T> {
  const endpoints = await readEndpoints(dir);
  if (endpoints === undefined) throw new Error("there is no endpoints.json");
  const shop = await openTpp({ dir, name: "shop", endpoints, redirectUri: `${endpoints.shop_url}/callback` });
  try {
    return await act(shop);
  } finally {
    shop.close();
  }
}

function statusOf(dir: string, paymentId: string): Promise<string> {
  return asShop(dir, async (shop) => {
    const flow = await openFlow(shop, "BANKA", emptyMessageLog());
    return (await readPayment(flow, await grantClientToken(flow), paymentId)).status;
  });
}

Deno.test("a sandbox starts, rejects a second start, survives a crash, and stops cleanly [F1, F2]", async (t) => {
  const dir = `${await Deno.makeTempDir()}/sandbox`;
  const port = freeSandboxPorts();
  const env = { SANDBOX_DIR: dir, SANDBOX_PORT: String(port) };
  let sandbox = startSandbox(env);
  let paymentId = "";
  try {
    await t.step("first start makes everything and says what to open", async () => {
      const output = await sandbox.ready;
      for (const word of [`http://localhost:${port + 4}`, "alice", "sandbox", "123456", dir]) {
        assert(output.includes(word));
      }
      const { directory_admin_token, ...endpoints } = JSON.parse(
        await Deno.readTextFile(`${dir}/endpoints.json`),
      ) as Endpoints;
      assertMatch(directory_admin_token, /^[A-Za-z0-9_-]{43}$/);
      assertEquals(endpoints, {
        base_url: `https://localhost:${port}`,
        auth_url: `http://localhost:${port + 1}`,
        directory_url: `http://localhost:${port + 2}`,
        banks_url: `http://localhost:${port + 3}`,
        shop_url: `http://localhost:${port + 4}`,
        operations_url: `http://localhost:${port + 5}`,
        registration_audience: `http://localhost:${port + 2}/registration-audience`,
      });
    });

    await t.step("a second start on the directory is rejected in one sentence", async () => {
      const second = await startSandbox({ ...env, SANDBOX_PORT: String(freeSandboxPorts()) }).ended;
      assertEquals([second.code, second.stdout], [1, ""]);
      assertMatch(second.stderr, /^A sandbox already runs on the directory [^\n]+\n$/);
    });

    await t.step("a start on used ports is rejected in one sentence", async () => {
      const other = await startSandbox({ SANDBOX_DIR: `${dir}-other`, SANDBOX_PORT: String(port - 2) }).ended;
      assertEquals([other.code, other.stdout], [1, ""]);
      assertMatch(other.stderr, new RegExp(`^Port ${port} is already in use: [^\\n]+\\n$`));
    });

    await t.step("a payment succeeds after both", async () => {
      const options = { consent: "implicit", reject: false, json: false, profile: "b" } as const;
      const outcome = await asShop(dir, (shop) => makePayment(shop, options, () => {}));
      assertEquals([outcome.ok, outcome.paymentStatus], [true, "AcceptedSettlementInProcess"]);
      paymentId = outcome.paymentId ?? "";
    });

    await t.step("kill -9 loses no payment", async () => {
      sandbox.kill("SIGKILL");
      await sandbox.ended;
      sandbox = startSandbox(env);
      const output = await sandbox.ready;
      assert(!output.includes("First start"));
      assertMatch(await statusOf(dir, paymentId), /^AcceptedSettlement/);
    });

    await t.step("its TPP and its bank dispute it, and the TPP gets the evidence [DSP2] [EV17]", async () => {
      const endpoints = await readEndpoints(dir);
      if (endpoints === undefined) throw new Error("there is no endpoints.json");
      const told: string[] = [];
      const payment = { bank: "BANKA", paymentId };
      const sandboxParts = { dir, endpoints, now: Date.now };
      await asShop(
        dir,
        (shop) => disputePayment(shop, payment, sandboxParts, ({ text }) => void told.push(text)),
      );
      assertMatch(
        told.join("\n"),
        /Open, an answer is due[\s\S]*Answered[\s\S]*TPP: .*Bank: It was credited/,
      );
      assertMatch(told.at(-1) ?? "", /^evidence: a bundle of \d{5,} characters/);
    });

    await t.step("SIGTERM stops cleanly", async () => {
      sandbox.kill("SIGTERM");
      const { code, stderr } = await sandbox.ended;
      assertEquals([code, stderr], [0, ""]);
      await assertRejects(() => Deno.stat(`${dir}/endpoints.json`), Deno.errors.NotFound);
      using _free = Deno.listen({ hostname: "127.0.0.1", port });
    });

    await t.step("SIGINT, sent twice, stops cleanly", async () => {
      sandbox = startSandbox(env);
      await sandbox.ready;
      sandbox.kill("SIGINT");
      sandbox.kill("SIGINT");
      assertEquals((await sandbox.ended).code, 0);
    });
  } finally {
    try {
      sandbox.kill("SIGKILL");
    } catch {
      // it has ended
    }
    await sandbox.ended;
    await Deno.remove(dir.slice(0, dir.lastIndexOf("/")), { recursive: true });
  }
});
