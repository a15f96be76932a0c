/** DPoP proofs for another request, token or time, and unusual ones that are right, at every place that accepts one. */
import { assertEquals } from "@std/assert";
import {
  type Attack,
  claims,
  forged,
  type Forgery,
  rejectedEverywhere,
  valued,
} from "support/jwt_attacks.ts";
import { proofPlaces } from "support/jwt_places.ts";
import type { JwsParts } from "support/jwt_place.ts";
import { type JsonObject } from "testing/jwts.ts";
import { BASE_URL, openEnvironment } from "testing/environment.ts";
import { stepsOf } from "support/steps.ts";
import { sha256 } from "../../src/base/kernel/identifiers.ts";

Deno.test("a DPoP proof for another method is rejected [DP-N8] [DP-N9] [DP8]", async (t) => {
  await using env = await openEnvironment();
  const methods: Readonly<Record<string, (good: string) => unknown>> = {
    "missing": () => undefined,
    "PUT": () => "PUT",
    "of the other method": (good) => good === "GET" ? "POST" : "GET",
    "in lower case": (good) => good.toLowerCase(),
    "capitalised": (good) => good.charAt(0) + good.slice(1).toLowerCase(),
    "with a space": (good) => ` ${good}`,
    "empty": () => "",
    "a number": () => 1,
    "a list": (good) => [good],
    "null": () => null,
  };
  await rejectedEverywhere(t, env, await proofPlaces(env), [
    ...Object.entries(methods).map(([name, change]) => replacing("htm", name, change)),
    claims("none of its claims", { jti: undefined, htm: undefined, htu: undefined, iat: undefined }),
  ]);
});

