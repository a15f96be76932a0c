/**
 * A platform whose keys are in a token: a payment, its memory, rotation, and a signer that hangs. Searches the memory
 * of another process, as a core dump of it would have it.
 */
import { assert, assertEquals } from "@std/assert";
import { decodeProtectedHeader, type JSONWebKeySet } from "jose";
import type { Readiness } from "../../../../src/base/observability/health.ts";
import { bodyOf } from "testing/answers.ts";
import { authorised } from "testing/authorization_flow.ts";
import { AUTH_URL } from "testing/environment.ts";
import { good, pay } from "testing/flows.ts";
import { testKey } from "testing/keys.ts";
import { openServedEnvironment, type ServedEnvironment } from "testing/served_environment.ts";
import { freePort } from "../../../../scripts/command_line/free_ports.ts";
import { OPERATOR_TOKENS, operatorsFile } from "testing/operators.ts";
import { hasPrometheus, type Prometheus, startPrometheus } from "support/prometheus.ts";
import { isSoftHsmMissing, SoftHsm } from "testing/soft_hsm.ts";
import { Buffer } from "node:buffer";

/** The kernel's own mappings, which cannot be read. */
const OF_KERNEL = /\[v(?:var|syscall|var_vclock)\]/;
const PAGE_BYTES = 4096;
const STEP_BYTES = 16 * 1024 * 1024;

/**
 * Returns which of these numbers the memory of a process has, except memory that it cannot write or that is machine code.
 *
 * @param members base64url as in JWKs, or base64: found as text and as bytes, in either order
 */
async function foundInMemory(pid: number, members: readonly string[]): Promise<ReadonlySet<string>> {
  const forms = members.flatMap((member) => formsOf(member).map((form) => ({ member, form })));
  const longest = Math.max(...forms.map(({ form }) => form.length));
  const found = new Set<string>();
  const begins = new Uint8Array(0x10000); // whether a form begins with these two bytes
  for (const { form } of forms) begins[form.readUInt16BE()] = 1;
  const search = (part: Buffer): void => {
    for (let at = 0; at + 1 < part.length; at++) {
      if (begins[(part[at] ?? 0) << 8 | (part[at + 1] ?? 0)] === 0) continue;
      for (const { member, form } of forms) {
        if (form.equals(part.subarray(at, at + form.length))) found.add(member);
      }
    }
  };
  for (const [start, end] of await mappings(pid)) {
    for (let at = start; at < end; at += STEP_BYTES) {
      const part = await readAt(pid, at, Math.min(STEP_BYTES + longest, end - at));
      search(part);
    }
  }
  return found;
}

function formsOf(member: string): readonly Buffer[] {
  const alphabet = /[+/=]/.test(member) ? "base64" : "base64url";
  const bytes = Uint8Array.fromBase64(member, { alphabet });
  return [bytes, bytes.toReversed(), new TextEncoder().encode(member)].map((each) => Buffer.from(each));
}

async function mappings(pid: number): Promise<readonly (readonly [number, number])[]> {
  const lines = (await outputOf("cat", [`/proc/${pid}/maps`])).toString().split("\n");
  return lines.filter((line) => / rw-/.test(line) && !OF_KERNEL.test(line)).map((line) => {
    const [start = "0", end = "0"] = line.split(" ")[0]?.split("-") ?? [];
    return [parseInt(start, 16), parseInt(end, 16)] as const;
  });
}

/** Pages that the process gives back meanwhile cannot be read. Mappings begin and end with a page. */
async function readAt(pid: number, at: number, length: number): Promise<Buffer> {
  const [skip, count] = [at / PAGE_BYTES, Math.ceil(length / PAGE_BYTES)];
  return await outputOf("dd", [`if=/proc/${pid}/mem`, `bs=${PAGE_BYTES}`, `skip=${skip}`, `count=${count}`]);
}

/** Deno itself reads these files only with every permission. */
async function outputOf(program: string, args: string[]): Promise<Buffer> {
  const { stdout } = await new Deno.Command(program, { args, stdout: "piped", stderr: "null" }).output();
  return Buffer.from(stdout);
}

const ignore = isSoftHsmMissing;

