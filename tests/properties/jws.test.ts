/** Compact and detached JWS: no text is worse than rejected, and what is taken, jose takes in the same sense. */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { compactVerify, decodeProtectedHeader, errors, flattenedVerify, jwtVerify, SignJWT } from "jose";
import { checkTimes } from "../../src/base/jose/verify_jwt.ts";
import { faultText } from "../../src/base/kernel/result.ts";
import {
  isCanonicalBase64url,
  readCompactJws,
  unverifiedClaims,
  verifyClaims,
} from "../../src/base/jose/compact_jws.ts";
import { readDetachedJws, signDetached, verifyDetachedJws } from "../../src/base/jose/detached_jws.ts";
import { signClaims } from "../../src/base/jose/own_key.ts";
import { testKey } from "testing/keys.ts";
import { bytesOf, segment } from "testing/raw_jws.ts";
import { mutated, runs } from "./runs.ts";

const signer = { kid: "key-1", key: await (await testKey(0)).privateKey("sign") };
const publicKey = await (await testKey(0)).publicKey("verify");
const RULES = { maxCharacters: 8192, typ: [undefined, "JWT"] } as const;
const GOOD = await signClaims({ iss: "client", exp: 1_700_000_060, nested: { a: ["b"] } }, signer);
const CRIT = Object.fromEntries(
  ["iat", "iss", "tan"].map((name) => [`http://openbanking.org.uk/${name}`, true]),
);

const json = fc.oneof(fc.json(), fc.object().map((value) => JSON.stringify(value)), fc.string());
const segments = fc.array(json.map(segment), { maxLength: 6 }).map((parts) => parts.join("."));
const header = fc.record({
  alg: fc.oneof(fc.constant("PS256"), fc.constantFrom("none", "RS256"), fc.jsonValue()),
  typ: fc.oneof(fc.constantFrom("JWT", "jwt", "application/jwt", "JOSE"), fc.jsonValue()),
  kid: fc.oneof(fc.string(), fc.jsonValue()),
  crit: fc.jsonValue(),
  jwk: fc.jsonValue(),
  b64: fc.jsonValue(),
}, { requiredKeys: [] });
const strange = fc.dictionary(fc.string({ unit: "grapheme", maxLength: 100 }), fc.jsonValue(), {
  maxKeys: 2,
});
const headed = fc.tuple(header, fc.oneof(fc.object(), fc.string())).map(([members, payload]) =>
  `${segment(members)}.${segment(payload)}.AAAA`
);
const token = fc.oneof(fc.string(), fc.string({ unit: "binary" }), mutated(GOOD), segments, headed);

Deno.test("readCompactJws takes or rejects any text, and reads the header that jose reads", () => {
  let taken = 0;
  fc.assert(
    fc.property(token, (text) => {
      const jws = readCompactJws(text, RULES);
      if (!jws.ok) return;
      taken += 1;
      assertEquals(jws.value.token, text);
      assertEquals(decodeProtectedHeader(text), { ...jws.value.header, alg: "PS256" });
      const claims = unverifiedClaims(jws.value);
      if (claims.ok) {
        assertEquals(JSON.parse(new TextDecoder().decode(decoded(text.split(".")[1]))), claims.value);
      }
    }),
    runs(3000),
  );
  assert(taken > 30, `only ${taken} texts were taken`);
});

Deno.test("verifyClaims takes nothing that jose rejects, and only the token that was signed", async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(mutated(GOOD), headed), async (text) => {
      const jws = readCompactJws(text, RULES);
      const claims = jws.ok ? await verifyClaims(jws.value, publicKey) : jws;
      if (!claims.ok) return;
      assertEquals(text, GOOD);
      await compactVerify(text, publicKey, { algorithms: ["PS256"] });
    }),
    runs(400),
  );
});

Deno.test("signClaims and verifyClaims carry any claims there and back", async () => {
  const claims = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 6 });
  await fc.assert(
    fc.asyncProperty(claims, async (given) => {
      const jws = readCompactJws(await signClaims(given, signer), RULES);
      const found = jws.ok ? await verifyClaims(jws.value, publicKey) : jws;
      assertEquals(found, { ok: true, value: JSON.parse(JSON.stringify({ ...given })) });
    }),
    runs(40),
  );
});

Deno.test("isCanonicalBase64url takes the texts that encoding writes, and no other", () => {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const text = fc.oneof(
    fc.string(),
    fc.array(fc.constantFrom(...alphabet), { maxLength: 9 }).map((letters) => letters.join("")),
    fc.uint8Array().map((octets) => segment(octets)),
  );
  fc.assert(
    fc.property(text, (value) => {
      const octets = attemptDecoding(value);
      assertEquals(isCanonicalBase64url(value), octets !== undefined && segment(octets) === value, value);
    }),
    runs(5000),
  );
});

