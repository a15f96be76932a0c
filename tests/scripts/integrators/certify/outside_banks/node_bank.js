/** A bank written from docs/bank.md alone, for Node. Its consent screen is its own. Needs jose. */
import { createHash, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { Agent, request as httpsRequest } from "node:https";
import process from "node:process";
import * as jose from "jose";

const { PARTICIPANT: folder, SANDBOX_DIR: sandbox, CERTIFICATION_HOOK: hook, KEY_COOLDOWN = "30" } =
  process.env;
const read = (path) => readFileSync(path, "utf8");
const me = JSON.parse(read(`${folder}/participant.json`));
const at = JSON.parse(read(`${sandbox}/endpoints.json`));
const statement = read(`${folder}/${me.software_client_id}.jks`).trim();
const { payment_orders_uri: ordersUri } = jose.decodeJwt(statement);
const [code, auth] = [me.org_id, at.auth_url];
const home = new URL(me.redirect_uris[0]);
const signingKey = await jose.importPKCS8(read(`${folder}/signing.key.pem`), "PS256");
const openingKey = await jose.importPKCS8(read(`${folder}/encryption.key.pem`), "RSA-OAEP-256");
const dpop = await jose.generateKeyPair("PS256");
const { kty, n, e } = await jose.exportJWK(dpop.publicKey);
const platformKeys = jose.createRemoteJWKSet(new URL(`${auth}/jwks`), {
  cooldownDuration: Number(KEY_COOLDOWN) * 1000,
});
const agent = new Agent({
  ca: read(`${sandbox}/ca.pem`),
  cert: read(`${folder}/transport.cert.pem`),
  key: read(`${folder}/transport.key.pem`),
  keepAlive: true,
});
const accounts = new Map([["GB33BUKB20201555555555", 150_000], ["GB82WEST12345698765432", 2_500]]); // cents
const [visits, seen, orders] = [new Map(), new Set(), new Map()];
const say = (words) => process.stdout.write(`${words}\n`);
const pause = (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));

const sign = (claims, header = {}, key = signingKey) =>
  new jose.SignJWT({ jti: randomUUID(), ...claims }).setIssuedAt().setNotBefore("0s").setExpirationTime("5m")
    .setProtectedHeader({ alg: "PS256", typ: "JWT", kid: me.signing_kid, ...header }).sign(key);

async function verified(token, requiredClaims) {
  const { payload } = await jose.jwtVerify(token, platformKeys, {
    algorithms: ["PS256"],
    typ: "JWT",
    issuer: auth,
    audience: code,
    requiredClaims: ["exp", "iat", "jti", ...requiredClaims],
  });
  if (typeof payload.aud !== "string" || payload.exp - payload.iat > 300) throw new Error("aud or exp");
  return payload;
}

/** A request over mutual TLS. @returns the JSON of a 2xx answer */
function post(method, url, headers, body = "") {
  return new Promise((resolve, reject) => {
    const sent = httpsRequest(url, { method, agent, headers, timeout: 10_000 }, async (answer) => {
      const text = (await answer.toArray()).join("");
      if (answer.statusCode < 300) resolve(JSON.parse(text));
      else reject(new Error(`${method} ${url}: ${answer.statusCode} ${text}`));
    });
    sent.on("timeout", () => sent.destroy(new Error("timeout"))).on("error", reject).end(body);
  });
}

async function send(method, url, { token, headers, body } = {}) {
  const ath = token && createHash("sha256").update(token).digest("base64url");
  const proof = await new jose.SignJWT({ htm: method, htu: url, ath }).setIssuedAt().setJti(randomUUID())
    .setProtectedHeader({ alg: "PS256", typ: "dpop+jwt", jwk: { kty, n, e } }).sign(dpop.privateKey);
  const authorization = token && { authorization: `DPoP ${token}` };
  return await post(method, url, { dpop: proof, ...authorization, ...headers }, body);
}

