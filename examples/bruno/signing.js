// Signs the requests of this collection, and verifies what the platform has signed. Needs Bruno's developer mode, because
// it reads the participant's key files and uses Node's crypto. It has no code of the project: copy what you need.
const crypto = require("node:crypto");
const fs = require("node:fs");
const path = require("node:path");

const SIGNED_HEADERS = ["iat", "iss", "tan"].map((name) => `http://openbanking.org.uk/${name}`);
const PSS = { padding: crypto.constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 };

// Runs before each request: sets the variables, and replaces what is "made by signing.js".
exports.prepare = async (req, bru) => {
  const me = await setVariables(bru);
  const url = bru.interpolate(req.getUrl());
  const headers = req.getHeaders();
  const type = headers["content-type"] ?? "";
  if (type === "application/jose") req.setBody(registration(bru, me), { raw: true });
  if (type === "application/x-www-form-urlencoded") fillForm(req, bru, me);
  if ("x-idempotency-key" in headers) bru.setVar("idempotency_key", crypto.randomUUID());
  if ("x-jws-signature" in headers) {
    // Exactly these bytes are signed and sent.
    const body = bru.interpolate(req.getBody({ raw: true }));
    req.setBody(body, { raw: true });
    req.setHeader("x-jws-signature", detachedSignature(bru, me, body));
  }
  if ("dpop" in headers) {
    const token = bru.interpolate(headers.authorization ?? "").replace("DPoP ", "");
    req.setHeader("dpop", dpopProof(bru, req.getMethod(), url, token));
  }
};

// Runs after each request: a test that the platform has signed the answer, over the bytes received.
exports.verify = (req, res, bru, test) => {
  if (req.getUrl().endsWith("/jwks")) bru.setVar("platform_keys", JSON.stringify(res.getBody()));
  const isOfResource = "authorization" in req.getHeaders();
  if (!isOfResource || res.getStatus() === 204) return;
  test("the platform has signed the answer", () => {
    const [segment, , signature] = String(res.getHeader("x-jws-signature")).split(".");
    const header = JSON.parse(Buffer.from(segment, "base64url"));
    const crit = header.crit ?? [];
    const body = Buffer.from(res.getDataBuffer());
    // With b64 false the signature covers the body as it is (RFC 7797), else its base64url (RFC 7515 appendix F).
    const payload = header.b64 === false ? body : Buffer.from(body.toString("base64url"));
    const key = JSON.parse(bru.getVar("platform_keys")).keys.find(({ kid, use }) =>
      kid === header.kid && use === "sig"
    );
    const isKnown = crit.every((name) => name === "b64" || SIGNED_HEADERS.includes(name));
    if (header.alg !== "PS256" || !isKnown || crit.includes("b64") !== "b64" in header || key === undefined) {
      throw new Error("not signed as it must be, by a key of the platform");
    }
    const input = Buffer.concat([Buffer.from(`${segment}.`), payload]);
    const publicKey = crypto.createPublicKey({ key, format: "jwk" });
    const isRight = crypto.verify(
      "sha256",
      input,
      { key: publicKey, ...PSS },
      Buffer.from(signature, "base64url"),
    );
    if (!isRight) throw new Error("the signature is wrong");
  });
};

