/** The key ceremony of docs/operations/key-ceremony.md, command by command with the real OpenSSL, and a directory under the root that it makes. */
import { assert, assertEquals } from "@std/assert";
import { isOpensslThere, openssl } from "support/alone.ts";
import { openDirectoryFixture } from "support/directory_process.ts";
import { bodyOf } from "testing/answers.ts";
import type { Onboarded } from "testing/directory_answers.ts";
import { software, thirdParty } from "testing/directory_environment.ts";

const text = await Deno.readTextFile(new URL("../../../docs/operations/key-ceremony.md", import.meta.url));

/** The commands of a step. */
function step(name: string): string {
  const found = RegExp(`\`\`\`sh ceremony: ${name}\n([^\`]*)\`\`\``).exec(text)?.[1];
  if (found === undefined) throw new Error(`key-ceremony.md has no step ${name}`);
  return found;
}

Deno.test({
  name: "the key ceremony makes an authority under an offline root, and the directory issues under it [E1]",
  ignore: !isOpensslThere(),
  async fn() {
    await using fixture = await openDirectoryFixture();
    const { folder, own } = fixture;
    const commands = step("root").replace(" -keyout", " -passout env:PASSPHRASE -keyout") + step("request") +
      step("certify").replace(" -CAkey", " -passin env:PASSPHRASE -CAkey");
    const shell = new Deno.Command("/bin/sh", {
      args: ["-ec", commands],
      cwd: folder,
      env: { PASSPHRASE: "four random words" },
      stderr: "piped",
    });
    const { code, stderr } = await shell.output();
    assertEquals(code, 0, new TextDecoder().decode(stderr));
    assert((await Deno.readTextFile(`${folder}/root.key.pem`)).includes("ENCRYPTED"));
    for (const name of ["ca.pem", "ca.key.pem"]) await Deno.copyFile(`${folder}/${name}`, `${own}/${name}`);

    const process = await fixture.start();
    try {
      await process.ready;
      const published = await (await fetch(`${fixture.url}/ca.pem`)).text();
      assertEquals(published.match(/BEGIN CERTIFICATE/g)?.length, 2);
      const redirects = { environment: "Production", redirect_uris: ["https://shop.example/callback"] };
      const answer = await fetch(`${fixture.adminUrl}/participants`, {
        method: "POST",
        headers: { authorization: `Bearer ${fixture.token}`, "content-type": "application/json" },
        body: JSON.stringify(await thirdParty([0, 1], { software: { ...software(), ...redirects } })),
      });
      const { certificates: { transport = "" }, ca } = await bodyOf<Onboarded>(answer);
      assertEquals([answer.status, ca], [201, published]);
      await Deno.writeTextFile(`${folder}/transport.pem`, transport);
      await Deno.writeTextFile(`${folder}/published.pem`, published);
      const under = "verify -x509_strict -purpose sslclient";
      assertEquals(
        await openssl(folder, `${under} -CAfile published.pem transport.pem`),
        "transport.pem: OK\n",
      );
      assertEquals(
        await openssl(folder, `${under} -CAfile root.pem -untrusted ca.only.pem transport.pem`),
        "transport.pem: OK\n",
      );
    } finally {
      process.kill("SIGTERM");
      assertEquals((await process.ended).code, 0);
    }
  },
});
