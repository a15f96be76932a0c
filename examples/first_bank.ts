/**
 * A bank of your own, in one file without project code: take it and grow it. Wants the folder of an onboarded bank
 * (`deno task participant onboard --encryption`) and a running sandbox; docs/bank.md. One customer,
 * visits and orders in memory: a real bank keeps them in a database.
 */
import * as jose from "jose";

type Names = "org_id" | "org_name" | "client_id" | "software_client_id" | "signing_kid";
type Me = Record<Names, string> & { encryption_kid?: string; redirect_uris: [string, ...string[]] };
type Mine = { consent_managedby_bank?: boolean; payment_orders_uri?: string };
type Endpoints = Record<"auth_url" | "base_url" | "directory_url" | "registration_audience", string>;
type Account = { Identification: string };
type Amount = { Amount: string; Currency: string };
type Initiation = { InstructedAmount: Amount; CreditorAccount: { Name: string }; DebtorAccount?: Account };
type Handover = Record<"jti" | "ref_id" | "correlation_id" | "debtor_account_present", string>;
type Order = { DomesticPaymentId: string; DebtorAccount: Account; Initiation: Initiation };
/** The claims of a handover or of an order, once the platform's signature vouches for them. */
type Claims = Handover & { aud: unknown; iat: number; exp: number; act: { sub: string }; Data: Order };
type Answer = { access_token: string; Data: { Initiation: Initiation } };
type Step = { step: string; tries: number; ends: number; back?: Promise<string> | undefined };
type Visit = Step & { path: string; secret: string; handover: Claims; Initiation: Initiation };
type Key = Record<"use" | "kid" | "kty" | "n" | "e", string>;
const [folder] = Deno.args;
const stop = (why: string, status = 1): never => {
  Deno.stderr.writeSync(bytes(`${why}\n`));
  Deno.exit(status);
};
globalThis.addEventListener("unhandledrejection", (event) => stop(explain(event.reason))); // no stack trace for you
const sandbox = Deno.env.get("SANDBOX_DIR") ?? ".data/sandbox";
const read = (path: string): Promise<string> =>
  Deno.readTextFile(path).catch((error: Error) => stop(unreadable(path, error)));
const bytes = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);
const say = (text: string): void => void Deno.stdout.writeSync(bytes(`${text}\n`));
if (folder === undefined) stop("usage: first_bank.ts <participant folder>", 2);
const alice = { sub: "customer-1", username: "alice", password: "sandbox", code: "123456" };
const accounts = [
  { SchemeName: "UK.OBIE.IBAN", Identification: "GB33BUKB20201555555555", Currency: "EUR", cents: 150_000 },
  { SchemeName: "UK.OBIE.IBAN", Identification: "GB29NWBK60161331926819", Currency: "EUR", cents: 2_000 },
];

