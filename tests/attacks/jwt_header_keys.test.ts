import { assertEquals } from "@std/assert";
import { rejectionOf } from "testing/answers.ts";
import { dpopProof, thumbprint } from "testing/jwts.ts";
import { testKey } from "testing/keys.ts";
import { attack, forged, header, INVALID, pss, rejectedEverywhere, wrong } from "support/jwt_attacks.ts";
import { jwtPlaces } from "support/jwt_places.ts";
import { call, clientToken, good, push, requestToken } from "testing/flows.ts";
import { redeem } from "testing/authorization_flow.ts";
import { awaitingConsent, issueCode } from "testing/oauth_requests.ts";
import { assertChallenge } from "testing/resource_answers.ts";
import { openEnvironment } from "testing/environment.ts";
import { unchanged } from "testing/store_contents.ts";

Deno.test("an attacker's own DPoP key opens nothing that is bound to another [J9]", async () => {
  await using env = await openEnvironment();
  const evil = await testKey(15);
  const bound = await clientToken(env, env.tpp);
  const consentId = await awaitingConsent(env);
  const stolen = { token: bound.token, key: evil };
  const path = `/BANKA/domestic-payment-consents/v1/${consentId}`;
  await assertChallenge(
    await unchanged(env, () => call(env, env.tpp, stolen, path)),
    401,
    'DPoP error="invalid_token", algs="PS256"',
  );
  const flow = await issueCode(env, { form: { dpop_jkt: await thumbprint(bound.key) } });
  const redeemed = await redeem(env, flow, { key: evil });
  assertEquals([redeemed.status, (await rejectionOf(redeemed)).error], [400, "invalid_dpop_proof"]);
  const target = { method: "POST", url: "https://api.platform.example/BANKA/par.oauth2/v1" };
  const mixed = await push(env, consentId, {
    form: { dpop_jkt: await thumbprint(bound.key) },
    headers: { dpop: await dpopProof(env, evil, target) },
  });
  assertEquals([mixed.status, (await rejectionOf(mixed)).error], [400, "invalid_request"]);
  await good(requestToken(env, env.tpp), 200);
});

Deno.test("no address in a JWT is ever called: jku, x5u [J10] [CA7] [DC-N6]", async (t) => {
  await using env = await openEnvironment();
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  let connections = 0;
  const accepting = (async () => {
    for await (const connection of listener) {
      connections += 1;
      connection.close();
    }
  })().catch(() => {}); // the listener is closed at the end
  const places = await jwtPlaces(env);
  const evil = await testKey(15);
  const own = `http://127.0.0.1:${listener.addr.port}/jwks`;
  const urls = [
    own,
    "https://evil.example/jwks",
    "http://169.254.169.254/latest/meta-data/",
    "https://directory.example/jwks",
    "file:///etc/passwd",
  ];
  const before = [...env.fetched];
  await rejectedEverywhere(
    t,
    env,
    places,
    urls.flatMap((url) =>
      ["jku", "x5u"].flatMap((member) => [
        header(`${member} ${url}, the good signature`, { [member]: url }, wrong(member)),
        attack(
          `${member} ${url}, the attacker signs`,
          { header: { [member]: url }, sign: pss(evil) },
          wrong(member),
        ),
      ])
    ),
  );
  assertEquals(env.fetched, before);
  assertEquals(connections, 0);
  listener.close();
  await accepting;
});

Deno.test("a certificate in the header, or the thumbprint of one, proves nothing [J11] [CA7]", async (t) => {
  await using env = await openEnvironment();
  const evil = env.otherTpp.signing;
  const notAt = ["proof"] as const;
  await rejectedEverywhere(t, env, await jwtPlaces(env), [
    attack("x5c of the attacker, who signs", {
      header: { x5c: [evil.certificate] },
      sign: pss(evil.key),
    }, wrong("x5c")),
    header("x5c of the attacker", { x5c: [evil.certificate] }, wrong("x5c")),
    header("x5c empty", { x5c: [] }, wrong("x5c")),
    {
      ...attack("x5c of the attacker, without kid", {
        header: { x5c: [evil.certificate], kid: undefined },
        sign: pss(evil.key),
      }, ["Signature.MissingClaim", "kid"]),
      notAt,
    },
    {
      name: "x5t of the victim, the attacker's kid and signature",
      forge: (parts, { who }) =>
        forged(parts, { header: { x5t: who.signing.kid, kid: evil.kid }, sign: pss(evil.key) }),
      fault: wrong("x5t"),
      notAt,
    },
    {
      name: "kid and x5t of the victim, the attacker's signature",
      forge: (parts, { who }) => forged(parts, { header: { x5t: who.signing.kid }, sign: pss(evil.key) }),
      fault: wrong("x5t"),
      notAt,
    },
    { ...attack("the victim's kid, the attacker's signature", { sign: pss(evil.key) }, INVALID), notAt },
  ]);
});
