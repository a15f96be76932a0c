/**
 * A first payment by a TPP of your own, in one file without project code: take it and grow it. Wants the folder of an
 * onboarded participant (`deno task participant onboard`) and a running sandbox; README "A payment in five minutes".
 */
import * as jose from "jose";
import * as oauth from "oauth4webapi";

const [folder, bank = "BANKA", outcome] = Deno.args;
const say = (text: string): void => void Deno.stdout.writeSync(new TextEncoder().encode(`${text}\n`));
const stop = (why: string, status = 1): never => {
  Deno.stderr.writeSync(new TextEncoder().encode(`${why}\n`));
  Deno.exit(status);
};
globalThis.addEventListener("unhandledrejection", (event) => stop(explain(event.reason))); // no stack trace for you
if (folder === undefined) {
  stop("usage: first_payment.ts <participant folder> [bank code, else BANKA] [outcome]", 2);
}
const sandbox = Deno.env.get("SANDBOX_DIR") ?? ".data/sandbox";
const read = (path: string): Promise<string> =>
  Deno.readTextFile(path).catch((error: Error) => stop(unreadable(path, error)));

// 0. Who I am: the participant's folder. Which platform: the sandbox's endpoints.json.
const me = JSON.parse(await read(`${folder}/participant.json`));
const endpoints = JSON.parse(await read(`${sandbox}/endpoints.json`));
const mutualTls = Deno.createHttpClient({
  caCerts: [await read(`${sandbox}/ca.pem`)],
  cert: await read(`${folder}/transport.cert.pem`),
  key: await read(`${folder}/transport.key.pem`),
});
const overMutualTls = (url: string | URL, init: object = {}): Promise<Response> =>
  fetch(url, { ...init, client: mutualTls });
const signingKey = await jose.importPKCS8(await read(`${folder}/signing.key.pem`), "PS256");
const redirectUri = new URL(me.redirect_uris[0]);
// JWTs are dated by the platform's time. A sandbox's can be moved ahead (POST {directory_url}/sandbox/clock); outside of
// sandboxes nobody has that address, and it is this computer's own.
const secondsAhead = async (): Promise<number> => {
  const asked = fetch(`${endpoints.directory_url}/sandbox/clock`).then((answer) => answer.json());
  return Math.round((await asked.catch(() => undefined))?.ahead_seconds ?? 0);
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
const { client_id, error_description } = await registered.json();
say(`register: ${registered.status} ${client_id ?? error_description}`); // 400: registered before with this statement

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
const ownToken = await oauth.processClientCredentialsResponse(
  server,
  client,
  await oauth.clientCredentialsGrantRequest(server, client, authenticate, { scope: "payments" }, options),
);

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
const consent = await post(`/domestic-payment-consents/v1`, ownToken.access_token, {
  Data: { Initiation },
  Risk: {},
});
say(`consent ${consent.Data.ConsentId}: ${consent.Data.Status}`);

// 4. Push the authorization request (contract EP3) and send the customer's browser off (contract EP4).
const codeVerifier = oauth.generateRandomCodeVerifier();
const state = oauth.generateRandomState();
const pushed = await oauth.processPushedAuthorizationResponse(
  server,
  client,
  await oauth.pushedAuthorizationRequest(server, client, authenticate, {
    response_type: "code",
    redirect_uri: redirectUri.href,
    code_challenge: await oauth.calculatePKCECodeChallenge(codeVerifier),
    code_challenge_method: "S256",
    consent_id: consent.Data.ConsentId,
    scope: "payments",
    state,
  }, options),
);
const link = `${server.authorization_endpoint}?${new URLSearchParams({
  client_id: me.client_id,
  request_uri: pushed.request_uri,
})}`;
// 5. Wait for the customer to come back; state and iss are checked (RFC 9207).
const callback = outcome === undefined ? await customerReturns() : await headlessCustomer(outcome);
const answer = oauth.validateAuthResponse(server, client, callback, state); // throws where the customer rejected

ahead = await secondsAhead(); // the customer took their time
client[oauth.clockSkew] = ahead;
options.DPoP = oauth.DPoP(client, dpopKeys);

// 6. The code for the payment's token (contract EP2), the payment (contract EP9), its status (contract EP10).
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
const order = { Data: { ConsentId: consent.Data.ConsentId, Initiation }, Risk: {} };
const payment = await post(`/domestic-payments/v1`, paymentToken.access_token, order);
say(`payment ${payment.Data.DomesticPaymentId}: ${payment.Data.Status}`);
mutualTls.close();

/** The customer opens the link in a browser; the platform redirects the browser to my redirect URL. */
async function customerReturns(): Promise<URL> {
  say(`open this and log in as alice / sandbox, one-time code 123456:\n${link}`);
  const { promise, resolve } = Promise.withResolvers<URL>();
  const listener = Deno.serve(
    { port: Number(redirectUri.port), hostname: "127.0.0.1", onListen: () => {} },
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
    body: JSON.stringify({ bank, client_id: me.client_id, request_uri: pushed.request_uri, outcome }),
  });
  const { redirect_url, error_description } = await response.json();
  return new URL(redirect_url ?? stop(`The customer did not come back: ${error_description}`));
}

/** A signed POST to a resource endpoint of the bank: DPoP proof, idempotency key, detached signature over the bytes. */
// deno-lint-ignore no-explicit-any -- an answer of the platform, read by the lines above
async function post(path: string, accessToken: string, body: unknown): Promise<any> {
  const bytes = new TextEncoder().encode(JSON.stringify(body));
  const claims = {
    "http://openbanking.org.uk/iat": now(),
    "http://openbanking.org.uk/iss": `${me.org_id}/${me.software_client_id}`,
    "http://openbanking.org.uk/tan": new URL(endpoints.directory_url).host,
  };
  const crit = Object.keys(claims);
  const signed = await new jose.FlattenedSign(bytes)
    .setProtectedHeader({ alg: "PS256", kid: me.signing_kid, ...claims, crit })
    .sign(signingKey, { crit: Object.fromEntries(crit.map((name) => [name, true])) });
  const url = new URL(`${endpoints.base_url}/${bank}${path}`);
  const headers = new Headers({
    "content-type": "application/json",
    "x-idempotency-key": crypto.randomUUID(),
    "x-jws-signature": `${signed.protected}..${signed.signature}`,
  });
  const response = await oauth.protectedResourceRequest(accessToken, "POST", url, headers, bytes, options);
  const text = await response.text();
  if (response.status !== 201) stop(`POST ${path} was rejected: HTTP ${response.status} ${text}`);
  return JSON.parse(text);
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
