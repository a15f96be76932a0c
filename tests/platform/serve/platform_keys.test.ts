/** `deno task platform-keys`: what each command does to the file, and what it rejects. */
import "reflect-metadata";
import { Pkcs10CertificateRequest, X509Certificate, X509CertificateGenerator } from "@peculiar/x509";
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { platformKeys } from "../../../scripts/platform_keys/main.ts";
import { KeysFailure } from "../../../scripts/platform_keys/arguments.ts";
import type { KeyFile, StoredKey } from "../../../scripts/platform_keys/file.ts";
import { openKeyRing } from "../../../src/base/jose/key_ring.ts";
import { platformKeySet } from "testing/platform_keys.ts";
import { taskCommand } from "testing/served_platform.ts";

const NOW = Date.UTC(2027, 0, 1);
const HOUR = 3600;

/** A folder with a key file made of test keys, and the command over it. */
class Office implements AsyncDisposable {
  now = NOW;
  printed: string[] = [];
  private constructor(readonly folder: string, readonly file: string) {}

  static async open(): Promise<Office> {
    const folder = await Deno.makeTempDir();
    const office = new Office(folder, `${folder}/platform-keys.json`);
    await Deno.writeTextFile(office.file, await platformKeySet(), { mode: 0o600 });
    return office;
  }

  async run(...args: string[]): Promise<string[]> {
    this.printed = [];
    const [verb = "", ...rest] = args;
    await platformKeys([verb, "--file", this.file, ...rest], {
      print: (line) => this.printed.push(line),
      now: this.now,
    });
    return this.printed;
  }

  async rejection(...args: string[]): Promise<string> {
    const before = await this.text();
    const { message } = await assertRejects(() => this.run(...args), KeysFailure);
    assertEquals(await this.text(), before, "a rejected command changes nothing");
    return message;
  }

  async keys(): Promise<readonly StoredKey[]> {
    return (JSON.parse(await this.text()) as KeyFile).keys;
  }

  text(): Promise<string> {
    return Deno.readTextFile(this.file);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.folder, { recursive: true });
  }
}

Deno.test("platform-keys make writes keys that the platform starts with, for the owner alone, and never overwrites", async () => {
  await using office = await Office.open();
  assertMatch(await office.rejection("make"), /is there already; rotate adds keys to it\.$/);
  await Deno.remove(office.file);
  const printed = await office.run("make", "--name", "Example Platform", "--days", "30");
  assertEquals(((await Deno.stat(office.file)).mode ?? 0) & 0o777, 0o600);
  const [sig, enc] = await office.keys();
  assertEquals([sig?.use, enc?.use, sig?.kid], ["sig", "enc", sig?.x5t]);
  const certificate = new X509Certificate(sig?.x5c?.[0] ?? "");
  assertEquals([certificate.subject, certificate.notAfter.getTime()], [
    "CN=Example Platform",
    NOW + 30 * 86_400_000,
  ]);
  assert(await certificate.verify({ date: new Date(NOW) }));
  const ring = await openKeyRing(await office.text(), () => NOW);
  assertEquals(ring.signer.kid, sig?.kid);
  const text = printed.join("\n");
  for (const member of ["d", "p", "q", "dp", "dq", "qi"] as const) {
    assert(!text.includes(sig?.[member] ?? "?"), member);
  }
});

Deno.test("platform-keys rotate adds keys for later and dates the ones before; a second one must wait", async () => {
  await using office = await Office.open();
  const [oldSig, oldEnc] = await office.keys();
  await office.run("rotate", "--lead", "2h", "--keep", "3h");
  const [sig, enc, nextSig, nextEnc] = await office.keys();
  const [nbf, exp] = [NOW / 1000 + 2 * HOUR, NOW / 1000 + 5 * HOUR];
  assertEquals([sig, enc], [{ ...oldSig, exp }, { ...oldEnc, exp }] as StoredKey[]);
  assertEquals([nextSig?.use, nextSig?.nbf, nextSig?.exp], ["sig", nbf, undefined]);
  assertEquals([nextEnc?.use, nextEnc?.nbf, nextEnc?.exp], ["enc", nbf, undefined]);
  assertMatch(
    await office.rejection("rotate"),
    /^A next sig key waits already: .* from 2027-01-01T02:00:00Z\.$/,
  );
  office.now += 3 * HOUR * 1000;
  await office.run("rotate", "--use", "enc", "--lead", "0s", "--keep", "1h");
  const keys = await office.keys();
  assertEquals(keys.map(({ use }) => use), ["sig", "enc", "sig", "enc", "enc"]);
  assertEquals(keys.map(({ exp }) => exp), [exp, exp, undefined, NOW / 1000 + 4 * HOUR, undefined]);
});

