/** A directory whose keys of software statements are in a token. */
import { assert, assertEquals } from "@std/assert";
import { compactVerify, createLocalJWKSet, type JSONWebKeySet } from "jose";
import { openSigner } from "../../../src/base/http/signer_client.ts";
import { openStatementKeys } from "../../../src/directory/statements/statement_keys.ts";
import { openDirectoryFixture } from "support/directory_process.ts";
import { bodyOf } from "testing/answers.ts";
import { openDirectoryEnvironment, START, thirdParty } from "testing/directory_environment.ts";
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
