/** DPoP proofs, good though unusual, that the OpenID conformance suite sends on a whole journey. */
import { assertEquals } from "@std/assert";
import { openEnvironment } from "testing/environment.ts";
import { agreed, begin, completed, type Modify, openTpp, pay, redeem, withKey } from "./oauth4webapi_tpp.ts";
import { stepsOf } from "support/steps.ts";

const UNUSUAL: readonly (readonly [name: string, change: Modify])[] = [
  ["nbf now and exp in 300 s [CheckDpopProofNbfExp, DP-N19]", (_, claims) => {
    Object.assign(claims, { nbf: claims["iat"], exp: Number(claims["iat"]) + 300 });
  }],
  ["iat 10 s ago [EnsureDpopProofWithIat10SecondsBeforeSucceeds, DP-N12]", (_, claims) => {
    claims["iat"] = Number(claims["iat"]) - 10;
  }],
  ["iat 8 s ahead [EnsureDpopProofWithIat10SecondsAfterSucceeds, DP-N12]", (_, claims) => {
    claims["iat"] = Number(claims["iat"]) + 8;
  }],
  ["members nobody asked for [DpopNegativeTests, DP14]", (header, claims) => {
    Object.assign(header, { tx_id: "tx-1" });
    Object.assign(claims, { tx_id: "tx-1", nonce: "n-1" });
  }],
  ["htu with query and fragment [DpopNegativeTests, DP-N11]", (_, claims) => {
    claims["htu"] = `${claims["htu"]}?x=y#z`;
  }],
];

Deno.test("A journey whose every proof is good though unusual ends in a payment", async (t) => {
  await stepsOf(t, UNUSUAL, ([name]) => name, async ([, proofs]) => {
    await using env = await openEnvironment();
    let proved = 0;
    const counted: Modify = (header, claims) => (proved++, proofs(header, claims));
    await completed(await openTpp(env, { proofs: counted }));
    assertEquals(proved, 5); // token, consent, PAR, code, payment
  });
});

Deno.test("A code that PAR bound to no key is bound by its first proof [TA6, DP13]", async () => {
  await using env = await openEnvironment();
  const tpp = await openTpp(env);
  const journey = await begin(tpp, { proof: false });
  const outsider = await withKey(tpp, 10);
  const { access_token } = await redeem(outsider, journey, await agreed(tpp, journey));
  await pay(outsider, journey, access_token);
});
