/** The commands of docs/operations/directory.md that onboard a participant in production, at a directory process. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { decodeJwt, importPKCS8 } from "jose";
import { readDescription } from "../../scripts/integrators/participant/folder.ts";
import { openDirectoryFixture } from "support/directory_process.ts";
import { canRun } from "support/payment_examples.ts";

const PAGE = new URL("../../docs/operations/directory.md", import.meta.url);
const ROOT = new URL("../../", import.meta.url).pathname;

const isRunnable = canRun({
  language: "bash by the directory's page",
  needs: [["curl", "--version"], ["openssl", "version"], ["jq", "--version"]],
  packages: ["curl", "openssl", "jq"],
});

Deno.test({
  name:
    "the commands of the directory's page onboard a participant: its keys stay with it, two administrators decide",
  ignore: !isRunnable,
  fn: onboard,
});

async function onboard(): Promise<void> {
  const page = await Deno.readTextFile(PAGE);
  const [section = ""] = /## Onboard a participant[\s\S]*?(?=\n## )/.exec(page) ?? [];
  const commands = [...section.matchAll(/^ {3}```sh\n([\s\S]*?)^ {3}```/gm)].map(([, text = ""]) => text);
  assertEquals(commands.length, 4);
  await using fixture = await openDirectoryFixture();
  const luis = await fixture.admin("add --name luis");
  const directory = await fixture.start({ DIRECTORY_FOUR_EYES: "onboard" });
  await directory.ready;
  try {
    await follow({ fixture, luis, commands, role: "PISP", uses: ["signing", "transport"] });
    const ofBank = commands.map((command) => command.replace(/^( *USES=).*# of a bank: (.*)$/m, "$1$2"));
    const uses = ["signing", "transport", "encryption"];
    await follow({ fixture, luis, commands: ofBank, role: "ASPSP", uses });
  } finally {
    directory.kill("SIGTERM");
    await directory.ended;
  }
}

interface Onboarding {
  readonly fixture: Awaited<ReturnType<typeof openDirectoryFixture>>;
  readonly luis: string;
  readonly commands: readonly string[];
  readonly role: "PISP" | "ASPSP";
  readonly uses: readonly string[];
}

async function follow({ fixture, luis, commands, role, uses }: Onboarding): Promise<void> {
  const [request = "", propose = "", approve = "", receive = ""] = commands;
  const folder = `${fixture.folder}/${role}`;
  await Deno.mkdir(folder);
  const run = async (script: string, token = ""): Promise<string> => {
    const env = { DIRECTORY_URL: fixture.adminUrl, DIRECTORY_ADMIN_TOKEN: token };
    const { success, stdout, stderr } = await new Deno.Command("bash", {
      args: ["-ec", script],
      cwd: folder,
      env,
    }).output();
    const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
    assert(success, decode(stderr));
    return decode(stdout);
  };
  const example =
    `${Deno.execPath()} task -q --config ${ROOT}deno.json participant onboard --example ${role}`;
  const details = (await run(example)).replaceAll(/http:\/\/localhost:900\d/g, "https://own.example")
    .replace('"Sandbox"', '"Production"');
  await Deno.writeTextFile(`${folder}/details.json`, details);
  await run(request);
  await run(propose, fixture.token);
  await run(approve, luis);
  await run(receive);
  const { org_id, software_client_id, redirect_uris, signing_kid, encryption_kid } =
    await readDescription(folder) ?? {};
  const read = (name: string): Promise<string> => Deno.readTextFile(`${folder}/${name}`);
  const statement = decodeJwt(await read(`${software_client_id}.jks`));
  assertEquals([statement["org_id"], redirect_uris?.length], [org_id, 1]);
  assertMatch(redirect_uris?.[0] ?? "", /^https:\/\/own\.example\//);
  assert(signing_kid !== undefined);
  assertEquals(encryption_kid !== undefined, uses.includes("encryption"));
  await importPKCS8(await read("signing.key.pem"), "PS256");
  for (const use of uses) {
    await run(
      `openssl x509 -in ${use}.cert.pem -noout -pubkey | cmp - <(openssl pkey -in ${use}.key.pem -pubout)`,
    );
  }
  const answer = JSON.parse(await read("onboarded.json")) as Record<string, unknown>;
  assertEquals([answer["proposed_by"], answer["decided_by"]], ["ana", "luis"]);
}