Deno.test("a DPoP proof for another URL is rejected [DP-N8] [DP-N10] [DP-N21]", async (t) => {
  await using env = await openEnvironment();
  const urls: Readonly<Record<string, (good: string) => unknown>> = {
    "missing": () => undefined,
    "other host": (good) => good.replace("api.", "api2."),
    "longer host": (good) => good.replace(".example", ".example.evil.example"),
    "the browser host": (good) => good.replace("api.", "auth."),
    "a host that the request names as its own": (good) =>
      good.replace("api.platform.example", "evil.example"),
    "longer path": (good) => `${good}/x`,
    "trailing slash": (good) => `${good}/`,
    "path in other case": (good) => good.replace("v1", "V1"),
    "no path": () => BASE_URL,
    "other bank": (good) => good.replace("BANKA", "BANKB"),
    "bank in lower case": (good) => good.replace("BANKA", "banka"),
    "http": (good) => good.replace("https:", "http:"),
    "other port": (good) => good.replace(".example/", ".example:8443/"),
    "another endpoint": (good) => `${BASE_URL}/BANKA/${good.includes("token") ? "par" : "token"}.oauth2/v1`,
    "another resource": () => `${BASE_URL}/BANKA/domestic-payments/v1/${crypto.randomUUID()}`,
    "relative": (good) => new URL(good).pathname,
    "without scheme": (good) => good.replace("https:", ""),
    "user": (good) => good.replace("//", "//user@"),
    "user and password": (good) => good.replace("//", "//user:pass@"),
    "empty user": (good) => good.replace("//", "//@"),
    "empty user and password": (good) => good.replace("//", "//:@"),
    "backslashes": (good) => good.replace(/(?<=example.*)\//g, "\\"),
    "newline inside": (good) => good.replace("BANKA", "BAN\nKA"),
    "space behind": (good) => `${good} `,
    "space before": (good) => ` ${good}`,
    "escaped slash": (good) => good.replace("/v1", "%2Fv1"),
    "a list": (good) => [good],
    "empty": () => "",
    "2,049 characters": (good) => `${good}?`.padEnd(2049, "x"),
  };
  await rejectedEverywhere(
    t,
    env,
    await proofPlaces(env),
    Object.entries(urls).map(([name, change]) => replacing("htu", name, change)),
  );
});

Deno.test("a DPoP proof at a resource is for its token [DP-N16] [DP12]", async (t) => {
  await using env = await openEnvironment();
  const places = (await proofPlaces(env)).filter(({ name }) => /^(GET|POST) /.test(name));
  const hex = (hash: string): string => Uint8Array.fromBase64(hash, { alphabet: "base64url" }).toHex();
  await rejectedEverywhere(t, env, places, [
    ...valued("ath", [undefined, null, "", await sha256("another token"), "A".repeat(43)])
      .map(([name, change]) => claims(name, change)),
    replacing("ath", "padded", (good) => `${good}=`),
    replacing("ath", "in hex", hex),
    replacing("ath", "a list", (good) => [good]),
    { name: "ath the token itself", forge: (good, { token }) => forged(good, { claims: { ath: token } }) },
  ]);
});

Deno.test("an unusual DPoP proof that is right is accepted [DP-N4] [DP-N6] [DP-N11] [DP-N12] [DP-N16] [DP-N19] [DP-N24] [DP2] [DP7] [DP9] [DP14] [DP15] [FAPI-D6]", async (t) => {
  await using env = await openEnvironment();
  const now = env.now / 1000;
  const urls: Readonly<Record<string, (good: string) => string>> = {
    "query and fragment": (good) => `${good}?x#y`,
    "empty query": (good) => `${good}?`,
    "host in upper case": (good) => good.replace("api.platform.example", "API.PLATFORM.EXAMPLE"),
    "scheme in upper case": (good) => good.replace("https", "HTTPS"),
    "port 443": (good) => good.replace(".example/", ".example:443/"),
    "dot segment": (good) => good.replace("/BANKA/", "/./BANKA/"),
    "double dot segment": (good) => good.replace("/BANKA/", "/x/../BANKA/"),
    "needless escapes": (good) => good.replace("BANKA/", "B%41NK%41/").replace("/v1", "/%76%31"),
  };
  const forgeries: Readonly<Record<string, (good: JwsParts) => Forgery>> = {
    ...Object.fromEntries(
      Object.entries(urls).map(([name, change]) =>
        [name, (good: JwsParts) => ({ claims: { htu: change(String(payload(good)["htu"])) } })] as const
      ),
    ),
    "iat eight seconds ahead": () => ({ claims: { iat: now + 8 } }),
    "iat ten seconds old": () => ({ claims: { iat: now - 10 } }),
    "nbf now, exp in 300 s": () => ({ claims: { nbf: now, exp: now + 300 } }),
    "nonce": () => ({ claims: { nonce: "n-0S6_WzA2Mj" } }),
    "unknown members": () => ({ header: { tx_id: "1" }, claims: { tx_id: "1", aud: "anyone" } }),
    "kid of the client's signing key": () => ({ header: { kid: env.tpp.signing.kid } }),
    "typ in upper case": () => ({ header: { typ: "DPoP+JWT" } }),
    "typ as a full media type": () => ({ header: { typ: "application/DPoP+jwt" } }),
    "jwk with more public members": ({ key: { publicJwk } }) => ({
      header: { jwk: { ...publicJwk, kid: "k", use: "sig", alg: "PS256", x5t: "t", "x5t#S256": "t" } },
    }),
  };
  for (const place of await proofPlaces(env)) {
    const atOAuth = !/^(GET|POST) /.test(place.name);
    await stepsOf(t, Object.entries(forgeries), ([name]) => `${place.name}: ${name}`, async ([, forge]) => {
      const good = await place.parts();
      await place.takes(await place.present(await forged(good, forge(good))));
    });
    for (const ath of atOAuth ? [await sha256("token"), 7] : []) {
      await t.step(`${place.name}: ath ${ath}, without a token`, async () => {
        await place.takes(await place.present(await forged(await place.parts(), { claims: { ath } })));
      });
    }
  }
  assertEquals(env.logged.filter((line) => line.includes('"level":"error"')), []);
});

function payload({ payload }: JwsParts): JsonObject {
  if (typeof payload === "string") throw new TypeError("a proof has claims");
  return payload;
}

/** A claim of a good proof, changed. */
function replacing(claim: string, name: string, change: (good: string) => unknown): Attack {
  return {
    name: `${claim} ${name}`,
    forge: (good) => forged(good, { claims: { [claim]: change(String(payload(good)[claim])) } }),
  };
}