async function backChannel(method, path, data) {
  const base = `${at.base_url}/${code}`;
  const form = new URLSearchParams({
    grant_type: "client_credentials",
    scope: "bank",
    client_id: me.client_id,
    client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
    client_assertion: await sign({ iss: me.client_id, sub: me.client_id, aud: `${auth}/${code}` }),
  });
  const type = { "content-type": "application/x-www-form-urlencoded" };
  const { access_token: token } = await send("POST", `${base}/token.oauth2/v1`, {
    headers: type,
    body: `${form}`,
  });
  if (data === undefined) return await send(method, `${base}/${path}`, { token });
  const body = JSON.stringify({ Data: data });
  const names = ["iat", "iss", "tan"].map((name) => `http://openbanking.org.uk/${name}`);
  const values = [Math.floor(Date.now() / 1000), code, new URL(at.directory_url).host];
  const signed = Object.fromEntries(names.map((name, place) => [name, values[place]]));
  const jws = await new jose.FlattenedSign(new TextEncoder().encode(body))
    .setProtectedHeader({ alg: "PS256", kid: me.signing_kid, ...signed, crit: names })
    .sign(signingKey, { crit: Object.fromEntries(names.map((name) => [name, true])) });
  const headers = {
    "content-type": "application/json",
    "x-jws-signature": `${jws.protected}..${jws.signature}`,
  };
  return await send(method, `${base}/${path}`, { token, headers, body });
}

/** Opens a visit. @throws {Error} at the first doubt, and then nothing is used up */
async function arrive(sealed) {
  const { plaintext, protectedHeader: { cty, kid, zip } } = await jose.compactDecrypt(sealed, openingKey, {
    keyManagementAlgorithms: ["RSA-OAEP-256"],
    contentEncryptionAlgorithms: ["A256GCM"],
  });
  if (cty !== "JWT" || kid !== me.encryption_kid || zip !== undefined) throw new Error("JWE header");
  const needed = ["ref_id", "correlation_id", "debtor_account_present"];
  const claims = await verified(new TextDecoder().decode(plaintext), needed);
  if (seen.has(claims.jti)) throw new Error("jti used before");
  seen.add(claims.jti);
  const visit = { claims, secret: randomUUID(), expires: Date.now() + 900_000 };
  visits.set(claims.jti, visit);
  try {
    const { Data } = await backChannel("GET", `back-channel-auth/v1/${claims.ref_id}`);
    visit.account = Data.Initiation.DebtorAccount?.Identification;
    if (String(visit.account !== undefined) !== claims.debtor_account_present) {
      throw new Error("debtor_account_present");
    }
  } catch (error) { // the customer goes back in any case
    say(error.message);
    visit.back = result(visit, "error");
  }
  return visit;
}

/** Where the browser goes. The first decision counts. */
function decide(visit, decision, account) {
  const chosen = visit.account ?? account ?? [...accounts.keys()][0];
  const isApproved = decision === "approve" && Date.now() < visit.expires && accounts.has(chosen);
  return visit.back ??= isApproved ? approve(visit, chosen) : result(visit, "failure");
}

async function approve(visit, chosen) {
  const id = visit.claims.ref_id;
  if (visit.account !== undefined) return await result(visit, "success");
  const own = shown().filter(({ Identification }) => Identification === chosen);
  const data = { BankId: code, ConsentId: id, Sub: "customer-4711", DebtorAccount: own };
  const isReported = await backChannel("PUT", `back-channel-auth/v1/${id}`, data).then(
    () => true,
    () => false,
  );
  return await result(visit, isReported ? "success" : "error");
}

async function result({ claims: { ref_id, correlation_id, debtor_account_present } }, status) {
  const same = { ref_id, correlation_id, debtor_account_present, bank_id: code };
  const jws = await sign({
    iss: code,
    aud: auth,
    sub: "customer-4711",
    status,
    status_code: status,
    ...same,
  });
  const { keys } = await (await fetch(`${auth}/jwks`)).json();
  const { kid, alg: _, use: __, ...jwk } = keys.find(({ use }) => use === "enc");
  const key = await jose.importJWK(jwk, "RSA-OAEP-256");
  const sealed = await new jose.CompactEncrypt(new TextEncoder().encode(jws))
    .setProtectedHeader({ alg: "RSA-OAEP-256", enc: "A256GCM", cty: "JWT", kid }).encrypt(key);
  return `${auth}/${code}/authorization.sca.oauth2?oAuthUrl=${sealed}`;
}