Deno.test("platform-keys retire takes out what is over, or one key at once, and never the last in use", async () => {
  await using office = await Office.open();
  const [sig, enc] = await office.keys();
  assertEquals((await office.run("retire"))[0], "No key's time has passed.");
  assertMatch(
    await office.rejection("retire", "--kid", sig?.kid ?? ""),
    /^No sig key would be in use; rotate/,
  );
  assertEquals(await office.rejection("retire", "--kid", "unknown"), "There is no key unknown.");
  await office.run("rotate", "--lead", "1h", "--keep", "1h");
  assertMatch(await office.rejection("retire", "--kid", enc?.kid ?? ""), /^No enc key would be in use/);
  office.now += 2 * HOUR * 1000 - 1000;
  assertEquals((await office.run("retire"))[0], "No key's time has passed.");
  office.now += 1000;
  assertMatch((await office.run("retire"))[0] ?? "", new RegExp(`^Taken out: ${sig?.kid}, ${enc?.kid}\\.`));
  assertEquals((await office.keys()).map(({ use }) => use), ["sig", "enc"]);
});

Deno.test("platform-keys show tells what each key is for, and which certificate ends soon", async () => {
  await using office = await Office.open();
  await office.run("rotate", "--lead", "1h", "--keep", "1h", "--days", "10");
  const states = async (): Promise<string[]> =>
    (await office.run("show")).map((line) =>
      line.replace(/^(sig|enc) {2}\S+ {2}/, "$1 ").replace(/, certificate.*T/, " T")
    );
  assertEquals(await states(), [
    "sig in use until 2027-01-01T01:00:00Z T00:00:00Z",
    "enc in use until 2027-01-01T01:00:00Z",
    "sig published, in use from 2027-01-01T01:00:00Z T00:00:00Z SOON: rotate",
    "enc published, in use from 2027-01-01T01:00:00Z",
  ]);
  office.now += HOUR * 1000;
  assertEquals((await states()).map((line) => line.slice(0, 40)), [
    "sig published until 2027-01-01T02:00:00Z",
    "enc published until 2027-01-01T02:00:00Z",
    "sig in use T00:00:00Z SOON: rotate",
    "enc in use",
  ]);
  office.now += HOUR * 1000;
  assertEquals((await states())[0]?.slice(0, 46), "sig its time has passed: retire takes it out T");
});

Deno.test("platform-keys request and certify bring an authority's certificate to the next key", async () => {
  await using office = await Office.open();
  await office.run("rotate", "--use", "sig", "--lead", "1h");
  const [inUse, enc, next] = await office.keys();
  const [pem = ""] = await office.run("request", "--kid", next?.kid ?? "", "--name", "Example Platform");
  const request = new Pkcs10CertificateRequest(pem);
  assert(await request.verify());
  assertEquals(request.subject, "CN=Example Platform");
  const chain = `${office.folder}/chain.pem`;
  const certificate = await certifyRequest(request);
  await Deno.writeTextFile(chain, certificate.map((made) => made.toString("pem")).join("\n"));
  assertMatch(
    await office.rejection("certify", "--kid", inUse?.kid ?? "", "--certificate", chain),
    /^The key is in use/,
  );
  assertMatch(
    await office.rejection(
      "certify",
      "--kid",
      inUse?.kid ?? "",
      "--certificate",
      chain,
      "--before-first-start",
    ),
    /does not begin with a certificate of this key/,
  );
  assertMatch(
    await office.rejection("certify", "--kid", enc?.kid ?? "", "--certificate", chain),
    /is no signing key\.$/,
  );
  await office.run("certify", "--kid", next?.kid ?? "", "--certificate", chain);
  const certified = (await office.keys())[2];
  assertEquals(certified?.x5c, certificate.map(({ rawData }) => new Uint8Array(rawData).toBase64()));
  assertEquals([certified?.kid === next?.kid, certified?.kid], [false, certified?.x5t]);
  assertEquals([certified?.n, certified?.nbf], [next?.n, next?.nbf]);
});

