import "reflect-metadata";
import { Pkcs10CertificateRequest, X509Certificate, X509CertificateGenerator } from "@peculiar/x509";
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { KeysFailure } from "../../../../scripts/operators/platform_keys/arguments.ts";
import { taskCommand } from "testing/served_platform.ts";
import type { KeyFile } from "../../../../scripts/operators/platform_keys/file.ts";
import { NOW, Office } from "./key_office.ts";

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
    JSON.stringify({ environment: "sandbox", ...JSON.parse(await office.text()) as KeyFile }),
  );
  await Deno.chmod(office.file, 0o640);
  await office.run("rotate", "--use", "enc");
  assertEquals(((await Deno.stat(office.file)).mode ?? 0) & 0o777, 0o640);
  const { environment } = JSON.parse(await office.text()) as KeyFile & { readonly environment?: string };
  assertEquals(environment, "sandbox");
  const names = [];
  for await (const { name } of Deno.readDir(office.folder)) names.push(name);
  assertEquals(names.toSorted(), ["platform-keys.json", "platform-keys.json.lock"]);
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
    [["rotat"], "There is no command rotat. Did you mean rotate? --help lists them."],
    [["frobnicate"], "There is no command frobnicate; --help lists them."],
    [["rotate", "--lead", "soon"], "--lead must be a time such as 90s, 15m, 24h or 7d."],
    [["rotate", "--keep", "7"], "--keep must be a time such as 90s, 15m, 24h or 7d."],
    [["rotate", "--use", "tls"], "--use must be sig or enc."],
    [["rotate", "--bits", "1024"], "--bits must be 2048, 3072 or 4096."],
    [["rotate", "--days", "0"], "--days must be 1 to 3650."],
    [["rotate", "--name", "a\nb"], "--name must be 1 to 64 letters, digits, spaces or . , : / ( ) _ -."],
    [["certify", "--kid", "x"], "--certificate is missing; --help lists the options."],
    [["request"], "--kid is missing; --help lists the options."],
  ];
  for (const [args, words] of lines) assertEquals(await office.rejection(...args), words);
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
