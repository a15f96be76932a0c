/** When each control begins and ends to have an effect, at its borders. */
import { assertEquals, assertRejects } from "@std/assert";
import { ApiError } from "../../../../src/base/kernel/api_error.ts";
import { MAX_PROCESS_SKEW_MS } from "../../../../src/base/kernel/clock.ts";
import type { BankCode, ClientId } from "../../../../src/base/kernel/identifiers.ts";
import { ACCESS_TOKEN_SECONDS } from "../../../../src/base/profile.ts";
import {
  type Controls,
  type CurrentControls,
  inForce,
  isBlocked,
  isRevoked,
  NO_CONTROLS,
  type Outage,
  outageAt,
  outagesOf,
  rejectInOutage,
} from "../../../../src/platform/guards/security/controls_store.ts";

const NOW = 1_900_000_000_000;
const LIFE_MS = ACCESS_TOKEN_SECONDS * 1000;
const SHOP = "SC-0d2f7c1e-5a43-4f0e-9d1b-7a6f3e2c1b00" as ClientId;
const [BANKA, BANKB] = ["BANKA" as BankCode, "BANKB" as BankCode];

const outage = (id: string, from: number, until: number, bank = BANKA): Outage => ({
  id,
  bank,
  from: NOW + from,
  until: NOW + until,
  text: "Maintenance.",
  by: "operator maria",
});
const withOutages = (...outages: Outage[]): Controls => ({ ...NO_CONTROLS, outages });
const currently = (controls: Controls) => ({ get: () => Promise.resolve(controls) }) as CurrentControls;

Deno.test("a block is of an organisation or of a software, by its own id [OP4]", () => {
  const blocked = (kind: "organisation" | "software", id: string): boolean =>
    isBlocked({ ...NO_CONTROLS, blocks: [{ kind, id, at: NOW, by: "operator maria" }] }, {
      clientId: SHOP,
      orgId: "SHOP",
    });
  assertEquals([blocked("organisation", "SHOP"), blocked("software", SHOP)], [true, true]);
  assertEquals([blocked("organisation", SHOP), blocked("software", "SHOP")], [false, false]);
});

Deno.test("a token is revoked if it may have been issued at the time of the revocation or before [OP5]", () => {
  const revoked = (issuedAt: number, clientId: string = SHOP): boolean =>
    isRevoked({ ...NO_CONTROLS, revocations: [{ clientId: SHOP, at: NOW }] }, {
      clientId: clientId as ClientId,
      expiresAt: issuedAt + LIFE_MS,
    });
  assertEquals([revoked(NOW), revoked(NOW + MAX_PROCESS_SKEW_MS), revoked(NOW + MAX_PROCESS_SKEW_MS + 1)], [
    true,
    true,
    false,
  ]);
  assertEquals(revoked(NOW, "SC-1d2f7c1e-5a43-4f0e-9d1b-7a6f3e2c1b00"), false);
});

Deno.test("an outage is under way from its begin to before its end, and the one that ends last counts [OP7]", async () => {
  const at = (from: number, until: number): string | undefined =>
    outageAt(withOutages(outage("a", from, until)), BANKA, NOW)?.id;
  assertEquals([at(0, 1), at(-1, 1), at(-1, 0), at(1, 2)], ["a", "a", undefined, undefined]);
  const two = withOutages(outage("a", -5, 9), outage("b", -1, 5), outage("c", -1, 10, BANKB));
  assertEquals(outageAt(two, BANKA, NOW)?.id, "a");
  const reject = async (...outages: Outage[]): Promise<unknown> => {
    const { reason, parts } = await assertRejects(
      () => rejectInOutage(currently(withOutages(...outages)), () => NOW)(BANKA),
      ApiError,
    );
    const message = "The bank has a planned outage: Maintenance.";
    const { retryAfterSeconds, ...words } = parts;
    assertEquals([reason, words], ["platform.unavailable", {
      detail: "planned outage of the bank",
      description: message,
      faults: [{ code: "UnexpectedError", message }],
    }]);
    return retryAfterSeconds;
  };
  assertEquals([await reject(outage("a", 0, 1)), await reject(outage("a", 0, 1001))], [1, 2]);
  assertEquals(await reject(outage("a", 0, 90_000_000)), 86_400);
  await rejectInOutage(currently(withOutages(outage("c", 0, 10, BANKB))), () => NOW)(BANKA);
  assertEquals((await outagesOf(currently(two), () => NOW)(BANKA)).map(({ id }) => id), ["a", "b"]);
});

Deno.test("a control that has no effect any more is left out: an outage at its end, a revocation after its last token", () => {
  const left = LIFE_MS + MAX_PROCESS_SKEW_MS;
  const revocations = [NOW - left, NOW - left - 1].map((at) => ({ clientId: SHOP, at }));
  const controls = { ...withOutages(outage("a", -1, 1), outage("b", -1, 0)), revocations };
  assertEquals(inForce(controls, NOW), {
    ...NO_CONTROLS,
    outages: [outage("a", -1, 1)],
    revocations: [{ clientId: SHOP, at: NOW - left }],
  });
});
