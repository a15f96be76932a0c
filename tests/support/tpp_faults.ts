/** Planted faults of TPPs: copies of `examples/first_payment.ts`. The certification must find each by one case. */

/** One change of a text that stands there exactly once. */
export interface Change {
  readonly file?: string;
  readonly from: string;
  readonly to: string;
}

/** One planted fault. */
export interface TppFault {
  readonly finds: string;
  readonly what: string;
  readonly changes: readonly Change[];
  /** Options of `deno run`. */
  readonly flags?: readonly string[];
}

function fault(finds: string, what: string, from: string, to: string): TppFault {
  return { finds, what, changes: [{ from, to }] };
}

/** A request that the program makes beside its own, once its payment is made. */
function also(finds: string, what: string, request: string): TppFault {
  const say = "say(`payment ${paymentId}";
  return fault(finds, what, say, `${request}\n${say}`);
}

const CHECK = "const answer = oauth.validateAuthResponse(server, client, callback, state);";
const PAYMENT_URL = "new URL(`${endpoints.base_url}/${bank}/domestic-payments/v1/${paymentId}`)";

function atReturn(finds: string, what: string, change: string): TppFault {
  return fault(finds, what, CHECK, `const query = callback.searchParams;\n${change}\n${CHECK}`);
}

const VERIFY = "await jose.flattenedVerify(signed, platformKeys, {";
const RESPONSE_SIGNATURE = 'await verify(response.headers.get("x-jws-signature") ?? "", bytes);';
const NEW_KEY = '"x-idempotency-key": crypto.randomUUID(),';
const SEND =
  "const send = () => oauth.protectedResourceRequest(token, method, url, new Headers(add), body, options);";

function withKeyOfEachAttempt(finds: string, path: string): TppFault {
  return fault(
    finds,
    `a new idempotency key for each attempt at ${path}`,
    SEND,
    `const send = () => oauth.protectedResourceRequest(token, method, url, new Headers(
      path === "/${path}/v1" ? { ...add, "x-idempotency-key": crypto.randomUUID() } : add), body, options);`,
  );
}

/** Faults in what `first_payment.ts` sends. */
const REQUESTS: readonly TppFault[] = [
  fault(
    "TPP-R01",
    "every payment is made at one bank",
    'const [folder, bank = "BANKA", outcome] = Deno.args;',
    'const [folder, , outcome] = Deno.args, bank = "BANKA";',
  ),
  fault(
    "TPP-R03",
    "client assertions that are valid for 320 s",
    "oauth.PrivateKeyJwt({ key: signingKey, kid: me.signing_kid });",
    `oauth.PrivateKeyJwt({ key: signingKey, kid: me.signing_kid },
      { [oauth.modifyAssertion]: (_header, claims) => { claims.exp = claims.iat + 320; } });`,
  ),
  fault(
    "TPP-R05",
    "DPoP proofs with a query in htu",
    "const options = { DPoP: oauth.DPoP(client, dpopKeys),",
    `const options = { DPoP: oauth.DPoP(client, dpopKeys,
      { [oauth.modifyAssertion]: (_header, claims) => { claims.htu += "?v=1"; } }),`,
  ),
  also(
    "TPP-R06",
    "a DPoP proof without ath",
    `const bare = oauth.DPoP(client, dpopKeys, { [oauth.modifyAssertion]: (_header, claims) => { delete claims.ath; } });
    await oauth.protectedResourceRequest(paymentToken.access_token, "GET", ${PAYMENT_URL}, new Headers(), undefined,
      { ...options, DPoP: bare }).catch(() => {});`,
  ),
  fault(
    "TPP-R08",
    "one code_verifier for two authorizations",
    "const announced =",
    `await oauth.pushedAuthorizationRequest(server, client, authenticate,
      { ...parameters, state: oauth.generateRandomState() }, options);
    const announced =`,
  ),
  fault(
    "TPP-R09",
    "one state for all",
    "oauth.generateRandomState()",
    '"the-state-of-every-payment-of-mine"',
  ),
  fault(
    "TPP-R10",
    "a link that repeats the state",
    "URLSearchParams({\n  client_id",
    "URLSearchParams({\n  state,\n  client_id",
  ),
  fault(
    "TPP-R11",
    "one idempotency key for consent and payment",
    NEW_KEY,
    '"x-idempotency-key": (globalThis.oneKey ??= crypto.randomUUID()),',
  ),
  fault(
    "TPP-R12",
    "payload signatures dated half an hour ago",
    '"http://openbanking.org.uk/iat": now(),',
    '"http://openbanking.org.uk/iat": now() - 1800,',
  ),
  also(
    "TPP-R13",
    "an access token in an address",
    `const leak = ${PAYMENT_URL};
    leak.searchParams.set("access_token", paymentToken.access_token);
    await oauth.protectedResourceRequest(paymentToken.access_token, "GET", leak, new Headers(), undefined, options)
      .catch(() => {});`,
  ),
  {
    finds: "TPP-R14",
    what: "certificates of servers are not verified",
    changes: [],
    flags: ["--unsafely-ignore-certificate-errors"],
  },
];

