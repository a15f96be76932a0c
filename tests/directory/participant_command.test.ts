/** `deno task participant` against a listening directory: what it asks, what it writes, how it fails. */
import "reflect-metadata";
import { X509Certificate } from "@peculiar/x509";
import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { decodeJwt } from "jose";
import { participant } from "../../scripts/participant/main.ts";
import { ParticipantFailure } from "../../scripts/participant/failure.ts";
import {
  ADMIN_TOKEN,
  type DirectoryEnvironment,
  type Json,
  openDirectoryEnvironment,
} from "testing/directory_environment.ts";

/** A directory on a port, a sandbox folder that names it, and the command line in it. */
interface Desk extends AsyncDisposable {
  readonly environment: DirectoryEnvironment;
  readonly folder: string;
  readonly url: string;
  /** Runs a command line, gives what it printed. */
  run(
    line: string,
    more?: { readonly env?: Record<string, string>; readonly input?: unknown },
  ): Promise<string>;
}

Deno.test("participant onboard writes keys, certificates, statement and key set, for their owner alone [E1][F2]", async () => {
  await using desk = await openDesk();
  const printed = await onboardShop(desk);
  const files = `${desk.folder}/participants/my-shop`;
  const description = await json(`${files}/participant.json`);
  const id = description.software_client_id;
  assertStringIncludes(printed, `its software ${id}`);
  const names = [...Deno.readDirSync(files)].map(({ name }) => name).sort();
  assertEquals(
    names,
    [
      `${id}.jks`,
      `${id}.jwks`,
      "participant.json",
      "signing.cert.pem",
      "signing.key.pem",
      "transport.cert.pem",
      "transport.key.pem",
    ].sort(),
  );
  for (const name of names) assertEquals((await Deno.stat(`${files}/${name}`)).mode, 0o100600, name);
  assertEquals((await Deno.stat(files)).mode, 0o040700);
  const jwks = await json(`${files}/${id}.jwks`);
  assertEquals(jwks, (await desk.environment.get(`/participants/${description.org_id}/jwks`)).body);
  assertEquals(description, {
    name: "my-shop",
    org_id: description.org_id,
    org_name: "Company Limited",
    role: "PISP",
    software_client_id: id,
    client_id: id,
    redirect_uris: ["http://localhost:9000/callback"],
    signing_kid: jwks.keys[0].kid,
    transport_kid: jwks.keys[1].kid,
  });
  assertEquals(decodeJwt(await Deno.readTextFile(`${files}/${id}.jks`))["software_client_id"], id);
});

Deno.test("participant onboard makes a private key that fits its certificate [E1]", async () => {
  await using desk = await openDesk();
  await onboardShop(desk, "--encryption");
  for (const name of ["signing", "transport", "encryption"]) {
    const file = `${desk.folder}/participants/my-shop/${name}`;
    const certificate = new X509Certificate(await Deno.readTextFile(`${file}.cert.pem`));
    const pem = await Deno.readTextFile(`${file}.key.pem`);
    assertMatch(pem, /^-----BEGIN PRIVATE KEY-----\n/);
    const der = Uint8Array.fromBase64(pem.replace(/-----[^-]+-----|\s/g, ""));
    const algorithm = { name: "RSA-PSS", hash: "SHA-256", saltLength: 32 };
    const key = await crypto.subtle.importKey("pkcs8", der, algorithm, false, ["sign"]);
    const signature = await crypto.subtle.sign(algorithm, key, new Uint8Array(3));
    const publicKey = await certificate.publicKey.export(algorithm, ["verify"]);
    assert(await crypto.subtle.verify(algorithm, publicKey, signature, new Uint8Array(3)));
  }
});

Deno.test("participant renew-statement replaces the statement and the described redirect URIs [E3]", async () => {
  await using desk = await openDesk();
  await onboardShop(desk);
  const redirect_uris = ["https://shop.example/callback"];
  await desk.run("renew-statement --name my-shop --changes -", { input: { redirect_uris } });
  const { software_client_id, ...description } = await json(
    `${desk.folder}/participants/my-shop/participant.json`,
  );
  assertEquals(description.redirect_uris, redirect_uris);
  assertMatch(description.signing_kid, /^[A-Za-z0-9_-]{27}$/);
  const statement = await Deno.readTextFile(`${desk.folder}/participants/my-shop/${software_client_id}.jks`);
  assertEquals(decodeJwt(statement)["software_redirect_uris"], redirect_uris);
});

