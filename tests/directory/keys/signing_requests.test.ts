/** The proofs that a certificate signing request must contain before the directory certifies its key. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import {
  type DirectoryEnvironment,
  openDirectoryEnvironment,
  signingRequest,
  signingRequestOf,
  thirdParty,
} from "testing/directory_environment.ts";
import { largeTestKey, smallTestKey, testKey } from "testing/keys.ts";

const PEM_FAULT = "must be one PEM certificate signing request (PKCS 10)";
const KEY_FAULT = "must hold an RSA key of 2048 to 4096 bits with exponent 65537";
const HASH_FAULT = "must be signed with RSA and SHA-256, SHA-384 or SHA-512";
const PROOF_FAULT = "must be signed with the private half of its own key";

// RSA of 2048 bits with exponent 3, and P-256: `openssl req -new`.
const EXPONENT_3 = `-----BEGIN CERTIFICATE REQUEST-----
MIICTzCCATcCAQAwDDEKMAgGA1UEAwwBYTCCASAwDQYJKoZIhvcNAQEBBQADggEN
ADCCAQgCggEBAKS16BtiCy95C89UXmPGIxNYB2GoAU68nGntgqrMKbJha8d7/HDt
9R8RTdf7JeuWpHKbf4uYN3om6ROdQccmDv7cwfkjqTNl/ywz5tbVi/nQxmStDwon
kn698O42K+bLAJUw2YBS694r64DT9KwqFgkHHgMeowO7fyJTtF2pTou0/T8ODCIP
sF0yl0zUCTJQ2DdqQj74sXqkjbW5G93FHdKeilfFOUxulmc5WvMJgFmzv+hwxD8t
5GUFOiAhEyVL+zZDlzkPCWARMfkj2Rl6+VT6ATbQr3lZnwSDQ1rvrSjcijaH8j2J
vFFdmcRXTdeock5cbhGWfzggD6qbj+1pr98CAQOgADANBgkqhkiG9w0BAQsFAAOC
AQEAZ+W/tPq+7oOjppaMGIxBul4tQVmw9BHMqEBMyR5lsuR/XVceFQhMrb3/rjHh
thgM32GCEE8R9PrK0vqztoz3O0KjNBUBZ1r8mkFdcoaNgxPArs9S/HFoWYUD/mLo
FBNZL8vFY4ki2wAklrkNnb8Sw6tsV9J2dJjt0DX5z3VTmYWF7EcMztFOZBt1mFMt
G6OUewL7V/ON7GLbiOpq65hxCr85tT7XLjyyKwSSiB6tklOwxUGAQt+AAY/VRaVx
u5q46GkkJNgH/S1LoRYXoGHnyoQ45k4iVx1DwfbAc3FZ/ukiIWwPfN5CGWoXYgYX
7y4FMgbe8SBMeorwBG3xZWFx0g==
-----END CERTIFICATE REQUEST-----`;
const ELLIPTIC = `-----BEGIN CERTIFICATE REQUEST-----
MIHFMG4CAQAwDDEKMAgGA1UEAwwBYTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IA
BMi7A6GFRvzDcSwzRGzFnGZOo7gqTNlhff5oNye6+CKIM4v3xafutDLQJQni5ABt
qkqNiNfMcvll33bzpYEv7sagADAKBggqhkjOPQQDAgNHADBEAiBb+6Qzy5NKvVI7
jHMaY+Fe/qD5XiCqfgz6mJNrnWObCAIgMeU7mPgM/SkACCqpoyPFTYB2fEySDt03
PybK/l8/gRI=
-----END CERTIFICATE REQUEST-----`;
// `openssl req -new -sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:32`
const PSS_SIGNED = `-----BEGIN CERTIFICATE REQUEST-----
MIIChTCCATkCAQAwDDEKMAgGA1UEAwwBYTCCASIwDQYJKoZIhvcNAQEBBQADggEP
ADCCAQoCggEBAOE8hYfUZJyqPYaByBayYFqmk8SiECnz6jiqNrZ1eJ8PB7LY95gD
jbh5/TIFMiVmDtwJPG6N0F4bFrpUyqR0bq43XANdAfP0KxUnFbeoHh3PiHXKXECp
5EfO/nwEKnJNuzlbwvlhoUIGRdJPSnRdwrErynaY2eE1RgAdGCqTyttqpUy4D7Qh
ArbjTB3WUFUj4SsK3Q3ek8+kU85KC4ggmeLxJvC/7A7S3WbJcswFEB9wDOKesa9o
f2My7vVKItqai6tDtuuRxmAxVArcNDVX9EXReW+VtiO7UjtcjpGWtTK3s1cSxvK2
D+d6ucw4CoEJ8w74np3xxS7emkn/GBdu79kCAwEAAaAAMEEGCSqGSIb3DQEBCjA0
oA8wDQYJYIZIAWUDBAIBBQChHDAaBgkqhkiG9w0BAQgwDQYJYIZIAWUDBAIBBQCi
AwIBIAOCAQEAgPWmJle3R+KKnyqRZZNlTuC4sCpuI/D9lLUrPIM5G2PwpUn5lnEY
Vvj+UsC1qmYCHgzauYCVNdfF9X8gKpTs/aWo3E4euXVPPM7ln8xLhWukrUY1jqrY
sxDmZQJlYW3LytUTa4fY2NKd8HYNoy6lbulZDjpsoK2FTqTzbjBYwKdTIqmOYmok
woTNA7TgKQsqVY3MvSoU6ihb8Dk2E/03H/cWhauJyso8046kHvC44kgk4Whm+cQm
gCO+ikwYK/+KoqDeO+WMG5bgBnz1RM6ulumf4RXWekD9HKqdxuoZn4JTVukFelKc
GObXXrZoVUvylY9BpKEBZOxmZLxNZAuH4g==
-----END CERTIFICATE REQUEST-----`;

const REJECTED: readonly [name: string, request: () => Promise<string> | string, fault: string][] = [
  ["no PEM", () => "hello", PEM_FAULT],
  ["two requests in one", async () => `${await signingRequest(0)}\n${await signingRequest(2)}`, PEM_FAULT],
  [
    "a certificate label",
    async () => (await signingRequest(0)).replaceAll("CERTIFICATE REQUEST", "CERTIFICATE"),
    PEM_FAULT,
  ],
  ["base64 of nothing", () => pem(new Uint8Array([0x30, 0x03, 0x02, 0x01])), PEM_FAULT],
  ["a truncated request", async () => pem((await der(0)).slice(0, 200)), PEM_FAULT],
  ["a signature with one bit changed", async () => pem(flipped(await der(0), -1)), PROOF_FAULT],
  [
    "another's key in a request that was signed before",
    async () => pem(flipped(await der(0), 200)),
    PROOF_FAULT,
  ],
  ["a 1024-bit key", async () => signingRequestOf(await smallTestKey()), KEY_FAULT],
  ["exponent 3", () => EXPONENT_3, KEY_FAULT],
  ["an elliptic key", () => ELLIPTIC, KEY_FAULT],
  ["SHA-1", async () => signingRequestOf(await testKey(0), "SHA-1"), HASH_FAULT],
];

for (const [name, request, fault] of REJECTED) {
  Deno.test(`POST /participants rejects a signing request with ${name} [E1]`, async () => {
    await using env = await openDirectoryEnvironment();
    const { status, body } = await onboard(env, await request(), await signingRequest(1));
    assertEquals([status, body.error], [400, "invalid_request"]);
    assertEquals(body.error_description, `csrs.signing: ${fault}`);
    assertEquals((await env.get("/participants")).body, []);
  });
}

Deno.test("POST /participants names every faulty signing request at once [E1]", async () => {
  await using env = await openDirectoryEnvironment();
  const { body } = await onboard(env, "hello", await signingRequestOf(await smallTestKey()));
  assertEquals(body.error_description, `csrs.signing: ${PEM_FAULT}; csrs.transport: ${KEY_FAULT}`);
});

const ACCEPTED: readonly [name: string, request: () => Promise<string> | string][] = [
  ["3072 bits and SHA-512", async () => signingRequestOf(await largeTestKey(), "SHA-512")],
  ["a PSS signature", () => PSS_SIGNED],
  [
    "explanatory text before and after it (RFC 7468 §2)",
    async () =>
      `Certificate Request:\n    Data:\n        Version: 1 (0x0)\n${await signingRequest(0)}\nend\n`,
  ],
  [
    "the label of older tools",
    async () =>
      (await signingRequest(0)).replaceAll("BEGIN C", "BEGIN NEW C").replaceAll("END C", "END NEW C"),
  ],
];

for (const [name, request] of ACCEPTED) {
  Deno.test(`POST /participants accepts a signing request with ${name} [E1]`, async () => {
    await using env = await openDirectoryEnvironment();
    const { status } = await onboard(env, await request(), await signingRequest(1));
    assertEquals(status, 201);
  });
}

Deno.test("POST /participants rejects one key for two purposes [E1]", async () => {
  await using env = await openDirectoryEnvironment();
  const { status, body } = await onboard(
    env,
    await signingRequest(0),
    await signingRequestOf(await testKey(0), "SHA-384"),
  );
  assertEquals(status, 400);
  assertEquals(body.error_description, "csrs.transport: must have a key of its own");
});

Deno.test("POST /participants rejects a key that another participant has [E1]", async () => {
  await using env = await openDirectoryEnvironment();
  assertEquals((await onboard(env, await signingRequest(0), await signingRequest(1))).status, 201);
  const other = await thirdParty([2, 1], { org_id: "OTHER" });
  const { status, body } = await env.admin("POST", "/participants", other);
  assertEquals([status, body.error], [409, "conflict"]);
  assertStringIncludes(body.error_description, "csrs.transport: this key was certified before");
  assertEquals((await env.get("/participants")).body.length, 1);
});

Deno.test("POST /participants certifies a key once where two bring it at the same time [E1]", async () => {
  await using env = await openDirectoryEnvironment();
  const answers = await Promise.all([
    env.admin("POST", "/participants", await thirdParty([0, 1], { org_id: "ONE" })),
    env.admin("POST", "/participants", await thirdParty([1, 2], { org_id: "TWO" })),
  ]);
  assertEquals(answers.map(({ status }) => status).sort(), [201, 409]);
  assertEquals((await env.get("/participants")).body.length, 1);
});

async function onboard(
  env: DirectoryEnvironment,
  signing: string,
  transport: string,
): ReturnType<DirectoryEnvironment["admin"]> {
  return await env.admin("POST", "/participants", await thirdParty([0, 1], { csrs: { signing, transport } }));
}

async function der(number: number): Promise<Uint8Array> {
  return Uint8Array.fromBase64((await signingRequest(number)).replace(/-----[^-]+-----|\s/g, ""));
}

function flipped(bytes: Uint8Array, index: number): Uint8Array {
  const at = index < 0 ? bytes.length + index : index;
  return bytes.map((byte, position) => position === at ? byte ^ 1 : byte);
}

function pem(bytes: Uint8Array): string {
  return `-----BEGIN CERTIFICATE REQUEST-----\n${bytes.toBase64()}\n-----END CERTIFICATE REQUEST-----\n`;
}