Deno.test("platform-keys keeps owner, rights and other members of the file, and writes whole or not at all", async () => {
  await using office = await Office.open();
  await Deno.writeTextFile(
    office.file,
    JSON.stringify({ environment: "sandbox", ...JSON.parse(await office.text()) }),
  );
  await Deno.chmod(office.file, 0o640);
  await office.run("rotate", "--use", "enc");
  assertEquals(((await Deno.stat(office.file)).mode ?? 0) & 0o777, 0o640);
  assertEquals(JSON.parse(await office.text()).environment, "sandbox");
  const names = [];
  for await (const { name } of Deno.readDir(office.folder)) names.push(name);
  assertEquals(names, ["platform-keys.json"]);
});

Deno.test("platform-keys rejects files that the platform would not start with, and certificates of other keys", async () => {
  await using office = await Office.open();
  const [sig, enc] = await office.keys();
  const files: readonly (readonly [string, RegExp])[] = [
    ["", /is not JSON\.$/],
    ['{"keys":[]}', /is not a private JWK set/],
    [
      JSON.stringify({ keys: [{ ...sig, kid: "other" }, enc] }),
      /whose certificate or kid is not its own: other\.$/,
    ],
    [JSON.stringify({ keys: [{ ...sig, n: enc?.n }, sig] }), /./],
  ];
  for (const [text, words] of files) {
    await Deno.writeTextFile(office.file, text);
    assertMatch(await office.rejection("show"), words);
  }
  await Deno.remove(office.file);
  assertMatch((await assertRejects(() => office.run("show"), KeysFailure)).message, /cannot be read\.$/);
});

Deno.test("platform-keys says what is wrong with a command line", async () => {
  await using office = await Office.open();
  const lines: readonly (readonly [readonly string[], string])[] = [
    [["frobnicate"], "There is no command frobnicate; --help lists them."],
    [["rotate", "--lead", "soon"], "--lead must be a time such as 90s, 15m, 24h or 7d."],
    [["rotate", "--keep", "7"], "--keep must be a time such as 90s, 15m, 24h or 7d."],
    [["rotate", "--use", "tls"], "--use must be sig or enc."],
    [["rotate", "--bits", "1024"], "--bits must be 2048, 3072 or 4096."],
    [["rotate", "--days", "0"], "--days must be 1 to 3650."],
    [["rotate", "--name", "a\nb"], "--name must be 1 to 64 letters, digits, spaces or . , : / ( ) _ -."],
    [["certify", "--kid", "x"], "--certificate is missing."],
    [["request"], "--kid is missing."],
  ];
  for (const [args, words] of lines) assertEquals(await office.rejection(...args), words);
  assertMatch((await office.run("--help")).join("\n"), /deno task platform-keys <command>/);
});

Deno.test("platform-keys runs as a task with no more rights than files", async () => {
  await using office = await Office.open();
  const [program = "", ...args] = await taskCommand("platform-keys");
  assertEquals(args.filter((arg) => arg.startsWith("--allow-")), ["--allow-read", "--allow-write"]);
  const run = (...words: string[]): Promise<Deno.CommandOutput> =>
    new Deno.Command(program, { args: [...args, ...words], cwd: office.folder }).output();
  const shown = await run("show", "--file", "platform-keys.json");
  assertEquals([shown.code, new TextDecoder().decode(shown.stdout).split("\n").length], [0, 3]);
  const rejected = await run("make", "--file", "platform-keys.json");
  assertEquals([rejected.code, new TextDecoder().decode(rejected.stderr)], [
    1,
    "The file platform-keys.json is there already; rotate adds keys to it.\n",
  ]);
});

/** A chain of two: the certificate for the request, and the authority's. */
async function certifyRequest(
  request: Pkcs10CertificateRequest,
): Promise<[X509Certificate, X509Certificate]> {
  const signingAlgorithm = { name: "ECDSA", hash: "SHA-256" };
  const keys = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, [
    "sign",
    "verify",
  ]);
  const times = { notBefore: new Date(NOW - 1000), notAfter: new Date(NOW + 86_400_000) };
  const authority = await X509CertificateGenerator.createSelfSigned({
    name: "CN=Authority",
    keys,
    signingAlgorithm,
    ...times,
  });
  const own = await X509CertificateGenerator.create({
    subject: request.subject,
    issuer: authority.subject,
    publicKey: request.publicKey,
    signingKey: keys.privateKey,
    signingAlgorithm,
    ...times,
  });
  return [own, authority];
}
