/** `verifyJwt`: the order of its checks, and faults that name what was expected and received. */
import { assert, assertEquals } from "@std/assert";
import { absent, checkClaims, exactly, text, verifyJwt } from "../../../src/base/jose/verify_jwt.ts";
import { inPart, type JsonObject, type JwtFault } from "../../../src/base/jose/compact_jws.ts";
import { faultText, mismatch, ok, type Result } from "../../../src/base/kernel/result.ts";
import { testKey } from "testing/keys.ts";
import { HEADER, signed, verifyingKey } from "./compact_jws_fixture.ts";

const NOW = 1_700_000_000;
const GOOD = { iss: "client", aud: "https://platform.example", jti: "1", iat: NOW, exp: NOW + 60 };

/** The arguments of each step, in the order of the calls. */
async function verified(
  token: string,
  key = verifyingKey,
): Promise<[Result<JsonObject, JwtFault>, string[]]> {
  const steps: string[] = [];
  const jwt = await verifyJwt(token, {
    maxCharacters: 2000,
    typ: ["JWT"],
    findKey({ header }) {
      steps.push("key");
      const { kid } = header;
      const found = kid === "key-1" ? ok({ key }) : inPart("key", mismatch("header kid", "key-1", kid));
      return Promise.resolve(found);
    },
    claims(claims) {
      steps.push("claims");
      return checkClaims(claims, {
        iss: exactly("client"),
        aud: exactly("https://platform.example"),
        jti: text(8),
        htm: absent,
      });
    },
    times: {
      exp: "required",
      iat: "required",
      clock() {
        steps.push("clock");
        return NOW * 1000;
      },
    },
  });
  return [jwt.ok ? ok(jwt.value.claims) : jwt, steps];
}

async function faultOf(token: string): Promise<JwtFault> {
  const [result] = await verified(token, verifyingKey);
  if (result.ok) throw new Error("accepted");
  return result.fault;
}

Deno.test("verifyJwt finds the key, verifies, checks the claims and then their times", async () => {
  const [result, steps] = await verified(await signed(HEADER, GOOD));
  assertEquals(result, ok({ iss: "client", aud: "https://platform.example", jti: "1", htm: undefined }));
  assertEquals(steps, ["key", "claims", "clock"]);
});

Deno.test("verifyJwt shows no claim to any rule before the signature is verified", async () => {
  const other = await (await testKey(1)).publicKey("verify");
  const [result, steps] = await verified(await signed(HEADER, GOOD), other);
  assertEquals([result.ok ? "" : result.fault.part, steps], ["signature", ["key"]]);
  assertEquals((await verified("rubbish"))[1], []);
});

Deno.test("verifyJwt names the part, what it must be and what was received", async () => {
  const cases: [part: string, at: string, expected: string, received: string | undefined, token: string][] = [
    ["form", "token", "at most 2000 characters", "2001", "x".repeat(2001)],
    ["header", "header typ", "JWT", "'at+jwt'", await signed({ ...HEADER, typ: "at+jwt" }, GOOD)],
    ["header", "header alg", "PS256", "'none'", await signed({ ...HEADER, alg: "none" }, GOOD)],
    ["key", "header kid", "key-1", "'key-2'", await signed({ ...HEADER, kid: "key-2" }, GOOD)],
    ["payload", "claims", "one JSON object with unambiguous members", "an array", await signed(HEADER, "[]")],
    [
      "claims",
      "aud",
      "'https://platform.example'",
      "an array",
      await signed(HEADER, { ...GOOD, aud: [GOOD.aud] }),
    ],
    [
      "claims",
      "jti",
      "a string of 1 to 8 characters",
      undefined,
      await signed(HEADER, { ...GOOD, jti: undefined }),
    ],
    ["claims", "htm", "absent", "'GET'", await signed(HEADER, { ...GOOD, htm: "GET" })],
    [
      "times",
      "exp",
      `later than now (${NOW})`,
      `5, which is ${NOW - 5} s ago`,
      await signed(HEADER, { ...GOOD, exp: 5 }),
    ],
  ];
  for (const [part, at, expected, received, token] of cases) {
    const shown = received === undefined ? {} : { received };
    assertEquals<unknown>(await faultOf(token), { part, at, expected, ...shown });
  }
});

Deno.test("a fault bounds what was received, and its text for the log does not contain it", async () => {
  const fault = await faultOf(await signed(HEADER, { ...GOOD, iss: `\u202e${"secret".repeat(100)}` }));
  const { received = "" } = fault;
  assert(received.includes("secret") && [...received].length <= 130);
  assert(!received.includes("\u202e"), "shows a direction mark");
  assertEquals(faultText(fault), "iss must be 'client'");
});

Deno.test("checkClaims reads own members only", () => {
  const inherited: JsonObject = Object.create({ iss: "client" });
  assertEquals(checkClaims(inherited, { iss: exactly("client") }).ok, false);
});