Deno.test({
  name: "a platform pays with keys in a token, and has none of their private members in its memory [F12]",
  ignore,
}, async (t) => {
  await using hsm = await SoftHsm.open();
  await hsm.importKeys(); // those of a platform with a key file
  const wrappingKey = crypto.getRandomValues(new Uint8Array(32)).map((byte) => byte | 1).toBase64();
  await hsm.importWrappingKey("2026-11", wrappingKey);
  const wrapping = { inToken: `${hsm.folder}/wrapping.keys`, inFile: `${hsm.folder}/other.keys` };
  await Deno.writeTextFile(wrapping.inToken, "2026-11 token\n", { mode: 0o600 });
  await Deno.writeTextFile(wrapping.inFile, `2026-11 ${wrappingKey}\n`, { mode: 0o600 });
  const signer = await hsm.serve();
  await signer.ready;
  await using env = await openServedEnvironment({
    PLATFORM_KEYS: `signer:${hsm.socket}`,
    PLATFORM_WRAPPING_KEYS: wrapping.inToken,
  });
  const uses = (operation: string): number =>
    signer.lines.filter((line) => line["operation"] === operation && line["status"] === 200).length;
  await t.step("the token signs handover JWT, answers and order, and decrypts the result JWT", async () => {
    const [signed, decrypted, wrapped] = [uses("sign"), uses("decrypt"), uses("wrap")];
    const payment = await good(pay(env, await authorised(env)), 201);
    assertEquals(payment.Data.Status, "AcceptedSettlementInProcess");
    assert(uses("sign") >= signed + 4, `${uses("sign") - signed} signatures`);
    assertEquals(uses("decrypt"), decrypted + 1);
    assert(uses("wrap") > wrapped, "no data key was wrapped");
  });
  await t.step(
    "its memory has no prime of its keys and no wrapping key, and that of a platform with files has",
    async () => {
      const keys = await Promise.all([testKey(12), testKey(13)]); // of platformKeySet
      const secrets = [...keys.flatMap(({ privateJwk: { p, q } }) => [p, q]), wrappingKey];
      assertEquals(await foundInMemory(env.process.pid, secrets), new Set());
      await using other = await openServedEnvironment({ PLATFORM_WRAPPING_KEYS: wrapping.inFile });
      assertEquals(await foundInMemory(other.process.pid, secrets), new Set(secrets));
    },
  );
  await t.step("the next keys are made in the token and published by SIGHUP", async () => {
    const before = await published(env);
    await hsm.run("rotate", "--lead", "0s");
    env.process.kill("SIGHUP");
    await env.process.logged("platform_keys.renewed");
    const after = await published(env);
    assertEquals(after.keys.slice(2), before.keys);
    const made = await pay(env, await authorised(env));
    assertEquals(made.status, 201);
    await made.body?.cancel();
    const { kid } = decodeProtectedHeader(made.headers.get("x-jws-signature") ?? "");
    assertEquals(kid, after.keys[0]?.kid);
  });
});

Deno.test({
  name: "a signer that hangs: 503 in time, an alarm and readiness, and no payment is lost [F12]",
  ignore,
}, async () => {
  await using hsm = await SoftHsm.open();
  await hsm.importKeys();
  const signer = await hsm.serve();
  await signer.ready;
  const [operationsPort, operators] = [freePort(), `${hsm.folder}/operators.json`];
  await Deno.writeTextFile(operators, await operatorsFile(), { mode: 0o600 });
  await using env = await openServedEnvironment({
    PLATFORM_KEYS: `signer:${hsm.socket}`,
    PLATFORM_OPERATIONS_PORT: String(operationsPort),
    PLATFORM_OPERATORS: operators,
  });
  await using prometheus = await watched(operationsPort);
  const flow = await authorised(env);
  signer.kill("SIGSTOP");
  const began = performance.now();
  const idempotencyKey = crypto.randomUUID();
  const answer = await pay(env, flow, { idempotencyKey });
  assertEquals([answer.status, answer.headers.get("retry-after")], [503, "1"]);
  await answer.body?.cancel();
  assert(performance.now() - began < 20_000);
  const { ready, parts } = await readiness(env);
  assertEquals([ready, parts["signer"]], [false, { ok: false, detail: "has not answered within 3000 ms" }]);
  await env.process.logged("signer.failing");
  await prometheus?.firing("SignerFailing", 20);
  signer.kill("SIGCONT");
  while (!(await readiness(env)).ready);
  await env.process.logged("signer.working");
  const payment = await good(pay(env, flow, { idempotencyKey }), 201); // whether or not the first was stored
  assertEquals(payment.Data.ConsentId, flow.consentId);
});

/** Undefined on a computer without Prometheus. */
async function watched(port: number): Promise<Prometheus | undefined> {
  return hasPrometheus() ? await startPrometheus(`127.0.0.1:${port}`, OPERATOR_TOKENS.viewer) : undefined;
}

async function published(env: ServedEnvironment): Promise<JSONWebKeySet> {
  return await bodyOf<JSONWebKeySet>(env.browser(new Request(`${AUTH_URL}/jwks`)));
}

async function readiness(env: ServedEnvironment): Promise<Readiness> {
  return await bodyOf<Readiness>(env.browser(new Request(`${AUTH_URL}/health/ready`)));
}
