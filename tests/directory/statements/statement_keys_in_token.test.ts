/** A directory whose keys of software statements and of its certificate authority are in a token. */
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { compactVerify, createLocalJWKSet, type JSONWebKeySet } from "jose";
import { openSigner } from "../../../src/base/http/signer_client.ts";
import { openCertificateAuthority } from "../../../src/directory/keys/certificate_authority.ts";
import { openStatementKeys } from "../../../src/directory/statements/statement_keys.ts";
import { openDirectoryFixture } from "support/directory_process.ts";
import { bodyOf } from "testing/answers.ts";
import type { Onboarded } from "testing/directory_answers.ts";
import { openDirectoryEnvironment, START, testAuthority, thirdParty } from "testing/directory_environment.ts";
import { startCommand, taskCommand } from "testing/served_platform.ts";
import { isSoftHsmMissing, SoftHsm } from "testing/soft_hsm.ts";

const ignore = isSoftHsmMissing;

Deno.test(
  { name: "a directory publishes and rotates keys that are in a token [F12, E2]", ignore },
  async () => {
    await using hsm = await SoftHsm.open();
    await hsm.run("make", "--for", "directory");
    await (await hsm.serve()).ready;
    await using fixture = await openDirectoryFixture();
    const env = { ...fixture.env, DIRECTORY_SIGNING_KEYS: `signer:${hsm.socket}` };
    const command = (await taskCommand("directory")).map((word) =>
      word.replaceAll("/run/directory-signer", `${hsm.folder}/run`)
    );
    const process = startCommand(command, fixture.folder, env, "directory.started");
    try {
      await process.ready;
      const published = async (): Promise<JSONWebKeySet["keys"]> =>
        (await bodyOf<JSONWebKeySet>(fetch(`${fixture.url}/jwks`))).keys;
      const [first, ...none] = await published();
      assertEquals([first?.use, first?.d, none], ["sig", undefined, []]);
      await hsm.run("rotate", "--for", "directory", "--lead", "0s");
      process.kill("SIGHUP");
      await process.logged("directory.keys_renewed");
      const [next, former] = await published();
      assertEquals(former?.kid, first?.kid);
      assert(next?.kid !== first?.kid);
    } finally {
      process.kill("SIGTERM");
      assertEquals((await process.ended).code, 0);
    }
  },
);

Deno.test({
  name: "a directory's statements are signed in a token, and none is issued without its signer [F12]",
  ignore,
}, async () => {
  await using hsm = await SoftHsm.open();
  await hsm.run("make", "--for", "directory");
  const process = await hsm.serve();
  await process.ready;
  const signer = openSigner(hsm.socket);
  const statementKeys = await openStatementKeys(await signer.keySet(), () => START, signer);
  await using env = await openDirectoryEnvironment({ statementKeys });
  await env.admin("POST", "/participants", await thirdParty([0, 1]));
  const { software_statement: statement } = (await env.admin("POST", "/participants/SHOP/statement")).body;
  await compactVerify(statement, createLocalJWKSet((await env.get("/jwks")).body as JSONWebKeySet));
  process.kill("SIGKILL");
  await process.ended;
  assertEquals((await env.admin("POST", "/participants/SHOP/statement")).status, 503);
});

const SUBJECT = "O=Example, CN=Participants Authority 1";

/** The ceremony of docs/operations/key-ceremony.md with a request of the token. Returns the chain's path. */
async function certifiedByRoot(hsm: SoftHsm): Promise<string> {
  await Deno.writeTextFile(`${hsm.folder}/ca.csr.pem`, await hsm.run("authority", "--subject", SUBJECT));
  await Deno.writeTextFile(
    `${hsm.folder}/ca.ext`,
    "basicConstraints=critical,CA:TRUE\nkeyUsage=keyCertSign\n",
  );
  const root = [
    "-subj",
    "/CN=Root",
    "-keyout",
    "root.key.pem",
    "-out",
    "root.pem",
    "-noenc",
    "-days",
    "3650",
  ];
  await hsm.command("openssl", ["req", "-x509", "-newkey", "rsa:2048", ...root]);
  const certified = ["-extfile", "ca.ext", "-days", "1825", "-out", "ca.only.pem"];
  await hsm.command("openssl", [
    ...["x509", "-req", "-in", "ca.csr.pem", "-CA", "root.pem", "-CAkey", "root.key.pem"],
    ...certified,
  ]);
  const [own, root_] = await Promise.all(
    ["ca.only.pem", "root.pem"].map((name) => Deno.readTextFile(`${hsm.folder}/${name}`)),
  );
  await Deno.writeTextFile(`${hsm.folder}/ca.pem`, `${own}${root_}`);
  return `${hsm.folder}/ca.pem`;
}

Deno.test({
  name: "an authority's key is made in a token and issues certificates that OpenSSL verifies [F12]",
  ignore,
}, async (t) => {
  await using hsm = await SoftHsm.open();
  await hsm.run("make", "--for", "directory");
  const certificatePem = await Deno.readTextFile(await certifiedByRoot(hsm));
  const process = await hsm.serve();
  await process.ready;
  const signer = openSigner(hsm.socket);
  const ca = { certificatePem, token: signer };
  await using env = await openDirectoryEnvironment({ ca });
  await t.step("for a participant that is onboarded", async () => {
    const { status, body } = await env.admin("POST", "/participants", await thirdParty([0, 1]));
    assertEquals(status, 201);
    const { certificates: { transport = "" } } = body as Onboarded;
    await Deno.writeTextFile(`${hsm.folder}/issued.pem`, transport);
    const verify = [
      "verify",
      "-no_check_time",
      "-CAfile",
      "root.pem",
      "-untrusted",
      "ca.only.pem",
      "issued.pem",
    ];
    assertMatch(await hsm.command("openssl", verify), /issued\.pem: OK/);
  });
  await t.step("another authority's certificate, and a key with another use, are rejected", async () => {
    const opened = async (text: string): Promise<string> =>
      (await assertRejects(() => openCertificateAuthority({ certificatePem: text, token: signer }, START)))
        .message;
    assertMatch(
      await opened((await testAuthority()).certificatePem),
      /answered 404: no key of this name can certify/,
    );
    const { keys: [statementKey] } = JSON.parse(await Deno.readTextFile(hsm.file)) as JSONWebKeySet;
    assertMatch(
      (await assertRejects(() => signer.certify(statementKey?.n ?? "", new Uint8Array(1)))).message,
      /answered 404: no key of this name can certify/,
    );
  });
  await t.step("by a directory whose key is signer:, and none without it", async () => {
    await using fixture = await openDirectoryFixture();
    const changes = { DIRECTORY_CA_CERT: `${hsm.folder}/ca.pem`, DIRECTORY_CA_KEY: `signer:${hsm.socket}` };
    const command = (await taskCommand("directory")).map((word) =>
      word.replaceAll("/run/directory-signer", `${hsm.folder}/run`)
        .replaceAll("/etc/participants-directory", hsm.folder)
    );
    const started = startCommand(
      command,
      fixture.folder,
      { ...fixture.env, ...changes },
      "directory.started",
    );
    try {
      await started.ready;
    } finally {
      started.kill("SIGTERM");
      assertEquals((await started.ended).code, 0);
    }
    process.kill("SIGKILL");
    await process.ended;
    const csrs = (await thirdParty([2, 3])).csrs;
    assertEquals((await env.admin("POST", "/participants/SHOP/certificates", { csrs })).status, 503);
  });
});
