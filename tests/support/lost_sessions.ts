/**
 * Uses a token after its sessions were closed behind the signer's back, as a token that was reset does. A program of its
 * own, because tests may not load libraries: `deno run --allow-ffi … <module> <label> <PIN>`.
 */
import { printLine } from "../../scripts/command_line/print.ts";
import { loadPkcs11 } from "../../scripts/operators/signer/pkcs11.ts";
import { MAKING, openToken } from "../../scripts/operators/signer/token.ts";

const [module = "", label = "", pin = ""] = Deno.args;
const call = await loadPkcs11(module);
const opened: string[] = [];
const token = await openToken(
  async (name, ...args) => {
    if (name === "C_OpenSession" || name === "C_Login") opened.push(name);
    await call(name, ...args);
  },
  { label, pin },
  MAKING,
);
const modulus = await token.make("sign", 2048, "lost sessions");
const digest = new Uint8Array(32);
await token.sign(modulus, digest);
const before = opened.splice(0);
for (let session = 1n; session <= 8n; session++) await call("C_CloseSession", session).catch(() => {});
const signatures = await Promise.all([1, 2, 3, 4, 5, 6].map(() => token.sign(modulus, digest)));
printLine(JSON.stringify({ before, after: opened, lengths: signatures.map(({ length }) => length) }));
