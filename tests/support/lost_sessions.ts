/**
 * Uses a token after its sessions were closed behind the signer's back, as a token that was reset does, after an operation
 * that the token has begun and not ended, and at last with another PIN. A program of its own, because tests may not load
 * libraries: `deno run --allow-ffi … <module> <label> <PIN>`.
 */
import { printLine } from "../../scripts/command_line/print.ts";
import { loadPkcs11 } from "../../scripts/operators/signer/pkcs11.ts";
import { MAKING, openToken } from "../../scripts/operators/signer/token.ts";

const [module = "", label = "", pin = ""] = Deno.args;
const call = await loadPkcs11(module);
const opened: string[] = [];
const OTHER_PIN = new TextEncoder().encode("000000");
let hasOtherPin = false;
const token = await openToken(
  async (name, ...args) => {
    if (name === "C_OpenSession" || name === "C_Login") opened.push(name);
    const [session = null, user = null] = args;
    if (name === "C_Login" && hasOtherPin) {
      await call(name, session, user, OTHER_PIN, BigInt(OTHER_PIN.length));
    } else await call(name, ...args);
  },
  { label, pin },
  MAKING,
);
const modulus = await token.make("sign", 2048, "lost sessions");
const digest = new Uint8Array(32);
await token.sign(modulus, digest);
const before = opened.splice(0);
const closeAll = async (): Promise<void> => {
  for (let session = 1n; session <= 32n; session++) await call("C_CloseSession", session).catch(() => {});
};
const together = [1, 2, 3, 4, 5, 6];
await closeAll();
const signatures = await Promise.all(together.map(() => token.sign(modulus, digest)));
const after = opened.splice(0);
await token.makeWrapping("wrapping");
const tooLong = new Uint8Array(1000); // its ciphertext has no room, so the token waits for more of it
const unfinished = await Promise.allSettled(together.map(() => token.wrap("wrapping", digest, tooLong)));
const later = await Promise.allSettled(together.map(() => token.sign(modulus, digest)));
opened.splice(0);
await closeAll();
hasOtherPin = true;
const rejected = await Promise.allSettled(together.map(() => token.sign(modulus, digest)));
printLine(JSON.stringify({
  before,
  after,
  lengths: signatures.map(({ length }) => length),
  unfinished: unfinished.map(({ status }) => status),
  later: later.map((one) => one.status === "fulfilled" ? one.status : String(one.reason)),
  rejected: rejected.map((one) => one.status === "fulfilled" ? one.status : one.reason.name),
  tries: opened.filter((name) => name === "C_Login"),
}));
