/**
 * A first payment by a TPP of your own, in one file without project code: take it and grow it. Wants the folder of an
 * onboarded participant (`deno task participant onboard`) and a running sandbox; README "A payment in five minutes".
 * Ends with 0 if the payment is accepted, 3 if customer or bank rejected it, 4 if that is unknown, else it was not made.
 */
import * as jose from "jose";
import * as oauth from "oauth4webapi";

type Names = "client_id" | "org_id" | "org_name" | "signing_kid" | "software_client_id";
type Me = Record<Names, string> & { redirect_uris: [string, ...string[]] };
type Hosts = "auth_url" | "banks_url" | "base_url" | "directory_url";
type Endpoints = Record<Hosts | "registration_audience", string>;
/** A consent or a payment: what is read of it. */
type Made = { Data: Record<"ConsentId" | "DomesticPaymentId" | "Status" | "StatusReason", string> };
const [folder, bank = "BANKA", outcome] = Deno.args;
const say = (text: string): void => void Deno.stdout.writeSync(new TextEncoder().encode(`${text}\n`));
const stop = (why: string, status = 1): never => {
  Deno.stderr.writeSync(new TextEncoder().encode(`${why}\n`));
  Deno.exit(status);
};
let sent = false; // from then on an error means that the payment may have been made
globalThis.addEventListener("unhandledrejection", (event) => fail(event.reason)); // no stack trace for you
if (folder === undefined) {
  stop("usage: first_payment.ts <participant folder> [bank code, else BANKA] [outcome]", 2);
}
const sandbox = Deno.env.get("SANDBOX_DIR") ?? ".data/sandbox";
const read = (path: string): Promise<string> =>
  Deno.readTextFile(path).catch((error: Error) => stop(unreadable(path, error)));

// 0. Who I am: the participant's folder. Which platform: the sandbox's endpoints.json.
const me = JSON.parse(await read(`${folder}/participant.json`)) as Me;
const endpoints = JSON.parse(await read(`${sandbox}/endpoints.json`)) as Endpoints;
const mutualTls = Deno.createHttpClient({
  caCerts: [await read(`${sandbox}/ca.pem`)],
  cert: await read(`${folder}/transport.cert.pem`),
  key: await read(`${folder}/transport.key.pem`),
  poolMaxIdlePerHost: 0, // on a kept connection that ends, fetch would repeat a request with its proof
});
const overMutualTls = (url: string | URL, init: object = {}): Promise<Response> =>
  fetch(url, { ...init, redirect: "manual", signal: AbortSignal.timeout(15_000), client: mutualTls });
const signingKey = await jose.importPKCS8(await read(`${folder}/signing.key.pem`), "PS256");
const redirectUri = new URL(me.redirect_uris[0]);
// JWTs are dated by the platform's time. A sandbox's can be moved ahead (POST {directory_url}/sandbox/clock); outside of
// sandboxes no server has that address, and it is this computer's own.
const secondsAhead = async (): Promise<number> => {
  const told = await fetch(`${endpoints.directory_url}/sandbox/clock`)
    .then((answer) => answer.json() as Promise<{ ahead_seconds: number }>).catch(() => undefined);
  return Math.round(told?.ahead_seconds ?? 0);
};
let ahead = await secondsAhead();
const now = (): number => Math.floor(Date.now() / 1000) + ahead;

// 1. Register once: the software statement, unchanged, in a JWT that I sign (contract EP13).
const registration = await new jose.SignJWT({
  redirect_uris: me.redirect_uris,
  token_endpoint_auth_method: "private_key_jwt",
  grant_types: ["client_credentials", "authorization_code"],
  scope: "payments",
  software_statement: (await read(`${folder}/${me.software_client_id}.jks`)).trim(),
  application_type: "web",
}).setProtectedHeader({ alg: "PS256", typ: "JWT", kid: me.signing_kid })
  .setIssuer(me.org_name).setAudience(endpoints.registration_audience).setJti(crypto.randomUUID())
  .setIssuedAt(now()).setExpirationTime(now() + 300).sign(signingKey);