// Reads the sandbox's addresses, the participant and the clock into variables. Returns the participant.
async function setVariables(bru) {
  const sandbox = path.resolve(bru.cwd(), bru.interpolate("{{sandbox}}"));
  const folder = `${sandbox}/participants/${bru.interpolate("{{participant}}")}`;
  const endpoints = JSON.parse(fs.readFileSync(`${sandbox}/endpoints.json`, "utf8"));
  const me = JSON.parse(fs.readFileSync(`${folder}/participant.json`, "utf8"));
  for (const name of ["base_url", "auth_url", "banks_url", "directory_url"]) {
    bru.setVar(name, endpoints[name]);
  }
  bru.setVar("audience", endpoints.registration_audience);
  bru.setVar("api_host", new URL(endpoints.base_url).host);
  bru.setVar("client_id", me.client_id);
  bru.setVar("redirect_uri", me.redirect_uris[0]);
  // The sandbox's time can be moved ahead. Elsewhere it is this computer's own.
  const clock = await fetch(`${endpoints.directory_url}/sandbox/clock`).then((answer) => answer.json()).catch(
    () => ({}),
  );
  bru.setVar("now", Math.floor(Date.now() / 1000) + Math.round(clock.ahead_seconds ?? 0));
  if (!bru.getVar("dpop_key")) {
    const { privateKey } = crypto.generateKeyPairSync("rsa", { modulusLength: 2048 });
    bru.setVar("dpop_key", privateKey.export({ type: "pkcs8", format: "pem" }));
  }
  const signingKey = fs.readFileSync(`${folder}/signing.key.pem`, "utf8");
  return { ...me, signingKey, statement: fs.readFileSync(`${folder}/${me.client_id}.jks`, "utf8").trim() };
}

// Fills in the client assertion (RFC 7523 §3), and for a pushed request state and PKCE (RFC 7636).
function fillForm(req, bru, me) {
  const fields = req.getBody({ raw: true });
  if (fields.some(({ name }) => name === "code_challenge")) {
    const verifier = crypto.randomBytes(32).toString("base64url");
    bru.setVar("code_verifier", verifier);
    bru.setVar("code_challenge", sha256(verifier));
    bru.setVar("state", crypto.randomUUID());
  }
  const aud = bru.interpolate("{{auth_url}}/{{bank}}");
  for (const field of fields) {
    if (field.name === "client_assertion") {
      field.value = signedJwt(bru, me, { iss: me.client_id, sub: me.client_id, aud });
    }
  }
}

// The software statement, unchanged, in a JWT that the TPP signs.
function registration(bru, me) {
  return signedJwt(bru, me, {
    iss: me.org_name,
    aud: bru.getVar("audience"),
    redirect_uris: me.redirect_uris,
    token_endpoint_auth_method: "private_key_jwt",
    grant_types: ["client_credentials", "authorization_code"],
    scope: "payments",
    software_statement: me.statement,
    application_type: "web",
  });
}

function signedJwt(bru, me, claims) {
  const now = bru.getVar("now");
  const all = { ...claims, jti: crypto.randomUUID(), iat: now, exp: now + 300 };
  return jws(me.signingKey, { alg: "PS256", typ: "JWT", kid: me.signing_kid }, JSON.stringify(all));
}

// Proves possession of the DPoP key for one request (RFC 9449 §4.2).
function dpopProof(bru, method, url, token) {
  const key = bru.getVar("dpop_key");
  const { kty, n, e } = crypto.createPublicKey(key).export({ format: "jwk" });
  const [htu] = url.split("?");
  const claims = { jti: crypto.randomUUID(), htm: method, htu, iat: bru.getVar("now") };
  const all = token === "" ? claims : { ...claims, ath: sha256(token) };
  return jws(key, { alg: "PS256", typ: "dpop+jwt", jwk: { kty, n, e } }, JSON.stringify(all));
}

// Leaves the payload out (RFC 7515 appendix F).
function detachedSignature(bru, me, body) {
  const values = [
    bru.getVar("now"),
    `${me.org_id}/${me.software_client_id}`,
    new URL(bru.getVar("directory_url")).host,
  ];
  const obie = Object.fromEntries(SIGNED_HEADERS.map((name, index) => [name, values[index]]));
  const header = { alg: "PS256", kid: me.signing_kid, ...obie, crit: SIGNED_HEADERS };
  return jws(me.signingKey, header, body).replace(/\..*\./, "..");
}

function jws(key, header, payload) {
  const input = [JSON.stringify(header), payload].map((part) => Buffer.from(part).toString("base64url")).join(
    ".",
  );
  return `${input}.${crypto.sign("sha256", Buffer.from(input), { key, ...PSS }).toString("base64url")}`;
}

function sha256(text) {
  return crypto.createHash("sha256").update(text).digest("base64url");
}
