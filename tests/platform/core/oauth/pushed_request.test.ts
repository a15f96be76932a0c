/** When a pushed request can start a session and a code can be redeemed, and which languages of a request count. */
import { assertEquals } from "@std/assert";
import type { BankCode, ClientId } from "../../../../src/base/kernel/identifiers.ts";
import { MAX_SKEW_MS } from "../../../../src/base/kernel/clock.ts";
import {
  type AuthorizationCode,
  isRedeemable,
} from "../../../../src/platform/core/oauth/authorization_code.ts";
import {
  canStart,
  type PushedRequest,
  readUiLocales,
  referenceOf,
} from "../../../../src/platform/core/oauth/pushed_request.ts";

Deno.test("a pushed request starts a session for its client, at its bank, in its time, and until one has ended [AZ-N3, AZ-N6]", () => {
  const request = {
    clientId: "SC-1" as ClientId,
    bank: "BANKA" as BankCode,
    expiresAt: 599_000,
    completed: false,
  };
  const by = { clientId: "SC-1", bank: "BANKA" as BankCode, now: 0 };
  const can = (changed: Partial<PushedRequest>, who: Partial<typeof by> = {}): boolean =>
    canStart({ ...request, ...changed } as PushedRequest, { ...by, ...who });
  assertEquals([can({}), can({}, { now: 598_999 }), can({}, { now: -MAX_SKEW_MS })], [true, true, true]);
  const refused = [
    can({ clientId: "SC-2" as ClientId }),
    can({ bank: "BANKB" as BankCode }),
    can({ completed: true }),
    can({}, { now: 599_000 }),
    can({}, { now: -MAX_SKEW_MS - 1 }),
  ];
  assertEquals(refused, [false, false, false, false, false]);
});

Deno.test("a code can be redeemed for 60 s, until its fifth wrong redemption [TA8]", () => {
  const can = (now: number, failures = 0): boolean =>
    isRedeemable({ expiresAt: 60_000, failures } as AuthorizationCode, now);
  assertEquals([can(0), can(59_999), can(60_000), can(-MAX_SKEW_MS), can(-MAX_SKEW_MS - 1)], [
    true,
    true,
    false,
    true,
    false,
  ]);
  assertEquals([can(0, 4), can(0, 5)], [true, false]);
});

Deno.test("a reference is 43 characters after the platform's prefix, and of the languages the first eight tags count", () => {
  const reference = "aZ09_-".padEnd(43, "x");
  const prefix = "urn:ietf:params:oauth:request_uri:";
  assertEquals(referenceOf(`${prefix}${reference}`), reference);
  const others = [
    reference,
    `${prefix}${reference}x`,
    `${prefix}${reference.slice(1)}`,
    `${prefix}.${reference.slice(1)}`,
  ];
  assertEquals(others.map(referenceOf), others.map(() => undefined));
  const long = `en${"-abcdefgh".repeat(4)}`.slice(0, 35);
  assertEquals(readUiLocales(`de  en_GB ${long} ${long}a es-419 x`), ["de", long, "es-419", "x"]);
  assertEquals(readUiLocales(undefined), []);
  assertEquals(readUiLocales("a b c d e f g h i").join(""), "abcdefgh");
});