const registered = await overMutualTls(`${endpoints.base_url}/register/v1`, {
  method: "POST",
  headers: { "content-type": "application/jose" },
  body: registration,
});
if (registered.status >= 500) {
  stop(`The platform cannot register you now: HTTP ${registered.status}. Try again.`);
}
const told = await registered.json() as { client_id?: string; error_description?: string };
say(`register: ${registered.status} ${told.client_id ?? told.error_description}`); // 400: registered before with this statement

// 2. Discover the bank's authorization server and get a token of my own, bound to a DPoP key (contract EP1).
const insecure = { [oauth.allowInsecureRequests]: true }; // auth_url is http on this computer only
const issuer = new URL(`${endpoints.auth_url}/${bank}`);
const discovered = await oauth.discoveryRequest(issuer, { algorithm: "oauth2", ...insecure });
if (discovered.status === 404) stop(`No bank has the code ${bank}. In a sandbox there are BANKA and BANKB.`);
const server = await oauth.processDiscoveryResponse(issuer, discovered);
const client: oauth.Client = { client_id: me.client_id, [oauth.clockSkew]: ahead };
const dpopKeys = await oauth.generateKeyPair("PS256");
const authenticate = oauth.PrivateKeyJwt({ key: signingKey, kid: me.signing_kid });
const options = { DPoP: oauth.DPoP(client, dpopKeys), [oauth.customFetch]: overMutualTls };
const scope = "payments";
const granted = await persistently(() =>
  oauth.clientCredentialsGrantRequest(server, client, authenticate, { scope }, options)
);
const ownToken = await oauth.processClientCredentialsResponse(server, client, granted);
if (ownToken.token_type !== "dpop") stop("The token is not bound to my key.");
// The platform signs its answers (contract SG6). A kid that I do not know yet is a new key of the platform.
const platformKeys = jose.createRemoteJWKSet(new URL(`${endpoints.auth_url}/jwks`), { cooldownDuration: 0 });

// 3. Create the consent (contract EP6): a signed body and an idempotency key.
const Initiation = {
  InstructedAmount: { Amount: "4.20", Currency: "EUR" },
  CreditorAccount: {
    SchemeName: "UK.OBIE.IBAN",
    Identification: "FR1420041010050500013M02606",
    Name: me.org_name,
  },
  RemittanceInformation: { Reference: "FIRST-PAYMENT" },
};
const consentBody = { Data: { Initiation }, Risk: {} };
const consent = await post(`/domestic-payment-consents/v1`, ownToken.access_token, consentBody);
say(`consent ${consent.Data.ConsentId}: ${consent.Data.Status}`);

// 4. Push the authorization request (contract EP3) and send the customer's browser off (contract EP4).
const codeVerifier = oauth.generateRandomCodeVerifier();
const state = oauth.generateRandomState();
const parameters = {
  response_type: "code",
  redirect_uri: redirectUri.href,
  code_challenge: await oauth.calculatePKCECodeChallenge(codeVerifier),
  code_challenge_method: "S256",
  consent_id: consent.Data.ConsentId,
  scope,
  state,
};
const announced = await persistently(() =>
  oauth.pushedAuthorizationRequest(server, client, authenticate, parameters, options)
);
const pushed = await oauth.processPushedAuthorizationResponse(server, client, announced);
const { request_uri } = pushed;
const link = `${server.authorization_endpoint}?${new URLSearchParams({
  client_id: me.client_id,
  request_uri,
})}`;
// 5. Wait for the customer to come back; state and iss are checked (RFC 9207).
const callback = outcome === undefined ? await customerReturns() : await headlessCustomer(outcome);
const answer = oauth.validateAuthResponse(server, client, callback, state); // throws where the customer rejected

ahead = await secondsAhead(); // the customer took their time
client[oauth.clockSkew] = ahead;
options.DPoP = oauth.DPoP(client, dpopKeys);

