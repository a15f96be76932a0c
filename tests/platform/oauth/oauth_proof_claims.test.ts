/** DPoP proofs at the token endpoint (both grants) and PAR: method, URL and the other claims. */
import { proving } from "../../support/assertions.ts";
import { dpopKey } from "../../../scripts/testing/flows.ts";
import { seconds, sha256 } from "../../../scripts/testing/jwts.ts";
import {
  acceptedEverywhere,
  assertAccepted,
  assertRejected,
  type Case,
  oauthEndpoints,
  rejectedEverywhere,
} from "../../../scripts/testing/oauth_requests.ts";
import { BASE_URL, openEnvironment, throughProxy } from "../../../scripts/testing/environment.ts";
import { rawJws } from "../../../scripts/testing/raw_jws.ts";

const REJECTED = [400, "invalid_dpop_proof"] as const;

Deno.test("POST token, par want jti, htm, htu and iat [DP-N8]", async (t) => {
  await using env = await openEnvironment();
  await rejectedEverywhere(t, env, REJECTED, {
    "jti missing": proving(env, { jti: undefined }),
    "jti empty": proving(env, { jti: "" }),
    "jti number": proving(env, { jti: 7 }),
    "jti null": proving(env, { jti: null }),
    "jti array": proving(env, { jti: ["a"] }),
    "jti of 257 characters": proving(env, { jti: "j".repeat(257) }),
    "jti of 5 kB": proving(env, { jti: "j".repeat(5000) }),
    "htm missing": proving(env, { htm: undefined }),
    "htu missing": proving(env, { htu: undefined }),
    "iat missing": proving(env, { iat: undefined }),
    "nothing at all": proving(env, { jti: undefined, htm: undefined, htu: undefined, iat: undefined }),
  });
});

Deno.test("POST token, par reject a proof for another method [DP-N9] [DP8]", async (t) => {
  await using env = await openEnvironment();
  await rejectedEverywhere(
    t,
    env,
    REJECTED,
    Object.fromEntries(
      ["PUT", "post", "Post", "GET", " POST", "", 1, ["POST"], null].map((
        htm,
      ) => [`htm ${JSON.stringify(htm)}`, proving(env, { htm })]),
    ),
  );
});