const shown = () =>
  [...accounts].map(([Identification, cents]) => (
    { SchemeName: "UK.OBIE.IBAN", Identification, Currency: "EUR", Balance: (cents / 100).toFixed(2) }
  ));

async function takeOrder(token) {
  const { Data } = await verified(token, ["Data"]);
  const { DomesticPaymentId: id, DebtorAccount, Initiation: { InstructedAmount: { Amount, Currency } } } =
    Data;
  if (!orders.has(id)) {
    const [payer, cents] = [DebtorAccount.Identification, Math.round(Number(Amount) * 100)];
    const canPay = Currency === "EUR" && cents <= (accounts.get(payer) ?? -1);
    if (canPay) accounts.set(payer, accounts.get(payer) - cents);
    orders.set(id, canPay ? "AcceptedSettlementInProcess" : "Rejected");
    if (canPay) void report(id);
  }
  return { Status: orders.get(id) };
}

async function report(id) {
  const data = { Status: "AcceptedSettlementCompleted", StatusUpdateDateTime: new Date().toISOString() };
  for (const seconds of [1, 1, 2, 4, 8, 16]) {
    await pause(seconds);
    if (await backChannel("PUT", `back-channel-payments/v1/${id}`, data).then(() => true, () => false)) {
      return;
    }
  }
}

function driveCustomer({ consent_id, decision, account }) {
  const visit = [...visits.values()].findLast(({ claims, back }) =>
    claims.ref_id === consent_id && back === undefined
  );
  if (visit === undefined) return undefined;
  if (decision === "timeout") visit.expires = 0;
  return decide(visit, decision, account);
}

/** @returns status, headers and body of the answer */
async function answer({ method, url, headers }, body) {
  const { pathname, searchParams } = new URL(url, home);
  const hookPath = new URL(hook).pathname;
  const to = (location, more) => [303, { location, ...more }, ""];
  if (method === "GET" && pathname === hookPath) return [200, {}, { accounts: shown() }];
  if (method === "POST" && pathname === `${hookPath}/decisions`) {
    const location = await driveCustomer(JSON.parse(body));
    return location === undefined ? [404, {}, {}] : [200, {}, { location }];
  }
  if (method === "POST" && pathname === `${hookPath}/disputes`) return [404, {}, {}];
  if (method === "POST" && pathname === new URL(ordersUri).pathname) return [200, {}, await takeOrder(body)];
  if (pathname === home.pathname) {
    const { claims: { jti }, secret } = await arrive(searchParams.get("oAuthUrl") ?? "");
    const path = `${home.pathname}/${jti}`;
    return to(path, { "set-cookie": `visit=${secret}; Path=${path}; HttpOnly; SameSite=Lax` });
  }
  const visit = visits.get(pathname.slice(home.pathname.length + 1));
  if (!headers.cookie?.split("; ").includes(`visit=${visit?.secret}`)) throw new Error("another browser");
  if (Date.now() >= visit.expires) decide(visit, "timeout");
  return visit.back === undefined ? [200, {}, "<!doctype html><title>Bank</title>"] : to(await visit.back);
}

const registration = await sign({
  iss: me.org_name,
  aud: at.registration_audience,
  redirect_uris: me.redirect_uris,
  token_endpoint_auth_method: "private_key_jwt",
  grant_types: ["authorization_code"],
  scope: "bank",
  application_type: "web",
  software_statement: statement,
});
await post("POST", `${at.base_url}/register/v1`, { "content-type": "application/jose" }, registration)
  .catch(({ message }) => say(message)); // registered before
createServer(async (request, response) => {
  const body = (await request.toArray()).join("");
  const [status, headers, content] = await answer(request, body).catch((error) => {
    say(`rejected: ${error.message}`);
    return [400, {}, "<!doctype html><title>Bank</title>"];
  });
  const isPage = typeof content === "string";
  const type = isPage ? "text/html; charset=utf-8" : "application/json";
  response.writeHead(status, { "content-type": type, ...headers }).end(
    isPage ? content : JSON.stringify(content),
  );
}).listen(Number(home.port), "127.0.0.1");