// 6. The code for the payment's token (contract EP2): it is sent once, whatever happens.
const paymentToken = await oauth.processAuthorizationCodeResponse(
  server,
  client,
  await oauth.authorizationCodeGrantRequest(
    server,
    client,
    authenticate,
    answer,
    redirectUri.href,
    codeVerifier,
    options,
  ),
);
if (paymentToken.token_type !== "dpop") stop("The token is not bound to my key.");

// 7. The payment (contract EP9), and its status until the bank has answered (contract EP10).
const { ConsentId } = consent.Data;
const order = { Data: { ConsentId, Initiation }, Risk: {} };
sent = true;
let payment = await post(`/domestic-payments/v1`, paymentToken.access_token, order);
if (payment.Data.ConsentId !== ConsentId) throw new Error("The answer is about another consent.");
const { DomesticPaymentId: paymentId } = payment.Data;
for (let reads = 0; payment.Data.Status === "Pending" && reads < 30; reads++) {
  await pause(1);
  payment = await call("GET", `/domestic-payments/v1/${paymentId}`, paymentToken.access_token);
}
if (payment.Data.ConsentId !== ConsentId || payment.Data.DomesticPaymentId !== paymentId) {
  throw new Error("The answer is about another payment.");
}
say(`payment ${paymentId}: ${payment.Data.Status}`);
mutualTls.close();
if (payment.Data.Status === "Rejected") stop(`The bank rejected it: ${payment.Data.StatusReason}`, 3);
if (payment.Data.Status === "Pending") stop("The bank has not answered yet.", 4);

/** The customer opens the link in a browser; the platform redirects the browser to my redirect URL. */
async function customerReturns(): Promise<URL> {
  const { promise, resolve } = Promise.withResolvers<URL>();
  const onListen = () => say(`open this and log in as alice / sandbox, one-time code 123456:\n${link}`);
  const listener = Deno.serve(
    { port: Number(redirectUri.port), hostname: "127.0.0.1", onListen },
    (request) => {
      const url = new URL(request.url);
      if (url.pathname !== redirectUri.pathname) return new Response("not here", { status: 404 });
      resolve(url);
      return new Response("Thank you. You can close this window.");
    },
  );
  const returned = await promise;
  await listener.shutdown(); // after its answer
  return returned;
}

/** Sandbox only: a customer without a browser who approves, refuses, is late, or whose bank fails. */
async function headlessCustomer(outcome: string): Promise<URL> {
  const response = await fetch(`${endpoints.banks_url}/authorizations`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ bank, client_id: me.client_id, request_uri, outcome }),
  });
  const back = await response.json() as { redirect_url?: string; error_description?: string };
  return new URL(back.redirect_url ?? stop(`The customer did not come back: ${back.error_description}`));
}

/** A signed POST to a resource endpoint of the bank: an idempotency key, and a detached signature over the bytes. */
async function post(path: string, accessToken: string, body: unknown): Promise<Made> {
  const bytes = new TextEncoder().encode(JSON.stringify(body));
  const claims = {
    "http://openbanking.org.uk/iat": now(),
    "http://openbanking.org.uk/iss": `${me.org_id}/${me.software_client_id}`,
    "http://openbanking.org.uk/tan": new URL(endpoints.directory_url).host,
  };
  const crit = Object.keys(claims);
  const signed = await new jose.FlattenedSign(bytes)
    .setProtectedHeader({ alg: "PS256", kid: me.signing_kid, ...claims, crit })
    .sign(signingKey, { crit: understood(crit) });
  return await call("POST", path, accessToken, bytes, {
    "content-type": "application/json",
    "x-idempotency-key": crypto.randomUUID(), // the same for every repetition: the platform carries it out once
    "x-jws-signature": `${signed.protected}..${signed.signature}`,
  });
}

