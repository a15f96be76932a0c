/** The sandbox's clock: it applies to all parts of a sandbox, and does not exist outside of one [F1]. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { decodeJwt } from "jose";
import { makePayment } from "../../scripts/integrators/demo/payment.ts";
import type { Ecosystem } from "../../src/sandbox/ecosystem/ecosystem.ts";
import { startPooledEcosystem } from "support/pooled_ecosystem.ts";
import { grantClientToken } from "../../src/client/tpp/authorization.ts";
import { createConsent, readConsent } from "../../src/client/tpp/domestic_payments.ts";
import { emptyMessageLog } from "../../src/client/tpp/message_log.ts";
import { openFlow } from "../../src/client/tpp/payment_journey.ts";
import { paymentRequest } from "../../src/client/tpp/payment_request.ts";
import { merchant } from "../../src/sandbox/shop/catalogue.ts";
import { openTpp, type Tpp } from "../../src/client/tpp/tpp.ts";
import type { DirectoryError } from "testing/directory_answers.ts";
import { bodyOf, present, type Readiness, type SandboxTime, type Statement } from "testing/answers.ts";
import { openDirectoryEnvironment } from "testing/directory_environment.ts";
import { freeSandboxPorts } from "../../scripts/command_line/free_ports.ts";
import { AUTH_URL, BASE_URL, openEnvironment } from "testing/environment.ts";
import { openTemporaryFolder } from "testing/temporary_folder.ts";

const DAY_MS = 86_400_000;

Deno.test("POST sandbox/clock moves platform, directory, banks and shop, also after a restart", async (t) => {
  await using dir = await openTemporaryFolder();
  const port = freeSandboxPorts();
  let running = await startPooledEcosystem({ port, dir: dir.path });
  try {
    const consentId = await asShop(running, dir.path, Date.now, (shop) => newConsent(shop));
    const before = await clock(running);
    assertEquals([before.status, before.body.ahead_seconds], [200, 0]);

    await t.step("only for the directory's administrator", async () => {
      const wrong = [undefined, "Bearer x", `Basic ${running.endpoints.directory_admin_token}`, "Bearer "];
      for (const authorization of wrong) {
        const { status, body } = await clock(running, { advance_seconds: 1 }, authorization);
        assertEquals([status, body.error], [401, "unauthorized"]);
      }
    });

    await t.step("not by what it does not understand, and never into the past", async () => {
      const wrong = [
        {},
        [],
        { advance_seconds: -1 },
        { advance_seconds: 0.5 },
        { advance_seconds: "1" },
        { advance_seconds: 1, now: "2040-01-01T00:00:00Z" },
        { advance_seconds: 367 * 86_400 },
        { now: "tomorrow" },
        { now: "2020-01-01T00:00:00Z" },
        { now: "2999-01-01T00:00:00Z" },
        { now: 1 },
      ];
      for (const body of wrong) {
        const answer = await clock(running, body, admin(running));
        assertEquals([answer.status, answer.body.error], [400, "invalid_request"], JSON.stringify(body));
      }
      assertEquals((await clock(running)).body.ahead_seconds, 0);
    });

    await t.step("by 25 hours", async () => {
      const { status, body } = await clock(running, { advance_seconds: 90_000 }, admin(running));
      assertEquals([status, Math.round(body.ahead_seconds)], [200, 90_000]);
    });
    const now = (): number => Date.now() + 90_000_000;

    await t.step("a consent of before has expired for the platform", async () => {
      assertEquals(await asShop(running, dir.path, now, (shop) => statusOf(shop, consentId)), "Rejected");
    });

    await t.step("a new payment succeeds, and the bank executes it in the new time", async () => {
      const options = { consent: "platform", reject: false, json: false, profile: "a" } as const;
      const { ok, paymentId } = await asShop(
        running,
        dir.path,
        now,
        (shop) => makePayment(shop, options, () => {}),
      );
      assert(ok);
      const { Orders } = await bodyOf<Ledger>(fetch(`${running.endpoints.banks_url}/BANKA/ledger`));
      const order = present(Orders.find((executed) => executed.DomesticPaymentId === paymentId));
      assert(Math.abs(Date.parse(order.ExecutionDateTime) - now()) < 60_000);
    });

    await t.step("and the platform does not report a wrong clock", async () => {
      const { parts } = await bodyOf<Readiness>(fetch(`${running.endpoints.auth_url}/health/ready`));
      assertEquals(parts["clock"], { ok: true });
    });

    await t.step("the shop lives in the new time: its next order gets to the bank", async () => {
      const front = await fetch(running.endpoints.shop_url);
      const cookie = front.headers.get("set-cookie")?.split(";")[0] ?? "";
      const csrf = /name="csrf" value="([^"]+)"/.exec(await front.text())?.[1] ?? "";
      const form = new URLSearchParams({ item: "lunch", bank: "BANKA", account: "", csrf });
      const init: RequestInit = { method: "POST", body: form, headers: { cookie }, redirect: "manual" };
      const ordered = await fetch(`${running.endpoints.shop_url}/checkout`, init);
      await ordered.body?.cancel();
      assertMatch(ordered.headers.get("location") ?? "", /\/BANKA\/authorization\.oauth2\?/);
    });

    await t.step("the directory lives in the new time: a renewed statement is of now", async () => {
      const { directory_url, directory_admin_token } = running.endpoints;
      const renewed = await fetch(`${directory_url}/participants/BANKA/statement`, {
        method: "POST",
        headers: { authorization: `Bearer ${directory_admin_token}`, "content-type": "application/json" },
        body: "{}",
      });
      const { software_statement } = await bodyOf<Statement>(renewed);
      const { iat = 0 } = decodeJwt(software_statement);
      assert(Math.abs(iat * 1000 - now()) < 60_000);
    });

    await t.step("a restart keeps it; the present can be had back", async () => {
      await running.stop();
      running = await startPooledEcosystem({ port, dir: dir.path, patienceMs: 2000 });
      assertEquals(Math.round((await clock(running)).body.ahead_seconds), 90_000);
      const there = await clock(running, { now: new Date(Date.now() + 2 * DAY_MS) }, admin(running));
      assertEquals(Math.round(there.body.ahead_seconds / 10), 17_280);
      const present = await clock(running, { now: new Date() }, admin(running));
      assertEquals([present.status, Math.round(present.body.ahead_seconds)], [200, 0]);
    });

    await t.step(
      "DELETE is for the administrator, and sets the clock back to this computer's time",
      async () => {
        await clock(running, { advance_seconds: 90_000 }, admin(running));
        const late = await asShop(running, dir.path, now, (shop) => newConsent(shop));
        const rejected = await clock(running, "DELETE", "Bearer x");
        assertEquals([rejected.status, Math.round((await clock(running)).body.ahead_seconds)], [401, 90_000]);
        const back = await clock(running, "DELETE", admin(running));
        assertEquals([back.status, back.body.ahead_seconds], [200, 0]);
        assert(Math.abs(Date.parse(back.body.now) - Date.now()) < 60_000);
        assertEquals(
          await asShop(running, dir.path, Date.now, (shop) => statusOf(shop, late)),
          "AwaitingAuthorisation",
          "what was made meanwhile keeps its date",
        );
        assertEquals((await clock(running, "DELETE", admin(running))).body.ahead_seconds, 0);
      },
    );

    await t.step("payments go on after it, at both banks", async () => {
      for (const consent of ["platform", "bank"] as const) {
        const options = { consent, reject: false, json: false, profile: "b" } as const;
        assert(
          (await asShop(running, dir.path, Date.now, (shop) => makePayment(shop, options, () => {}))).ok,
        );
      }
    });

    await t.step("curl reads the administrator's credential from a file of the owner's alone", async () => {
      const path = `${dir.path}/admin.header`;
      assertEquals(await Deno.readTextFile(path), `authorization: ${admin(running)}\n`);
      assertEquals(((await Deno.stat(path)).mode ?? 0) & 0o777, 0o600);
    });
  } finally {
    await running.stop();
  }
});

Deno.test("Neither a directory nor a platform of its own has a clock to move", async () => {
  await using directory = await openDirectoryEnvironment();
  await using env = await openEnvironment();
  const admin = { authorization: "Bearer directory-test-token-0123456789abcdef" };
  for (const method of ["GET", "POST", "DELETE"]) {
    const init = { method, headers: admin, ...(method === "POST" ? { body: '{"advance_seconds":1}' } : {}) };
    const answers = [
      await directory.fetch(new Request("https://directory.example/sandbox/clock", init)),
      await env.api(new Request(`${BASE_URL}/sandbox/clock`, init)),
      await env.browser(new Request(`${AUTH_URL}/sandbox/clock`, init)),
    ];
    for (const answer of answers) {
      assertEquals(answer.status, 404);
      await answer.body?.cancel();
    }
  }
});

/** The part of a bank's ledger that is read. */
interface Ledger {
  readonly Orders: readonly { readonly DomesticPaymentId: string; readonly ExecutionDateTime: string }[];
}