Deno.test("participant add-keys and revoke-key roll a key over, keeping the old one beside it [E3]", async () => {
  await using desk = await openDesk();
  await onboardShop(desk);
  const files = `${desk.folder}/participants/my-shop`;
  const before = await json(`${files}/participant.json`);
  const oldKey = await Deno.readTextFile(`${files}/signing.key.pem`);
  desk.environment.now += 1000;
  await desk.run("add-keys --name my-shop --signing");
  const after = await json(`${files}/participant.json`);
  assert(after.signing_kid !== before.signing_kid);
  assertEquals(after.transport_kid, before.transport_kid);
  assertEquals(await Deno.readTextFile(`${files}/signing.${before.signing_kid}.key.pem`), oldKey);
  const jwks = `${files}/${after.software_client_id}.jwks`;
  assertEquals((await json(jwks)).keys.length, 3);
  await desk.run(`revoke-key --name my-shop --kid ${before.signing_kid}`, { env: {} }).then(
    () => assert(false, "a reason is needed"),
    (error: Error) => assertEquals(error.message, "--reason is missing."),
  );
  await desk.run(`revoke-key --name my-shop --kid ${before.signing_kid} --reason rollover`);
  assertEquals((await json(jwks)).keys.map((key: Json) => key.kid), [after.signing_kid, after.transport_kid]);
});

Deno.test("participant add-keys makes a lost folder again [E3]", async () => {
  await using desk = await openDesk();
  await onboardShop(desk);
  const files = `${desk.folder}/participants/my-shop`;
  const before = await json(`${files}/participant.json`);
  await Deno.remove(files, { recursive: true });
  await failure(desk.run("add-keys --name my-shop"), "has no participant; onboard it first");
  await desk.run(`add-keys --name my-shop --org-id ${before.org_id}`);
  const after = await json(`${files}/participant.json`);
  assertEquals(after.software_client_id, before.software_client_id);
  assert(after.signing_kid !== before.signing_kid);
  const statement = await Deno.readTextFile(`${files}/${after.software_client_id}.jks`);
  assertEquals(decodeJwt(statement)["org_id"], before.org_id);
});

Deno.test("participant onboard says how to go on where the directory took it in and the folder was not written [E1]", async () => {
  await using desk = await openDesk();
  const files = `${desk.folder}/participants/my-shop`;
  await Deno.mkdir(`${files}/signing.key.pem`, { recursive: true }); // no file can take its place
  const { message } = await assertRejects(() => onboardShop(desk, "--encryption"), ParticipantFailure);
  const [, orgId] =
    /^(ORG-[0-9a-f]{20}) was onboarded, but \S+ was not written \(.+\); make it with /.exec(message) ?? [];
  await Deno.remove(files, { recursive: true });
  const again = message.slice(message.indexOf("add-keys"));
  assertEquals(again, `add-keys --name my-shop --org-id ${orgId} --signing --transport --encryption`);
  desk.environment.now += 1000;
  await desk.run(again);
  const { org_id, encryption_kid } = await json(`${files}/participant.json`);
  assertEquals(org_id, orgId);
  const { keys } = (await desk.environment.get(`/participants/${orgId}/jwks`)).body;
  assertEquals(keys.at(-1).kid, encryption_kid); // the newest key: a JWE is never encrypted to the lost one
});

Deno.test("participant set-status and show speak for the directory, the credential's name in its history [E3]", async () => {
  await using desk = await openDesk();
  await onboardShop(desk);
  const { org_id } = await json(`${desk.folder}/participants/my-shop/participant.json`);
  const printed = await desk.run("set-status --name my-shop --software Inactive --reason holidays");
  assertEquals(printed, `${org_id} is Active, its software Inactive.`);
  await failure(
    desk.run("set-status --name my-shop --software Asleep --reason x"),
    "status: must be Active, Inactive, Revoked",
  );
  const record = JSON.parse(await desk.run(`show --org-id ${org_id}`));
  assertEquals(record.software_client_status, "Inactive");
  const history = JSON.parse(await desk.run("show --name my-shop --history"));
  assertEquals(history.map(({ who }: Json) => who), ["ana", "ana"]);
});

Deno.test("participant onboard --example is accepted by a sandbox's directory, for both roles [E1]", async () => {
  await using desk = await openDesk();
  for (const role of ["PISP", "ASPSP"]) {
    const example = JSON.parse(await desk.run(`onboard --example ${role}`));
    await desk.run(`onboard --name ${role.toLowerCase()} --details -`, { input: example });
  }
  assertEquals((await desk.environment.get("/participants")).body.length, 2);
});

