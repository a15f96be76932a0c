/**
 * A first start of the sandbox that is interrupted after the directory stored keys and organisations that no file
 * names. The next start creates all data again without manual cleanup [F1].
 */
import { assertEquals, assertRejects } from "@std/assert";
import { bodyOf } from "testing/answers.ts";
import type { DirectoryBody } from "testing/directory_answers.ts";
import { makePayment } from "../../scripts/integrators/demo/payment.ts";
import { startEcosystem } from "../../src/sandbox/ecosystem/ecosystem.ts";
import { readEndpoints } from "../../src/sandbox/shop/sandbox_endpoints.ts";
import { openTpp } from "../../src/client/tpp/tpp.ts";
import { freeSandboxPorts } from "../../scripts/command_line/free_ports.ts";
import { startSandbox } from "support/sandbox_process.ts";

const PARTICIPANTS = ["bank-a", "bank-b", "shop"];

for (const [count, where] of [[1, "shop"], [3, "bank-b"]] as const) {
  Deno.test(`a start interrupted between the directory's commit and the files of ${where} is made up for by the next [F1]`, async () => {
    const dir = `${await Deno.makeTempDir()}/sandbox`;
    const port = freeSandboxPorts();
    // A program that another test starts meanwhile keeps the lock's file open until it has begun.
    const start = (): ReturnType<typeof startEcosystem> =>
      startEcosystem({ port, dir, log: () => {}, patienceMs: 5000 });
    try {
      await losingAnswers(count, async () => void await assertRejects(start, Error, "power cut"));
      assertEquals(await exists(`${dir}/participants/${where}/participant.json`), false);
      assertEquals(JSON.parse(await Deno.readTextFile(`${dir}/sandbox.json`)), { port, complete: false });
      await using stack = new AsyncDisposableStack();
      const ecosystem = await start();
      stack.defer(() => ecosystem.stop());
      await assertWorks(dir);
      const known = fetch(`${ecosystem.endpoints.directory_url}/participants`);
      const { length } = await bodyOf<DirectoryBody<"GET /participants">>(known);
      assertEquals(length, PARTICIPANTS.length); // no participant of the first start is left
    } finally {
      await Deno.remove(dir, { recursive: true });
    }
  });
}

Deno.test("a first start that is killed while it onboards is made up for by the next [F1]", async () => {
  const dir = `${await Deno.makeTempDir()}/sandbox`;
  const env = { SANDBOX_DIR: dir, SANDBOX_PORT: String(freeSandboxPorts()) };
  await Deno.mkdir(dir, { recursive: true, mode: 0o700 });
  const killed = startSandbox(env);
  await onboardedSomebody(dir);
  killed.kill("SIGKILL");
  await killed.ended;
  const next = startSandbox(env);
  try {
    await next.ready;
    await assertWorks(dir);
  } finally {
    next.kill("SIGTERM");
    assertEquals((await next.ended).code, 0);
    await Deno.remove(dir, { recursive: true });
  }
});

/** While `act` runs, the answer to onboarding number `count` is lost: the directory has done its part. */
async function losingAnswers(count: number, act: () => Promise<void>): Promise<void> {
  const whole = globalThis.fetch;
  let onboardings = 0;
  globalThis.fetch = async (input, init): Promise<Response> => {
    const response = await whole(input, init);
    const isOnboarding = init?.method === "POST" && String(input).endsWith("/participants");
    if (isOnboarding && ++onboardings === count) {
      assertEquals(response.status, 201);
      await response.body?.cancel();
      throw new Error("power cut");
    }
    return response;
  };
  try {
    await act();
  } finally {
    globalThis.fetch = whole;
  }
}

/** Resolves when the sandbox's log shows that the directory onboarded a participant. */
async function onboardedSomebody(dir: string): Promise<void> {
  const taken = /"method":"POST","path":"\/participants","status":201/;
  using watcher = Deno.watchFs(dir);
  for await (const _ of watcher) {
    const log = await Deno.readTextFile(`${dir}/sandbox.log`).catch(() => "");
    if (taken.test(log)) return;
  }
}

async function assertWorks(dir: string): Promise<void> {
  for (const name of PARTICIPANTS) {
    assertEquals(await exists(`${dir}/participants/${name}/participant.json`), true, name);
  }
  const endpoints = await readEndpoints(dir);
  if (endpoints === undefined) throw new Error("there is no endpoints.json");
  const shop = await openTpp({ dir, name: "shop", endpoints, redirectUri: `${endpoints.shop_url}/callback` });
  try {
    const options = { consent: "platform", reject: false, json: false, profile: "b" } as const;
    const { ok, paymentStatus } = await makePayment(shop, options, () => {});
    assertEquals([ok, paymentStatus], [true, "AcceptedSettlementInProcess"]);
  } finally {
    shop.close();
  }
}

function exists(path: string): Promise<boolean> {
  return Deno.stat(path).then(() => true, () => false);
}