async function clock(
  { endpoints }: Ecosystem,
  command?: unknown,
  authorization?: string,
): Promise<{ readonly status: number; readonly body: SandboxTime & Partial<DirectoryError> }> {
  const headers = new Headers({ "content-type": "application/json" });
  if (authorization !== undefined) headers.set("authorization", authorization);
  const init = command === undefined
    ? {}
    : command === "DELETE"
    ? { method: "DELETE", headers }
    : { method: "POST", headers, body: JSON.stringify(command) };
  const response = await fetch(`${endpoints.directory_url}/sandbox/clock`, init);
  return { status: response.status, body: await bodyOf(response) };
}

function admin({ endpoints }: Ecosystem): string {
  return `Bearer ${endpoints.directory_admin_token}`;
}

async function asShop<T>(
  { endpoints }: Ecosystem,
  dir: string,
  now: () => number,
  act: (shop: Tpp) => Promise<T>,
): Promise<T> {
  const redirectUri = `${endpoints.shop_url}/callback`;
  const shop = await openTpp({ dir, name: "shop", endpoints, redirectUri, now });
  try {
    return await act(shop);
  } finally {
    shop.close();
  }
}

async function newConsent(shop: Tpp): Promise<string> {
  const flow = await openFlow(shop, "BANKA", emptyMessageLog());
  const request = paymentRequest({ orderId: "1", description: "Lunch", amount: "12.50", merchant });
  return (await createConsent(flow, await grantClientToken(flow), request)).consentId;
}

async function statusOf(shop: Tpp, consentId: string): Promise<string> {
  const flow = await openFlow(shop, "BANKA", emptyMessageLog());
  return (await readConsent(flow, await grantClientToken(flow), consentId)).status;
}