Deno.test("participant takes the directory from flags before environment before the sandbox's endpoints [E3]", async () => {
  await using desk = await openDesk();
  const env = { DIRECTORY_URL: "http://localhost:1", DIRECTORY_ADMIN_TOKEN: ADMIN_TOKEN };
  await failure(
    desk.run("show --org-id NOBODY", { env }),
    "The directory at http://localhost:1 cannot be reached",
  );
  await failure(desk.run(`show --org-id NOBODY --directory-url ${desk.url}`, { env }), "(404 not_found)");
  await failure(desk.run("show --org-id NOBODY"), "(404 not_found)");
  await failure(
    desk.run(`show --org-id NOBODY --admin-token ${"x".repeat(40)} --directory-url ${desk.url}`),
    "(401 invalid_token)",
  );
});

Deno.test("participant never sends a sandbox's token elsewhere, nor any token in the clear [E3]", async () => {
  await using desk = await openDesk();
  await failure(
    desk.run("show --org-id X1 --directory-url https://other.example"),
    "The administration token is missing",
  );
  await failure(
    desk.run("show --org-id X1", { env: { DIRECTORY_ADMIN_TOKEN: "x" } }),
    "The directory's address is missing",
  );
  const env = { DIRECTORY_URL: "http://directory.example", DIRECTORY_ADMIN_TOKEN: "x" };
  await failure(desk.run("show --org-id X1", { env }), "must be https");
});

const FAILURES: readonly [line: string, words: string][] = [
  ["frobnicate", 'There is no command "frobnicate"'],
  ["show", "--name or --org-id is missing."],
  ["show --name ../../etc", "--name must be 1 to 64 letters, digits, - or _."],
  ["show --nome x", "Unknown option '--nome'"],
  ["show extra --name x", "Unexpected argument 'extra'"],
  ["show --name nobody", "has no participant; onboard it first"],
  ["onboard --name x", "--details is missing."],
  ["onboard --name x --details /nowhere.json", "The file /nowhere.json cannot be read."],
  ["onboard --name x --details -", "The file - is not JSON."],
  ["onboard --example AISP", "--example must be PISP or ASPSP."],
  ["set-status --org-id X1 --reason y", "set-status needs one of --software and --organisation."],
];

for (const [line, words] of FAILURES) {
  Deno.test(`participant ${line}: fails in one sentence [E3]`, async () => {
    await using desk = await openDesk();
    await failure(desk.run(line), words);
  });
}

Deno.test("participant onboard leaves nothing behind when the directory rejects [E1]", async () => {
  await using desk = await openDesk();
  await failure(
    desk.run("onboard --name x --details -", { input: { role: "PISP" } }),
    "The directory rejected (400 invalid_request): org_name: must be text",
  );
  await assertRejects(() => Deno.stat(`${desk.folder}/participants/x`), Deno.errors.NotFound);
  await onboardShop(desk);
  await failure(onboardShop(desk), "has a participant already");
  assertEquals((await desk.environment.get("/participants")).body.length, 1);
});

Deno.test("participant --help lists the commands [E3]", async () => {
  await using desk = await openDesk();
  for (const line of ["--help", "show --help", ""]) {
    assertStringIncludes(await desk.run(line), "renew-statement");
  }
});

async function onboardShop(desk: Desk, flags = ""): Promise<string> {
  const details = JSON.parse(await desk.run("onboard --example PISP"));
  return await desk.run(`onboard --name my-shop --details - ${flags}`, { input: details });
}

async function openDesk(): Promise<Desk> {
  const environment = await openDirectoryEnvironment();
  const folder = await Deno.makeTempDir();
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    (request) => environment.fetch(request),
  );
  const url = `http://127.0.0.1:${server.addr.port}`;
  const endpoints = { directory_url: url, directory_admin_token: ADMIN_TOKEN };
  await Deno.writeTextFile(`${folder}/endpoints.json`, JSON.stringify(endpoints));
  return {
    environment,
    folder,
    url,
    async run(line, { env = {}, input = "" } = {}): Promise<string> {
      const printed: string[] = [];
      await participant(line.split(" ").filter((word) => word !== ""), {
        env: { SANDBOX_DIR: folder, ...env },
        print: (text) => void printed.push(text),
        readInput: () => Promise.resolve(typeof input === "string" ? input : JSON.stringify(input)),
      });
      return printed.join("\n");
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await server.shutdown();
      await environment[Symbol.asyncDispose]();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

async function failure(running: Promise<unknown>, words: string): Promise<void> {
  const error = await assertRejects(() => running, ParticipantFailure);
  assertStringIncludes(error.message, words);
  assert(!error.message.includes("\n") && !error.message.includes(ADMIN_TOKEN));
}

async function json(file: string): Promise<Json> {
  return JSON.parse(await Deno.readTextFile(file));
}