// 0. Who I am: the participant's folder, and what its software statement says. Which platform: endpoints.json.
const me = JSON.parse(await read(`${folder}/participant.json`)) as Me;
const software_statement = (await read(`${folder}/${me.software_client_id}.jks`)).trim();
const { consent_managedby_bank: ownScreen, payment_orders_uri } = jose.decodeJwt<Mine>(software_statement);
const platform = JSON.parse(await read(`${sandbox}/endpoints.json`)) as Endpoints;
const issuer = `${platform.auth_url}/${me.org_id}`;
const [ca, cert, key] = [`${sandbox}/ca.pem`, `${folder}/transport.cert.pem`, `${folder}/transport.key.pem`];
const client = Deno.createHttpClient({
  caCerts: [await read(ca)],
  cert: await read(cert),
  key: await read(key),
});
const signingKey = await jose.importPKCS8(await read(`${folder}/signing.key.pem`), "PS256");
const sealedTo = me.encryption_kid === undefined ? "transport" : "encryption";
const openingKey = await jose.importPKCS8(await read(`${folder}/${sealedTo}.key.pem`), "RSA-OAEP-256");
const dpop = await jose.generateKeyPair("PS256");
// A sandbox's time can be moved ahead; outside of sandboxes no server has this address, and it is this computer's own.
let ahead = 0;
const readClock = async (): Promise<void> => {
  const asked = fetch(`${platform.directory_url}/sandbox/clock`, { signal: AbortSignal.timeout(2000) });
  const told = asked.then((answer) => answer.json() as Promise<{ ahead_seconds: number }>);
  ahead = Math.round((await told.catch(() => undefined))?.ahead_seconds ?? ahead);
};
const now = (): number => Math.floor(Date.now() / 1000) + ahead;
const platformKeys = jose.createRemoteJWKSet(new URL(`${platform.auth_url}/jwks`));
const wanted = { algorithms: ["PS256"], typ: "JWT", issuer: platform.auth_url, audience: me.org_id };
const fromPlatform = async (jws: string, ...has: string[]): Promise<Claims> => {
  const asOf = { currentDate: new Date(now() * 1000), requiredClaims: ["exp", "iat", "jti", ...has] };
  const { payload } = await jose.jwtVerify<Claims>(jws, platformKeys, { ...wanted, ...asOf });
  if (typeof payload.aud !== "string") throw new Error("aud is a list"); // for me alone
  if (payload.exp - payload.iat > 300) throw new Error("lives too long");
  return payload;
};
const sign = (claims: object, header: object = {}, key = signingKey): Promise<string> =>
  new jose.SignJWT({ ...claims, jti: crypto.randomUUID() })
    .setIssuedAt(now()).setNotBefore(now()).setExpirationTime(now() + 300)
    .setProtectedHeader({ alg: "PS256", typ: "JWT", kid: me.signing_kid, ...header }).sign(key);

// 1. Register: the software statement, unchanged, in a JWT that I sign (contract EP13).
await readClock();
const how = { token_endpoint_auth_method: "private_key_jwt", application_type: "web", scope: "bank" };
const what = { software_statement, redirect_uris: me.redirect_uris, grant_types: ["authorization_code"] };
const body = await sign({ iss: me.org_name, aud: platform.registration_audience, ...what, ...how });
const headers = { "content-type": "application/jose" };
const registered = await fetch(`${platform.base_url}/register/v1`, { method: "POST", headers, body, client });
if (registered.status >= 500) {
  stop(`The platform cannot register you now: HTTP ${registered.status}. Try again.`);
}
const told = await registered.json() as { client_id?: string; error_description?: string };
say(`register: ${registered.status} ${told.client_id ?? told.error_description}`); // 400: registered before with this statement

// 2. Serve customers at my redirect URL, and the platform's payment orders at the address in my statement.
const home = new URL(me.redirect_uris[0]);
const ordersPath = payment_orders_uri && new URL(payment_orders_uri).pathname;
const policy = { "content-security-policy": "default-src 'none'; base-uri 'none'; frame-ancestors 'none'" };
const quiet = { ...policy, "cache-control": "no-store", "referrer-policy": "no-referrer" };
const html = { ...quiet, "content-type": "text/html; charset=utf-8" };
const page = (text: string, status = 200): Response => new Response(text, { status, headers: html });
const to = (location: string, more: object = {}): Response =>
  new Response(null, { status: 303, headers: { location, ...quiet, ...more } });
const visits = new Map<string, Visit>();
const orders = new Map<string, string>();
const hook = Deno.env.get("CERTIFICATION_HOOK"); // set it only while you are certified (docs/bank.md)
try {
  Deno.serve({ port: Number(home.port), hostname: "127.0.0.1" }, answer);
} catch {
  stop(
    `Port ${home.port} of your redirect URL is in use. Stop the program that listens there, or onboard with another one.`,
  );
}

async function answer(request: Request): Promise<Response> {
  const { pathname, searchParams } = new URL(request.url);
  try {
    await readClock();
    const isSmall = Number(request.headers.get("content-length") ?? NaN) <= 65_536;
    const body = request.method === "POST" && isSmall ? await request.text() : undefined;
    if (body !== undefined && pathname === ordersPath) return await takeOrder(body);
    if (hook !== undefined && request.url.startsWith(hook)) return await driveCustomer(body);
    if (pathname === home.pathname) return await arrive(searchParams.get("oAuthUrl") ?? "");
    return await attend(visits.get(pathname), request.headers.get("cookie") ?? "", body);
  } catch (error) { // why is for the log, not for the sender
    say(`rejected ${request.method} ${pathname}: ${error}`);
    return page("<!doctype html><title>Bank</title><h1>This cannot be done</h1>", 400);
  }
}