/** Faults in what `first_payment.ts` believes of the customer's return. */
const RETURNS: readonly TppFault[] = [
  atReturn("TPP-B01", "state is not compared", 'if (query.has("state")) query.set("state", state);'),
  atReturn("TPP-B02", "state may be absent", 'if (!query.has("state")) query.set("state", state);'),
  atReturn("TPP-B03", "iss is not compared", 'if (query.has("iss")) query.set("iss", server.issuer);'),
  atReturn("TPP-B04", "iss may be absent", 'if (!query.has("iss")) query.set("iss", server.issuer);'),
  atReturn(
    "TPP-B05",
    "the first of two codes is used",
    'if (query.has("code")) query.set("code", query.get("code"));',
  ),
  fault("TPP-B06", "a rejection ends like a success", "isRejected ? 3 : 1", "isRejected ? 0 : 1"),
  fault(
    "TPP-B07",
    "every error is a rejection",
    'error instanceof oauth.AuthorizationResponseError && error.error === "access_denied";',
    "error instanceof oauth.AuthorizationResponseError;",
  ),
  atReturn(
    "TPP-B09",
    "a code of a reason that the program does not know is an error",
    'if ((query.get("reason_code") ?? "CUST") !== "CUST") throw new Error("unknown reason");',
  ),
];

/** Faults in what `first_payment.ts` does with answers. */
const ANSWERS: readonly TppFault[] = [
  fault(
    "TPP-A01",
    "answers about consents are not verified",
    RESPONSE_SIGNATURE,
    `if (!path.includes("consents")) ${RESPONSE_SIGNATURE}`,
  ),
  fault(
    "TPP-A02",
    "answers about payments are not verified",
    RESPONSE_SIGNATURE,
    `if (path.includes("consents")) ${RESPONSE_SIGNATURE}`,
  ),
  fault(
    "TPP-A03",
    "answers without a signature are accepted",
    RESPONSE_SIGNATURE,
    `if (response.headers.has("x-jws-signature")) ${RESPONSE_SIGNATURE}`,
  ),
  {
    finds: "TPP-A04",
    what: "an answer about any payment is accepted",
    changes: [
      { from: 'throw new Error("The answer is about another payment.");', to: "" },
      { from: 'throw new Error("The answer is about another consent.");', to: "{}" },
    ],
  },
  withKeyOfEachAttempt("TPP-A05", "domestic-payments"),
  withKeyOfEachAttempt("TPP-A06", "domestic-payment-consents"),
  fault(
    "TPP-A07",
    "Retry-After of 503 is ignored",
    "await pause(seconds);",
    "await pause(response?.status === 503 ? 0.2 : seconds);",
  ),
  fault(
    "TPP-A08",
    "Retry-After of 429 is ignored",
    "await pause(seconds);",
    "await pause(response?.status === 429 ? 0.2 : seconds);",
  ),
  fault("TPP-A09", "a payment without an answer is a failure", "if (sent) return", "if (false) return"),
  fault(
    "TPP-A10",
    "a code is sent again",
    "await oauth.authorizationCodeGrantRequest(",
    "await (async (...args) => await persistently(() => oauth.authorizationCodeGrantRequest(...args)))(",
  ),
  fault(
    "TPP-A11",
    "a rejected payment is a success",
    'if (payment.Data.Status === "Rejected")',
    "if (false)",
  ),
  {
    finds: "TPP-A12",
    what: "a pending payment is a success",
    changes: [
      { from: '"Pending" && reads < 30', to: '"Pending" && false' },
      { from: 'if (payment.Data.Status === "Pending") stop', to: "if (false) stop" },
    ],
  },
  fault(
    "TPP-A13",
    "a rejected payment is sent again",
    "response !== undefined && response.status < 500 && response.status !== 429;",
    "response !== undefined && response.status < 400;",
  ),
  fault(
    "TPP-A14",
    "tokens of any type are used",
    'if (ownToken.token_type !== "dpop") stop("The token is not bound to my key.");',
    "",
  ),
  fault("TPP-A15", "redirects of the API are followed", 'redirect: "manual"', 'redirect: "follow"'),
  fault(
    "TPP-A16",
    "the issuer of the metadata is not compared",
    "await oauth.processDiscoveryResponse(issuer, discovered);",
    "await discovered.json();",
  ),
];

const JWKS = "jose.createRemoteJWKSet(new URL(`${endpoints.auth_url}/jwks`), { cooldownDuration: 0 });";
const KEY_SET = "await (await fetch(`${endpoints.auth_url}/jwks`)).json()";

/** Faults in how `first_payment.ts` verifies. */
const KEYS: readonly TppFault[] = [
  fault("TPP-K01", "the key set is fetched once", JWKS, `jose.createLocalJWKSet(${KEY_SET});`),
  fault(
    "TPP-K02",
    "the first key of the set is taken",
    JWKS,
    `await jose.importJWK((${KEY_SET}).keys.find(({ use }) => use === "sig"), "PS256");`,
  ),
  fault(
    "TPP-K03",
    "a signature by an unknown key is accepted",
    "crit });",
    'crit }).catch((error) => { if (error.code !== "ERR_JWKS_NO_MATCHING_KEY") throw error; });',
  ),
  fault(
    "TPP-K04",
    "a wrong signature by a known kid is accepted",
    "crit });",
    'crit }).catch((error) => { if (error.code !== "ERR_JWS_SIGNATURE_VERIFICATION_FAILED") throw error; });',
  ),
  {
    finds: "TPP-K05",
    what: "RS256 is accepted",
    changes: [
      {
        from: JWKS,
        to: `jose.createLocalJWKSet({ keys: (${KEY_SET}).keys.map(({ alg, ...key }) => key) });`,
      },
      { from: 'algorithms: ["PS256"]', to: 'algorithms: ["PS256", "RS256"]' },
    ],
  },
  fault(
    "TPP-K06",
    "without a key set nothing is verified",
    VERIFY,
    VERIFY.replace("await ", "if (!(await fetch(`${endpoints.auth_url}/jwks`)).ok) return;\n  await "),
  ),
];

/** Faults of `first_payment.ts`. */
export const COMMAND_FAULTS: readonly TppFault[] = [...REQUESTS, ...RETURNS, ...ANSWERS, ...KEYS];
