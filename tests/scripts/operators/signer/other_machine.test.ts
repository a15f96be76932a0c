/** The signer behind mutual TLS, by the commands of docs/operations/keys.md and the configurations of packaging/signer. */
import { assert, assertRejects } from "@std/assert";
import { compactVerify, importJWK, type JWK } from "jose";
import { openSigner } from "../../../../src/base/http/signer_client.ts";
import { openKeyRing } from "../../../../src/base/jose/key_ring.ts";
import { signClaims } from "../../../../src/base/jose/own_key.ts";
import { findProxy } from "support/proxy_program.ts";
import { freePort } from "../../../../scripts/command_line/free_ports.ts";
import { isSoftHsmMissing, SoftHsm } from "testing/soft_hsm.ts";

const { program } = await findProxy("haproxy");
const root = new URL("../../../../", import.meta.url);

Deno.test({
  name: "a signer on another machine serves the platform's certificate, and no other program [F12]",
  ignore: isSoftHsmMissing || program === undefined,
  async fn() {
    await using hsm = await SoftHsm.open();
    await hsm.importKeys();
    await (await hsm.serve()).ready;
    const page = await Deno.readTextFile(new URL("docs/operations/keys.md", root));
    const [, commands = ""] = /### A signer on another machine[\s\S]*?```sh\n([\s\S]*?)```/.exec(page) ?? [];
    assert(commands.includes("openssl"));
    const { folder } = hsm;
    await hsm.command("bash", ["-ec", commands]);
    await using proxies = new AsyncDisposableStack();
    const port = freePort();
    const start = async (side: string, changes: Readonly<Record<string, string>>): Promise<void> => {
      let text = await Deno.readTextFile(new URL(`packaging/signer/${side}.haproxy.cfg`, root));
      for (const [from, to] of Object.entries({ ...changes, "/etc/platform-signer": folder })) {
        assert(text.includes(from), from);
        text = text.replaceAll(from, to);
      }
      const file = `${folder}/${crypto.randomUUID()}.cfg`;
      await Deno.writeTextFile(file, text);
      const child = new Deno.Command(program ?? "", { args: ["-db", "-q", "-f", file], stdout: "null" })
        .spawn();
      proxies.defer(async () => {
        child.kill("SIGTERM");
        await child.status;
      });
    };
    await start("at-the-token", {
      "0.0.0.0:8443": `127.0.0.1:${port}`,
      "/run/platform-signer/signer.sock": hsm.socket,
    });
    const platform = async (
      name: string,
      changes: Readonly<Record<string, string>> = {},
    ): Promise<string> => {
      const socket = `${folder}/${name}.sock`;
      await start("at-the-platform", {
        ...changes,
        "/run/platform-signer/signer.sock": socket,
        " group payment-platform": "",
        "signer.example:8443": `127.0.0.1:${port}`,
      });
      while (!await Deno.stat(socket).then(() => true, () => false)) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      return socket;
    };
    const signer = openSigner(await platform("own"));
    const keySet = await signer.keySet();
    const ring = await openKeyRing(keySet, undefined, signer);
    const key = await importJWK((JSON.parse(keySet) as { keys: [JWK] }).keys[0], "PS256");
    await compactVerify(await signClaims({ iss: "platform" }, ring.signer), key);
    const none = { " crt /etc/platform-signer/platform.pem": "" };
    const others = { "/etc/platform-signer/platform.pem": `${folder}/signer.pem` };
    const elsewhere = { "verifyhost signer.example": "verifyhost other.example" };
    for (const [name, changes] of Object.entries({ none, others, elsewhere })) {
      const stranger = openSigner(await platform(name, changes));
      await assertRejects(() => stranger.keySet(), Error, undefined, name);
    }
  },
});