/** A customer comes with the platform's JWT (contract EP4): sealed to me, signed by the platform, for me, once. */
async function arrive(sealed: string): Promise<Response> {
  const algorithms = { keyManagementAlgorithms: ["RSA-OAEP-256"], contentEncryptionAlgorithms: ["A256GCM"] };
  const { plaintext } = await jose.compactDecrypt(sealed, openingKey, algorithms);
  const handover = await fromPlatform(new TextDecoder().decode(plaintext), "ref_id", "correlation_id");
  const [path, secret] = [`${home.pathname}/${encodeURIComponent(handover.jti)}`, crypto.randomUUID()];
  if (visits.has(path)) throw new Error("jti used before");
  const visit = { path, secret, handover, step: "login", tries: 3, ends: now() + 900 } as Visit;
  visits.set(path, visit);
  Deno.unrefTimer(setTimeout(() => visits.delete(path), 86_400_000)); // so long the platform leads the late back
  const read = await callBackChannel("GET", `back-channel-auth/v1/${handover.ref_id}`).catch(() => undefined);
  if (read) visit.Initiation = read.Data.Initiation; // contract EP11
  const isImplicit = handover.debtor_account_present === "true";
  if (!read || Boolean(visit.Initiation.DebtorAccount) !== isImplicit) visit.back = goBack(visit, "error");
  if (visit.back !== undefined) return to(await visit.back);
  return to(path, { "set-cookie": `visit=${secret}; Path=${path}; HttpOnly; SameSite=Lax` }); // on https: Secure too
}

/** The customer's pages: log in, then see the payment, choose the account and confirm with a one-time code. */
async function attend(visit: Visit | undefined, cookies: string, body?: string): Promise<Response> {
  const isTheirs = visit !== undefined && cookies.split("; ").includes(`visit=${visit.secret}`);
  if (!isTheirs) throw new Error("no visit of this browser");
  const form = new URLSearchParams(body);
  if (now() >= visit.ends) visit.back ??= goBack(visit, "failure"); // too late: back to the TPP
  if (form.get("step") === visit.step) visit.back ??= decide(visit, form); // an earlier page's entry is void
  if (visit.back !== undefined) return to(await visit.back);
  return body === undefined ? page(formOf(visit)) : to(visit.path);
}

/** Returns the URL back to the platform, or undefined if another page follows. */
function decide(visit: Visit, form: URLSearchParams): Promise<string> | undefined {
  const { step, Initiation: { DebtorAccount: given } } = visit;
  if (form.get("decision") === "refuse") return goBack(visit, "failure");
  const [user, password, code] = ["username", "password", "code"].map((name) => form.get(name));
  const ok = step === "login" ? user === alice.username && password === alice.password : code === alice.code;
  if (!ok) return --visit.tries > 0 ? undefined : goBack(visit, "failure");
  visit.step = "otp";
  if (step === "login") return undefined;
  if (!given && !ownScreen) return goBack(visit, "success", accounts); // to choose from on the platform's screen
  const wanted = given?.Identification ?? form.get("account");
  const chosen = accounts.filter(({ Identification }) => Identification === wanted);
  if (chosen.length === 0) return goBack(visit, "failure");
  return given ? goBack(visit, "success") : goBack(visit, "success", chosen); // given: an implicit consent
}

