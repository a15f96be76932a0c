/**
 * The collections pay in a running sandbox with Bruno's and Postman's own command lines, and find an answer that was
 * changed.
 */
import { assertEquals, assertMatch } from "@std/assert";
import { currentRequests } from "../../scripts/upkeep/collections/main.ts";
import { postmanCollection } from "../../scripts/upkeep/collections/postman.ts";
import { changedBody, type FaultyNetwork, openFaultyNetwork } from "support/faulty_network.ts";
import { onboardOutsiders } from "support/own_bank.ts";
import { openPooledSandbox } from "support/pooled_ecosystem.ts";

const root = new URL("../../", import.meta.url).pathname;
/** `.ci/run` installs them from npm. */
const INSTALLED = `${root}.data/collections/node_modules/.bin`;

function isThere(program: string): boolean {
  try {
    if (Deno.statSync(`${INSTALLED}/${program}`).isFile) return true;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  const command = "npm install --no-save --prefix .data/collections @usebruno/cli@4.1.0 newman@6.2.2";
  const words = `\n*** SKIPPED: nothing was paid with ${program}, which is missing: ${command} ***\n\n`;
  Deno.stdout.writeSync(new TextEncoder().encode(words));
  return false;
}

interface Ran {
  readonly code: number;
  readonly printed: string;
}

async function run(program: string, args: readonly string[], cwd: string): Promise<Ran> {
  const { code, stdout, stderr } = await new Deno.Command(`${INSTALLED}/${program}`, { args: [...args], cwd })
    .output();
  return { code, printed: new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr) };
}

function runBruno(dir: string): Promise<Ran> {
  const flags = ["--env", "Sandbox", "--sandbox=developer", "--noproxy", "--bail"];
  const args = ["run", "payment", ...flags, "--cacert", `${dir}/ca.pem`, "--env-var", `sandbox=${dir}`];
  return run("bru", args, `${root}examples/bruno`);
}

async function runPostman(dir: string, signer: string): Promise<Ran> {
  const certificate = `${dir}/participants/mine/transport`;
  const files = {
    "--ssl-extra-ca-certs": `${dir}/ca.pem`,
    "--ssl-client-cert": `${certificate}.cert.pem`,
    "--ssl-client-key": `${certificate}.key.pem`,
  };
  const collection = `${dir}/postman_collection.json`;
  await Deno.writeTextFile(collection, postmanCollection(await currentRequests()));
  const flags = ["--folder", "Payment", "--color", "off", "--env-var", `signer=${signer}`];
  const args = ["run", collection, ...flags, ...Object.entries(files).flat()];
  return await run("newman", args, dir);
}

/** The signer as its own process, at the address that it prints. */
async function startSigner(dir: string): Promise<{ address: string } & AsyncDisposable> {
  const args = ["examples/postman/signer.js", dir, "mine", "0"];
  const signer = new Deno.Command("node", { args, cwd: root, stdout: "piped" }).spawn();
  const printed = signer.stdout.getReader();
  const { value } = await printed.read();
  const [address = ""] = /http:\S+/.exec(new TextDecoder().decode(value)) ?? [];
  return {
    address,
    async [Symbol.asyncDispose]() {
      signer.kill();
      await Promise.all([signer.status, printed.cancel()]);
    },
  };
}

async function brunoPays(t: Deno.TestContext, dir: string, net: FaultyNetwork): Promise<void> {
  await t.step("every request and test passes", async () => {
    const { code, printed } = await runBruno(dir);
    assertMatch(printed, /Requests +│ +17 \(17 Passed\)/);
    assertMatch(printed, /Tests +│ +10\/10 /);
    assertMatch(printed, /11 Pay \(201 Created\)/);
    assertEquals(code, 0, printed);
  });
  await t.step("a changed answer", async () => {
    net.arm("/domestic-payments/v1", changedStatus);
    const { code, printed } = await runBruno(dir);
    assertMatch(
      printed,
      /11 Pay \(201 Created\)[^]*?✕ the platform has signed the answer[^]*?the signature is wrong/,
    );
    assertEquals(code, 1, printed);
  });
}

const changedStatus = changedBody((body) => body.replace("AcceptedSettlement", "RejectedSettlement"));

async function postmanPays(t: Deno.TestContext, dir: string, net: FaultyNetwork): Promise<void> {
  await using signer = await startSigner(dir);
  await t.step("every request and test passes but the one of a changed answer", async () => {
    net.arm("/receipt", changedBody((body) => body.replace("Meta", "meta")));
    const { code, printed } = await runPostman(dir, signer.address);
    assertMatch(printed, /requests │ +51 │ +0 │/); // of each request two go to the signer
    assertMatch(printed, /assertions │ +46 │ +1 │/);
    assertMatch(printed, /Pay\n[^]*?domestic-payments\/v1 \[201 Created/);
    assertMatch(printed, /the signature is wrong[^]*?inside "Payment \/ Get a receipt"/);
    assertEquals(code, 1, printed);
  });
  await t.step("signer.js answers no page of a browser", async () => {
    const ask = async (address: string, headers: Record<string, string>): Promise<number> => {
      const body = JSON.stringify({ method: "GET", url: "", headers: {}, body: "", variables: {} });
      const answer = await fetch(`${address}/prepare`, { method: "POST", headers, body });
      await answer.body?.cancel();
      return answer.status;
    };
    const type = { "content-type": "application/json" };
    assertEquals(await ask(signer.address, type), 200);
    assertEquals(await ask(signer.address, { ...type, origin: "https://page.example" }), 404);
    assertEquals(await ask(signer.address, { "content-type": "text/plain" }), 404);
    assertEquals(await ask(signer.address.replace("127.0.0.1", "localhost"), type), 404);
  });
}

Deno.test("the collections pay, and fail if an answer of the platform was changed [E1]", async (t) => {
  const net = openFaultyNetwork();
  const { front } = net;
  await using ecosystem = await openPooledSandbox({ front });
  const { dir } = ecosystem;
  await onboardOutsiders(dir);
  await t.step({ name: "Bruno", ignore: !isThere("bru"), fn: (t) => brunoPays(t, dir, net) });
  await t.step({ name: "Postman", ignore: !isThere("newman"), fn: (t) => postmanPays(t, dir, net) });
});