Deno.test("readDetachedJws takes or names the fault of any text", () => {
  const detached = fc.oneof(
    token,
    header.map((members) => `${segment(members)}..AAAA`),
    strange.map((members) => `${segment({ alg: "PS256", kid: "k", ...members })}..AAAA`),
    json.map((text) => `${segment(text)}..AA`),
  );
  fc.assert(
    fc.property(detached, (text) => {
      const read = readDetachedJws(text);
      if (!read.ok) {
        const { code, path, message, received = "" } = read.fault;
        assert(/^Signature\.(Malformed|MissingClaim|InvalidClaim)$/.test(code));
        assert(/^[A-Za-z0-9_#:./-]{1,64}$/.test(path ?? ""), `shows ${path}`); // never the input at length
        assert([...received].length <= 130, received);
        return assert(text.length < 12 || !message.includes(text));
      }
      const { protectedSegment, signatureSegment, header, profile } = read.value;
      assertEquals(text, `${protectedSegment}..${signatureSegment}`);
      assertEquals([header["alg"], profile === "A"], ["PS256", header["b64"] === false]);
    }),
    runs(3000),
  );
});

Deno.test("signDetached is verified over its body by this code and by jose, and over no other body", async () => {
  const body = fc.oneof(fc.uint8Array({ maxLength: 200 }), fc.json().map(bytesOf));
  await fc.assert(
    fc.asyncProperty(body, fc.constantFrom("A", "B"), fc.nat(), async (given, profile, at) => {
      const bytes = new Uint8Array(given);
      const claims = { profile, iat: 1, issuer: "i", trustAnchor: "t" } as const;
      const text = await signDetached(bytes, signer, claims);
      const read = readDetachedJws(text);
      if (!read.ok) throw new Error(read.fault.message);
      assertEquals(await verifyDetachedJws(read.value, bytes, publicKey), read);
      const [head = "", , signature = ""] = text.split(".");
      const payload = profile === "A" ? bytes : segment(bytes);
      await flattenedVerify({ protected: head, payload, signature }, publicKey, { crit: CRIT });
      const other = bytes.length === 0
        ? new Uint8Array(1)
        : bytes.with(at % bytes.length, (bytes[at % bytes.length] ?? 0) ^ 1);
      const altered = await verifyDetachedJws(read.value, other, publicKey);
      assertEquals(altered.ok ? "" : altered.fault.code, "Signature.Invalid");
    }),
    runs(40),
  );
});

const NOW = 1_700_000_000;
const SECRET = new Uint8Array(32);

Deno.test("checkTimes says what jose says with 30 s of tolerance, of any sensible times", async () => {
  const time = fc.integer({ min: NOW - 700, max: NOW + 700 });
  const near = fc.integer({ min: -32, max: 32 }).map((offset) => NOW + offset);
  const instant = fc.oneof(time, near, near.map((value) => value + 0.5));
  const claims = fc.record({ exp: instant, iat: instant, nbf: instant }, { requiredKeys: ["exp", "iat"] });
  const outcomes = new Set<string>();
  await fc.assert(
    fc.asyncProperty(claims, async (given) => {
      const rules = { exp: "required", iat: "required", maxAge: 60 } as const;
      const checked = checkTimes(given, rules, NOW);
      const ours = checked.ok ? "valid" : faultText(checked.fault);
      const jwt = await new SignJWT({ ...given }).setProtectedHeader({ alg: "HS256" }).sign(SECRET);
      // jose adds its tolerance to the age as well, and we do not: 30 + 30.
      const options = { currentDate: new Date(NOW * 1000), clockTolerance: 30, maxTokenAge: 30 };
      const theirs = await jwtVerify(jwt, SECRET, options).then(() => undefined, (error) => error);
      assert(theirs === undefined || theirs instanceof errors.JOSEError, String(theirs));
      assertEquals(checked.ok, theirs === undefined, `${JSON.stringify(given)}: ${ours}, ${theirs}`);
      outcomes.add(ours);
    }),
    runs(600),
  );
  assertEquals([...outcomes].sort(), [
    `exp must be later than now (${NOW})`,
    `iat must be at most 30 s ahead of now (${NOW})`,
    "iat must be at most 60 s old",
    `nbf must be at most 30 s ahead of now (${NOW})`,
    "valid",
  ]);
});

Deno.test("checkTimes answers any claims with a fault or with none", () => {
  const value = fc.oneof(fc.jsonValue(), fc.double(), fc.integer(), fc.bigInt(), fc.constant(undefined));
  const claims = fc.record({ exp: value, iat: value, nbf: value }, { requiredKeys: [] });
  fc.assert(
    fc.property(claims, (given) => {
      const rules = { exp: "optional", iat: "optional", maxAhead: 330, maxAge: 60 } as const;
      const checked = checkTimes(given, rules, NOW);
      const finite = Object.values(given).every((time) => typeof time === "number" && Number.isFinite(time));
      assert(!checked.ok || finite, "a time that is none was taken");
    }),
    runs(2000),
  );
});

function decoded(text = ""): Uint8Array {
  return Uint8Array.fromBase64(text, { alphabet: "base64url" });
}

function attemptDecoding(text: string): Uint8Array | undefined {
  try {
    return /\s|=/.test(text) ? undefined : decoded(text);
  } catch {
    return undefined;
  }
}