/** Reports accounts (contract EP12), and says where the browser goes (contract EP5): my JWT, sealed to the platform. */
async function goBack(visit: Visit, status: string, report?: typeof accounts): Promise<string> {
  const { debtor_account_present, ref_id, correlation_id } = visit.handover;
  if (report !== undefined) {
    const DebtorAccount = report.map(({ cents, ...own }) => ({ ...own, Balance: (cents / 100).toFixed(2) }));
    const Data = { BankId: me.org_id, ConsentId: ref_id, Sub: alice.sub, DebtorAccount };
    const put = callBackChannel("PUT", `back-channel-auth/v1/${ref_id}`, JSON.stringify({ Data }));
    if (await put.then(() => false, () => true)) status = "error"; // the customer goes back in any case
  }
  const sub = visit.step === "login" ? "nobody" : alice.sub;
  const outcome = { sub, debtor_account_present, ref_id, correlation_id, status, status_code: status };
  const jws = await sign({ iss: me.org_id, aud: platform.auth_url, bank_id: me.org_id, ...outcome });
  const { keys } = await (await fetch(`${platform.auth_url}/jwks`)).json() as { keys: Key[] };
  const enc = keys.find(({ use }) => use === "enc");
  if (enc === undefined) throw new Error("the platform has no key to encrypt to");
  const { kid, kty, n, e } = enc;
  const to = await jose.importJWK({ kty, n, e }, "RSA-OAEP-256");
  const header = { alg: "RSA-OAEP-256", enc: "A256GCM", cty: "JWT", kid };
  const sealed = await new jose.CompactEncrypt(bytes(jws)).setProtectedHeader(header).encrypt(to);
  return `${issuer}/authorization.sca.oauth2?oAuthUrl=${sealed}`;
}

/** A payment order of the platform: executed once, however often it comes; the first answer is given again. */
async function takeOrder(jws: string): Promise<Response> {
  const { Data } = await fromPlatform(jws);
  const { DomesticPaymentId: id, DebtorAccount, Initiation: { InstructedAmount: { Amount, Currency } } } =
    Data;
  const payer = accounts.find((own) => own.Identification === DebtorAccount.Identification);
  const cents = Math.round(Number(Amount) * 100);
  const canPay = payer !== undefined && payer.Currency === Currency && cents <= payer.cents;
  const isNew = !orders.has(id);
  if (canPay && isNew) payer.cents -= cents;
  const Status = orders.get(id) ?? (canPay ? "AcceptedSettlementInProcess" : "Rejected");
  orders.set(id, Status);
  say(`order ${id}: ${Currency} ${Amount} ${Status}`);
  if (isNew && canPay) settle(id, new Date(now() * 1000).toISOString());
  return Response.json({ Status });
}

/** Reports a second later that the debit is booked (contract PO2), again and again until the platform has taken it. */
function settle(id: string, StatusUpdateDateTime: string, waitMs = 1000): void {
  const body = JSON.stringify({ Data: { Status: "AcceptedSettlementCompleted", StatusUpdateDateTime } });
  const report = (): Promise<unknown> =>
    callBackChannel("PUT", `back-channel-payments/v1/${id}`, body)
      .catch(() => waitMs < 600_000 && settle(id, StatusUpdateDateTime, waitMs * 2));
  Deno.unrefTimer(setTimeout(report, waitMs));
}

/** A call with a token of my own (contract EP1; a busy bank keeps it for its hour). */
async function callBackChannel(method: string, path: string, body?: string): Promise<Answer> {
  const client_assertion_type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
  const client_assertion = await sign({ iss: me.client_id, sub: me.client_id, aud: issuer });
  const grant = { grant_type: "client_credentials", scope: "bank", client_id: me.client_id };
  const form = new URLSearchParams({ ...grant, client_assertion_type, client_assertion });
  const { access_token } = await send("POST", "token.oauth2/v1", form);
  return await send(method, path, body, access_token);
}

/** A request with a DPoP proof, a token where there is one, and a detached signature over a JSON body. */
async function send(method: string, path: string, body?: BodyInit, token?: string): Promise<Answer> {
  const htu = `${platform.base_url}/${me.org_id}/${path}`;
  const ath = token && new Uint8Array(await crypto.subtle.digest("SHA-256", bytes(token)));
  const proof = { htm: method, htu, ath: ath && jose.base64url.encode(ath) };
  const typ = { typ: "dpop+jwt", kid: undefined, jwk: await jose.exportJWK(dpop.publicKey) };
  const headers = new Headers({ dpop: await sign(proof, typ, dpop.privateKey) });
  if (token !== undefined) headers.set("authorization", `DPoP ${token}`);
  if (typeof body === "string") {
    const header = { alg: "PS256", kid: me.signing_kid };
    const jws = await new jose.FlattenedSign(bytes(body)).setProtectedHeader(header).sign(signingKey);
    headers.set("content-type", "application/json");
    headers.set("x-jws-signature", `${jws.protected}..${jws.signature}`);
  }
  const response = await fetch(htu, { method, headers, body: body ?? null, client });
  const answer = new Uint8Array(await response.arrayBuffer());
  const text = new TextDecoder().decode(answer);
  if (response.status !== 200) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  if (token !== undefined) await verify(response.headers.get("x-jws-signature") ?? "", answer);
  return JSON.parse(text) as Answer;
}

