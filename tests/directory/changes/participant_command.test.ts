/** `deno task participant` against a listening directory: what it asks, what it writes, how it fails. */
import "reflect-metadata";
import { X509Certificate } from "@peculiar/x509";
import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { decodeJwt } from "jose";
import { ParticipantFailure } from "../../../scripts/integrators/participant/folder.ts";
import { openCertifiers } from "../../../src/directory/certification/certifiers.ts";
import { certifierKeys, reportOf } from "../certification/certified.ts";
import { failure, json, onboardShop, openDesk } from "./participant_desk.ts";
import { approve, BOTH } from "./two_administrators.ts";
import { ADMIN_TOKEN } from "testing/directory_environment.ts";
import type { KeySet } from "testing/directory_answers.ts";

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
  const jwks = await json<KeySet>(`${files}/${id}.jwks`);
  assertEquals(jwks, (await desk.environment.get(`/participants/${description.org_id}/jwks`)).body);
  assertEquals(description, {
    name: "my-shop",
    org_id: description.org_id,
    org_name: "Company Limited",
    role: "PISP",
    software_client_id: id,
    client_id: id,
    redirect_uris: ["http://localhost:9000/callback"],
    signing_kid: jwks.keys[0]?.kid,
    transport_kid: jwks.keys[1]?.kid,
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
  assertEquals((await json<KeySet>(jwks)).keys.length, 3);
  await desk.run(`revoke-key --name my-shop --kid ${before.signing_kid}`, { env: {} }).then(
    () => assert(false, "a reason is needed"),
    (error: Error) => assertEquals(error.message, "--reason is missing; --help lists the options."),
  );
  await desk.run(`revoke-key --name my-shop --kid ${before.signing_kid} --reason rollover`);
  assertEquals((await json<KeySet>(jwks)).keys.map((key) => key.kid), [
    after.signing_kid,
    after.transport_kid,
  ]);
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
  assertEquals(keys.at(-1)?.kid, encryption_kid); // the newest key: a JWE is never encrypted to the lost one
});

Deno.test("participant record-certification sends a report, and renew-statement follows it [E5]", async () => {
  const certifiers = await openCertifiers(await certifierKeys());
  await using desk = await openDesk({ certification: { certifiers, requiredDays: 30 } });
  assertStringIncludes(
    await onboardShop(desk),
    "no statement yet: record-certification, then renew-statement",
  );
  const files = `${desk.folder}/participants/my-shop`;
  const { org_id, software_client_id: id } = await json(`${files}/participant.json`);
  assertEquals(await Deno.stat(`${files}/${id}.jks`).catch(() => "none"), "none");
  await failure(desk.run("renew-statement --name my-shop"), "the participant has none");
  const input = `${await reportOf(desk.environment, id, { claims: { sub: org_id } })}\n`;
  assertEquals(
    await desk.run("record-certification --name my-shop --report -", { input }),
    `tpp 1.0 of ${org_id} is recorded: passed (cases: 1).`,
  );
  await failure(
    desk.run(`record-certification --org-id ${org_id} --report -`, { input: "x" }),
    "report token",
  );
  await desk.run("renew-statement --name my-shop");
  assertEquals(decodeJwt(await Deno.readTextFile(`${files}/${id}.jks`))["software_client_id"], id);
});

Deno.test("participant proposes where the directory needs a second administrator, and loses no private key [DRC8]", async () => {
  await using desk = await openDesk({ fourEyes: ["onboard", "suspend"] });
  await failure(onboardShop(desk), "needs a second administrator for new keys");
  const { proposals: [withdrawn] } = (await desk.environment.admin("GET", "/proposals")).body;
  assertEquals(withdrawn?.state, "withdrawn");
  await using raced = await openDesk({ fourEyes: ["onboard"], administrators: BOTH });
  const approvedBefore = async (request: Request): Promise<Response> => {
    const [, id] = /\/proposals\/([^/]+)\/reject$/.exec(request.url) ?? [];
    if (id !== undefined) assertEquals((await approve(raced.environment, id)).status, 200);
    return await raced.environment.fetch(request);
  };
  await using front = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, approvedBefore);
  const env = { DIRECTORY_URL: `http://127.0.0.1:${front.addr.port}`, DIRECTORY_ADMIN_TOKEN: ADMIN_TOKEN };
  const details = JSON.parse(await raced.run("onboard --example PISP"));
  const late = raced.run("onboard --name my-shop --details -", { input: details, env });
  await failure(late, "was not withdrawn (The directory rejected (409");
  await using other = await openDesk({ fourEyes: ["suspend"] });
  await onboardShop(other);
  const suspended = other.run("set-status --name my-shop --software Inactive --reason audit");
  await failure(suspended, "another administrator must approve the proposal");
  const { proposals: [open] } = (await other.environment.admin("GET", "/proposals")).body;
  assertEquals([open?.state, open?.change], ["proposed", "setSoftwareStatus"]);
});