/** A request to a resource endpoint of the bank, with a proof of its own each time that it is sent. */
async function call(method: string, path: string, token: string, body?: Uint8Array, add = {}): Promise<Made> {
  const url = new URL(`${endpoints.base_url}/${bank}${path}`);
  const send = () => oauth.protectedResourceRequest(token, method, url, new Headers(add), body, options);
  const response = await persistently(send);
  const bytes = new Uint8Array(await response.arrayBuffer());
  const text = new TextDecoder().decode(bytes);
  if (response.status >= 500 || response.status === 429) throw new Error(`HTTP ${response.status}`);
  if (!response.ok) stop(`${method} ${path} was rejected: HTTP ${response.status} ${text}`);
  await verify(response.headers.get("x-jws-signature") ?? "", bytes);
  return JSON.parse(text) as Made;
}

/** The platform's signature over the bytes of its answer, in the profile of its header (contract SG1, SG2). */
async function verify(signature: string, bytes: Uint8Array): Promise<void> {
  const [header = "", , value = ""] = signature.split(".");
  const isUnencoded = jose.decodeProtectedHeader({ protected: header }).b64 === false;
  const payload = isUnencoded ? bytes : jose.base64url.encode(bytes);
  const crit = understood(["iat", "iss", "tan"].map((name) => `http://openbanking.org.uk/${name}`));
  const signed = { protected: header, payload, signature: value };
  await jose.flattenedVerify(signed, platformKeys, { algorithms: ["PS256"], crit });
}

function understood(names: readonly string[]): Record<string, boolean> {
  return Object.fromEntries(names.map((name) => [name, true]));
}

/** Sends again what got no answer, 429 or 5xx, when Retry-After has passed. Never for a code: it is used once. */
async function persistently(send: () => Promise<Response>): Promise<Response> {
  for (let attempt = 1;; attempt++) {
    const response = await send().catch((error) => {
      const isLost = error instanceof TypeError || error?.name === "TimeoutError";
      if (!isLost || attempt === 4) throw error;
    });
    const isFinal = response !== undefined && response.status < 500 && response.status !== 429;
    const seconds = Number(response?.headers.get("retry-after") ?? attempt);
    if (response !== undefined && (isFinal || attempt === 4 || seconds > 30)) return response;
    await response?.body?.cancel();
    await pause(seconds);
  }
}

function pause(seconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, seconds * 1000));
}

/** Ends the program with a sentence, and with a status that says whether the payment was made. */
function fail(error: unknown): never {
  const words = error instanceof Error ? error.message : error;
  if (sent) return stop(`Whether the payment was made is unknown: ${words}`, 4);
  const isRejected = error instanceof oauth.AuthorizationResponseError && error.error === "access_denied";
  return stop(explain(error), isRejected ? 3 : 1);
}

/** Describes the error and the next step, in a sentence or two. */
function explain(error: unknown): string {
  if (error instanceof oauth.AuthorizationResponseError) {
    return `The customer came back without consent: ${error.error}, ${error.error_description} No payment was made.`;
  }
  if (error instanceof oauth.ResponseBodyError) {
    return `The platform rejected the request: ${error.error}, ${error.error_description} (HTTP ${error.status}). ` +
      "If your registration was rejected above, renew your statement: participant renew-statement.";
  }
  if (error instanceof oauth.WWWAuthenticateChallengeError) {
    return `The platform rejected the token or its proof: HTTP ${error.status}.`;
  }
  if (error instanceof Deno.errors.AddrInUse) {
    return `Port ${redirectUri.port} of your redirect URL is in use. Stop the program that listens there, or onboard with another one.`;
  }
  const words = error instanceof Error ? error.message : String(error);
  const isNetwork = error instanceof TypeError && /fetch|connect|sending request/i.test(words);
  return isNetwork
    ? `No answer: ${words}\nStart the sandbox (npx -y deno@2.9.6 task start), and set SANDBOX_DIR if it is elsewhere.`
    : `The payment was not made: ${words}`;
}

function unreadable(path: string, error: Error): string {
  return path.startsWith(`${sandbox}/`) && !path.startsWith(`${folder}/`)
    ? `No sandbox runs with the folder ${sandbox} (${error.message}). Start one with npx -y deno@2.9.6 task start, or set SANDBOX_DIR.`
    : `${folder} is not the folder of an onboarded participant (${error.message}). Onboard with npx -y deno@2.9.6 task participant onboard.`;
}