/** The platform's signature over the bytes of its answer, in the profile of its header (contract SG1, SG2, SG6). */
async function verify(jws: string, answer: Uint8Array): Promise<void> {
  const [header = "", , signature = ""] = jws.split(".");
  const isRaw = jose.decodeProtectedHeader({ protected: header }).b64 === false;
  const payload = isRaw ? answer : jose.base64url.encode(answer);
  const names = ["iat", "iss", "tan"].map((name) => [`http://openbanking.org.uk/${name}`, true] as const);
  const options = { algorithms: ["PS256"], crit: Object.fromEntries(names) };
  await jose.flattenedVerify({ protected: header, payload, signature }, platformKeys, options);
}

/** Certification (docs/bank.md): my accounts, and what my customer decides on a visit without its pages. */
async function driveCustomer(body: string | undefined): Promise<Response> {
  const shown = accounts.map(({ cents, ...own }) => ({ ...own, Balance: (cents / 100).toFixed(2) }));
  if (body === undefined) return Response.json({ accounts: shown });
  const asked = JSON.parse(body) as { consent_id: string; decision: string; account?: string };
  const { consent_id, decision, account = shown[0]?.Identification ?? "" } = asked;
  const isOpen = ({ handover, back }: Visit): boolean => handover.ref_id === consent_id && back === undefined;
  const visit = [...visits.values()].findLast(isOpen);
  if (visit === undefined) return Response.json({ error: "no_visit" }, { status: 404 });
  if (decision === "timeout") visit.ends = now();
  const entries = decision === "refuse"
    ? [{ decision }]
    : decision === "approve"
    ? [alice, { ...alice, account }]
    : [];
  for (const entry of entries) visit.back ??= decide(visit, new URLSearchParams(entry));
  const { headers } = await attend(visit, `visit=${visit.secret}`, undefined);
  return Response.json({ location: headers.get("location") });
}

function formOf({ step, handover: { act }, Initiation }: Visit): string {
  const { InstructedAmount: { Amount, Currency }, CreditorAccount: { Name }, DebtorAccount } = Initiation;
  const asked = `${Currency} ${Amount} to ${Name}, asked for by ${act.sub}`;
  const title = asked.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
  const input = (label: string, rest: string): string => `<p><label>${label} <input ${rest}></label>`;
  const choice = accounts.map(({ Identification: id }, index) =>
    input(id, `type="radio" name="account" value="${id}" ${index === 0 ? "checked" : ""}`)
  );
  const fields = step === "login"
    ? [input("User name", 'name="username"'), input("Password", 'name="password" type="password"')]
    : [...(ownScreen && !DebtorAccount ? choice : []), input("One-time code", 'name="code"')];
  return `<!doctype html><html lang="en"><title>Bank</title><h1>${title}</h1>
    <form id="${step}" method="post"><input type="hidden" name="step" value="${step}">${fields.join("")}
    <p><button name="decision" value="${step === "login" ? "continue" : "confirm"}">Continue</button>
    <button name="decision" value="refuse">Reject</button></form>`;
}

/** Describes the error and the next step, in a sentence or two. */
function explain(error: unknown): string {
  const words = error instanceof Error ? error.message : String(error);
  if (error instanceof TypeError && /fetch|connect|sending request/i.test(words)) {
    return `No answer: ${words}\nStart the sandbox (npx -y deno@2.9.6 task start), and set SANDBOX_DIR if it is elsewhere.`;
  }
  return `The bank stops: ${words}`;
}

function unreadable(path: string, error: Error): string {
  return path.startsWith(`${sandbox}/`) && !path.startsWith(`${folder}/`)
    ? `No sandbox runs with the folder ${sandbox} (${error.message}). Start one with npx -y deno@2.9.6 task start, or set SANDBOX_DIR.`
    : `${folder} is not the folder of an onboarded bank (${error.message}). Onboard with npx -y deno@2.9.6 task participant onboard.`;
}
