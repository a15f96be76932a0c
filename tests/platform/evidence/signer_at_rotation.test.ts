/** Evidence names the key that signed, also if another key comes into use while it signs. */
import { assertEquals, assertNotEquals } from "@std/assert";
import { decodeProtectedHeader, type JSONWebKeySet, type JWK } from "jose";
import { openKeyRing } from "../../../src/base/jose/key_ring.ts";
import { paymentRecord } from "../../../src/platform/core/payments/payment_store.ts";
import { pushOrder } from "../../../src/platform/core/payments/push_order.ts";
import { ownSignerOf } from "../../../src/platform/evidence/evidence_store.ts";
import { withStatement } from "../../../src/platform/operations/cases/case_bundle.ts";
import { forParticipant } from "../../../src/platform/guards/security/standing.ts";
import { firstOf, present } from "testing/answers.ts";
import { AUTH_URL, openEnvironment, START } from "testing/environment.ts";
import { platformKeySet } from "testing/platform_keys.ts";
import { paid } from "support/orders.ts";

const START_S = 2_000_000_000;

/** A ring whose next key comes into use with the first digest or signature, and the former one leaves. */
async function openTurningRing(): Promise<
  Disposable & { readonly keys: Awaited<ReturnType<typeof openKeyRing>>; readonly first: string }
> {
  const [before, after] = await Promise.all(
    [platformKeySet(), platformKeySet(10, 11)].map(async (text) =>
      (JSON.parse(await text) as JSONWebKeySet).keys
    ),
  );
  const sig = (keys: readonly JWK[] = []): JWK => firstOf(keys.filter(({ use }) => use === "sig"));
  let now = START_S;
  const set = {
    keys: [
      { ...sig(before), exp: START_S + 60 },
      { ...sig(after), nbf: START_S + 60 },
      ...(before ?? []).filter(({ use }) => use === "enc"),
    ],
  };
  const keys = await openKeyRing(JSON.stringify(set), () => now * 1000 as never);
  const { sign, digest } = crypto.subtle;
  crypto.subtle.sign = (...given) => {
    now = START_S + 60;
    return sign.apply(crypto.subtle, given);
  };
  crypto.subtle.digest = (...given) => {
    now = START_S + 60;
    return digest.apply(crypto.subtle, given);
  };
  return {
    keys,
    first: keys.signer.kid,
    [Symbol.dispose]: () => void Object.assign(crypto.subtle, { sign, digest }),
  };
}

Deno.test("the evidence of an order has the key that signed it, at the moment of a rotation [EN1, D4]", async () => {
  await using env = await openEnvironment();
  const { DomesticPaymentId: id } = await paid(env);
  const entry = await paymentRecord.get(env.store, ["payment", id]);
  if (entry === null) throw new Error("no payment");
  using ring = await openTurningRing();
  const deps = {
    fetch: () => Promise.resolve(new Response(null, { status: 503 })),
    ownSigner: () => ownSignerOf(ring.keys),
    authUrl: AUTH_URL,
    loopbackBanks: true,
  };
  const { evidence } = await pushOrder(
    deps,
    "https://bank.example/orders",
    forParticipant(entry.value),
    START,
  );
  const { bytes, key } = firstOf(evidence);
  const { kid } = decodeProtectedHeader(new TextDecoder().decode(bytes));
  assertNotEquals(ring.keys.signer.kid, ring.first, "the next key is in use");
  assertEquals([kid, (JSON.parse(present(key).text) as JWK).kid], [ring.first, ring.first]);
});

Deno.test("a bundle has the key that signed its statement, at the moment of a rotation [EN1]", async () => {
  using ring = await openTurningRing();
  const origin = { issuer: AUTH_URL, cell: "test" };
  const deps = { origin, clock: () => START as never, ownKeyRing: ring.keys };
  const text = await withStatement(deps, { format: "f" }, "t+jwt", {});
  const bundle = JSON.parse(text) as JSONWebKeySet & { readonly statement: string };
  const { kid } = decodeProtectedHeader(bundle.statement);
  assertEquals([kid, bundle.keys.some((key) => key.kid === kid)], [ring.first, true]);
});