Deno.test("POST token, par reject a proof for another URL [DP-N10]", async (t) => {
  await using env = await openEnvironment();
  const url = (change: (good: string) => unknown): Case => (endpoint) =>
    proving(env, { htu: change(endpoint.target.url) })(endpoint);
  await rejectedEverywhere(t, env, REJECTED, {
    "other host": url((good) => good.replace("api.", "api2.")),
    "longer host": url((good) => good.replace(".example", ".example.evil.example")),
    "the browser host": url((good) => good.replace("api.", "auth.")),
    "other path": url((good) => `${good}/x`),
    "trailing slash": url((good) => `${good}/`),
    "path in other case": url((good) => good.replace("oauth2", "OAuth2")),
    "no path": url(() => BASE_URL),
    "other bank": url((good) => good.replace("BANKA", "BANKB")),
    "bank in lower case": url((good) => good.replace("BANKA", "banka")),
    "http": url((good) => good.replace("https:", "http:")),
    "other port": url((good) => good.replace(".example/", ".example:8443/")),
    "PAR's at token, token's at PAR": url((good) =>
      good.includes("par") ? good.replace("par", "token") : good.replace("token", "par")
    ),
    "a resource": url(() => `${BASE_URL}/BANKA/domestic-payments/v1`),
    "relative": url((good) => new URL(good).pathname),
    "without scheme": url((good) => good.replace("https:", "")),
    "user": url((good) => good.replace("//", "//user@")),
    "user and password": url((good) => good.replace("//", "//user:pass@")),
    "empty user": url((good) => good.replace("//", "//@")),
    "empty user and password": url((good) => good.replace("//", "//:@")),
    "backslashes": url((good) => good.replace(/(?<=example.*)\//g, "\\")),
    "newline inside": url((good) => good.replace("BANKA", "BAN\nKA")),
    "space behind": url((good) => `${good} `),
    "space before": url((good) => ` ${good}`),
    "escaped slash": url((good) => good.replace("/v1", "%2Fv1")),
    "array": url((good) => [good]),
    "empty": url(() => ""),
    "3 kB": url((good) => `${good}?${"x".repeat(3000)}`),
  });
});

Deno.test("POST token, par accept a URL that is the same one, however written [DP-N11, DP9]", async (t) => {
  await using env = await openEnvironment();
  const url = (change: (good: string) => string): Case => (endpoint) =>
    proving(env, { htu: change(endpoint.target.url) })(endpoint);
  await acceptedEverywhere(t, env, {
    "query and fragment": url((good) => `${good}?x#y`),
    "empty query": url((good) => `${good}?`),
    "host in upper case": url((good) => good.replace("api.platform.example", "API.PLATFORM.EXAMPLE")),
    "scheme in upper case": url((good) => good.replace("https", "HTTPS")),
    "port 443": url((good) => good.replace(".example/", ".example:443/")),
    "dot segment": url((good) => good.replace("/BANKA/", "/./BANKA/")),
    "double dot segment": url((good) => good.replace("/BANKA/", "/x/../BANKA/")),
    "needless escape": url((good) => good.replace("BANKA", "B%41NK%41")),
  });
  for (const endpoint of await oauthEndpoints(env)) {
    await t.step(`${endpoint.name}: htu lacking the request's query`, async () => {
      await endpoint.ready();
      const good = await endpoint.request({ key: await dpopKey() });
      const request = new Request(`${good.url}?a=b`, good);
      await assertAccepted(endpoint, await env.api(request, env.tpp));
    });
  }
});

Deno.test("POST token, par reject times that are no finite numbers [DP-N13]", async (t) => {
  await using env = await openEnvironment();
  const now = seconds(env);
  const written = (times: string): Case => async (endpoint) => {
    const { publicJwk, privateKey } = await dpopKey();
    const { method, url } = endpoint.target;
    const claims = `{"htm":"${method}","htu":"${url}","jti":"${crypto.randomUUID()}",${times}}`;
    const header = { typ: "dpop+jwt", alg: "PS256", jwk: publicJwk };
    return { proof: await rawJws(await privateKey("sign"), header, claims) };
  };
  await rejectedEverywhere(t, env, REJECTED, {
    "iat text": proving(env, { iat: String(now) }),
    "iat null": proving(env, { iat: null }),
    "iat milliseconds": proving(env, { iat: env.now }),
    "iat 1e999": written('"iat":1e999'),
    "iat -1e999": written('"iat":-1e999'),
    "exp text": proving(env, { exp: String(now + 60) }),
    "exp 1e999": written(`"iat":${now},"exp":1e999`),
    "nbf null": proving(env, { nbf: null }),
    "nbf -1e999": written(`"iat":${now},"nbf":-1e999`),
  });
});

Deno.test("POST token, par ignore ath and nonce, and accept nbf and exp [DP-N16, DP-N19, DP-N24] [FAPI-D6] [DP15]", async (t) => {
  await using env = await openEnvironment();
  const now = seconds(env);
  await acceptedEverywhere(t, env, {
    "ath of some token": proving(env, { ath: await sha256("token") }),
    "ath rubbish": proving(env, { ath: 7 }),
    "nonce": proving(env, { nonce: "n-0S6_WzA2Mj" }),
    "nbf = now, exp = now + 300": proving(env, { nbf: now, exp: now + 300 }),
    "fraction of a second": proving(env, { iat: now + 0.5 }),
  });
});

Deno.test("POST token, par go by the configured URL, whatever host the request names [DP-N21, FAPI-G15, A6]", async (t) => {
  await using env = await openEnvironment();
  for (const endpoint of await oauthEndpoints(env)) {
    const evil = endpoint.target.url.replace(BASE_URL, "https://evil.example");
    const sent = async (htu: string): Promise<Response> => {
      const { proof } = await proving(env, { htu })(endpoint);
      const headers = {
        host: "evil.example",
        "x-forwarded-host": "evil.example",
        forwarded: "host=evil.example",
      };
      const request = await endpoint.request({ proof, headers });
      return await env.platform.api.fetch(throughProxy(new Request(evil, request), env.tpp));
    };
    await t.step(`${endpoint.name}: proof for the other host`, async () => {
      await endpoint.ready();
      await assertRejected(env, REJECTED, () => sent(evil));
    });
    await t.step(`${endpoint.name}: proof for the platform`, async () => {
      await endpoint.ready();
      await assertAccepted(endpoint, await sent(endpoint.target.url));
    });
  }
});
