/** Timestamps of checkpoints by an authority of OpenSSL. OpenSSL verifies them, too. */
import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { logCommand, type LogTools } from "../../../../scripts/operators/log/main.ts";
import { timestamp, type TimestampAuthority } from "../../../../scripts/operators/log/timestamp.ts";
import { authorised } from "testing/authorization_flow.ts";
import { AUTH_URL, openEnvironment } from "testing/environment.ts";
import { OPERATIONS_URL } from "testing/operators.ts";
import { operationsTools } from "support/operations_tools.ts";
import { steps } from "support/steps.ts";
import { good, openTimestampAuthority, type TimestampServer } from "support/timestamp_authority.ts";

const DATA = new TextEncoder().encode("a checkpoint");
const HOUR_MS = 3_600_000;
const BASE64URL = { alphabet: "base64url", omitPadding: true } as const;

function authorityOf(server: TimestampServer, changes: Partial<TimestampAuthority> = {}): TimestampAuthority {
  return { fetch, url: server.url, trusted: server.root, now: Date.now, ...changes };
}

Deno.test("deno task log timestamp keeps a timestamp that OpenSSL verifies, once for each checkpoint [EV14, P6]", async () => {
  await using env = await openEnvironment();
  await using server = await openTimestampAuthority();
  const files = new Map<string, Uint8Array>([["root.pem", new TextEncoder().encode(server.root)]]);
  const printed: string[] = [];
  const onApi = operationsTools(env);
  const read = (path: string): string => new TextDecoder().decode(files.get(path));
  let asked = 0;
  server.answer = (bytes) => (asked++, good(bytes));
  const tools: LogTools = {
    ...onApi,
    fetch:
      ((url: string, init?: RequestInit) =>
        url.startsWith(server.url) ? fetch(url, init) : onApi.fetch(url, init)) as typeof fetch,
    readText: (path) => Promise.resolve(read(path)),
    appendText: (path, text) =>
      Promise.resolve(void files.set(path, new TextEncoder().encode(read(path) + text))),
    writeBytes: (path, bytes) => Promise.resolve(void files.set(path, bytes)),
    print: (line) => void printed.push(line),
  };
  const stamping = ["timestamp", "--file", "seen", "--authority", server.url, "--trusted", "root.pem"];
  await assertRejects(
    () => logCommand(stamping, tools),
    Error,
    "seen has no checkpoint; run the witness first",
  );
  await authorised(env);
  await env.platform.growLog();
  await logCommand(["witness", "--file", "seen", "--issuer", AUTH_URL, "--url", OPERATIONS_URL], tools);
  assert(await logCommand(stamping, tools));
  const name = [...files.keys()].find((path) => path.endsWith(".tsr")) ?? "";
  assertMatch(printed.at(-1) ?? "", /^ok: \d+ leaves existed at \d{4}-.*, says seen\.\d+-[0-9a-f]{16}\.tsr$/);
  assertEquals(read(name.replace(".tsr", ".jws")), read("seen").trim());
  await verifiedByOpenssl(server, files.get(name), files.get(name.replace(".tsr", ".jws")));
  assert(await logCommand(stamping, tools));
  assertMatch(printed.at(-1) ?? "", /^ok: \d+ leaves have their timestamp in seen\.\d+-[0-9a-f]{16}\.tsr$/);
  assertEquals(asked, 1);

  const [header, claims = "", signature] = read("seen").trim().split(".");
  const same = JSON.parse(new TextDecoder().decode(Uint8Array.fromBase64(claims, BASE64URL))) as object;
  const other = new TextEncoder().encode(JSON.stringify({ ...same, root: "A".repeat(43) }));
  await tools.appendText("seen", `${header}.${other.toBase64(BASE64URL)}.${signature}\n`); // after a restore
  assert(await logCommand(stamping, tools));
  assertEquals([...files.keys()].filter((path) => path.endsWith(".tsr")).length, 2);
});

async function verifiedByOpenssl(
  { folder }: TimestampServer,
  response: Uint8Array | undefined,
  data: Uint8Array | undefined,
): Promise<void> {
  await Deno.writeFile(`${folder}/kept.tsr`, response ?? new Uint8Array());
  await Deno.writeFile(`${folder}/kept.jws`, data ?? new Uint8Array());
  const args = ["ts", "-verify", "-data", "kept.jws", "-in", "kept.tsr", "-CAfile", "root.pem"];
  const { stdout } = await new Deno.Command("openssl", { args, cwd: folder }).output();
  assertStringIncludes(new TextDecoder().decode(stdout), "Verification: OK");
}

/** Answers of an authority that must not be kept. */
const WRONG: Readonly<Record<string, (server: TimestampServer) => [TimestampServer["answer"], RegExp]>> = {
  "an answer to another request": (server) => [
    async () => good(await server.otherReply(DATA)),
    /is not for this request/,
  ],
  "an answer for other data": (server) => [
    async () => good(await server.otherReply(DATA.slice(1))),
    /does not verify/,
  ],
  "a changed byte": () => [(bytes) => good(flipped(bytes)), /does not verify/],
  "a signer whose certificate is for other things, too": (server) => [
    async (bytes) => good(await server.signedByServer(bytes)),
    /is not for timestamps/,
  ],
  "a rejection":
    () => [() => good(Uint8Array.of(0x30, 5, 0x30, 3, 2, 1, 2)), /rejected the request with status 2/],
  "no DER": () => [() => good(new TextEncoder().encode("sorry")), /is not DER of its type/],
  "another status": () => [(bytes) => new Response(bytes, { status: 503 }), /answered 503/],
  "another media type": () => [(bytes) => new Response(bytes), /answered 200 with no content type/],
  "a redirect":
    () => [() => new Response(null, { status: 307, headers: { location: "/else" } }), /answered 307/],
  "too many bytes": () => [() => good(new Uint8Array(70_000)), /more than 65536 bytes/],
};

Deno.test("no timestamp is kept of [EV14]", async (t) => {
  await using server = await openTimestampAuthority();
  await steps(t, WRONG, async (wrong) => {
    const [answer, sentence] = wrong(server);
    server.answer = answer;
    const { message } = await assertRejects(() => timestamp(authorityOf(server), DATA), Error);
    assertMatch(message, sentence);
  });
  server.answer = good;
  await steps<Partial<TimestampAuthority>>(t, {
    "another root": { trusted: server.otherRoot },
    "no root": { trusted: "" },
    "a clock that is an hour ahead": { now: () => Date.now() + HOUR_MS },
    "a clock that is an hour behind": { now: () => Date.now() - HOUR_MS },
    "no server": { url: "http://127.0.0.1:9/" },
  }, async (changes) => {
    await assertRejects(() => timestamp(authorityOf(server, changes), DATA), Error);
  });
  assertEquals((await timestamp(authorityOf(server), DATA)).time.getTime() > 0, true);
});

/** Flips a bit of the signature, which is at the end. */
function flipped(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const changed = bytes.slice();
  const last = changed.length - 1;
  changed[last] = (changed[last] ?? 0) ^ 1;
  return changed;
}
