/** `DENO_CERT` makes a program trust a private CA, as docs/operations/configuration.md says. */
import { assert, assertEquals } from "@std/assert";
import { serverIdentity, webAuthority } from "testing/web_authority.ts";
import { openTemporaryFolder } from "testing/temporary_folder.ts";

const sending = new URL("private_authority_process.ts", import.meta.url).pathname;

/** The lines that the process prints, without the settings of trust that this process has. */
async function runProcess(uri: string, options: readonly string[], env: Record<string, string>) {
  const { DENO_CERT: _certificate, DENO_TLS_CA_STORE: _store, ...same } = Deno.env.toObject();
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-check", "--quiet", "--no-prompt", "--allow-net", ...options, sending, uri],
    env: { ...same, ...env },
    clearEnv: true,
  }).output();
  assertEquals(code, 0, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout).trim().split("\n");
}

Deno.test("a program reaches a server of a private CA by DENO_CERT, from the environment and from the file of variables, and not without it", async () => {
  await using folder = await openTemporaryFolder();
  const { certificatePem: cert, privateKeyPem: key } = await serverIdentity(["localhost"]);
  const listen = { hostname: "127.0.0.1", port: 0, cert, key, onListen: () => {} };
  const server = Deno.serve(listen, ({ method }) => new Response(`answers ${method}`));
  try {
    const uri = `https://localhost:${server.addr.port}/`;
    const authority = `${folder.path}/ca.pem`;
    await Deno.writeTextFile(authority, (await webAuthority()).certificatePem);
    await Deno.writeTextFile(`${folder.path}/variables`, `DENO_CERT=${authority}\n`);
    const reached = ["GET 200 answers GET", "POST 200 answers POST"];
    const runs = await Promise.all([
      runProcess(uri, [], { DENO_CERT: authority }),
      runProcess(uri, [`--env-file=${folder.path}/variables`], {}),
      runProcess(uri, [], {}),
    ]);
    assertEquals(runs.slice(0, 2), [reached, reached]);
    for (const line of runs[2] ?? []) assert(line.includes("invalid peer certificate: UnknownIssuer"), line);
    assertEquals(runs[2]?.length, 2);
  } finally {
    await server.shutdown();
  }
});
