/** A running sandbox, started as its guide says, and the guides' pages that it serves. */
import { assertEquals, assertMatch } from "@std/assert";
import type { JWTPayload } from "jose";
import type { SandboxEndpoints } from "../../src/sandbox/shop/sandbox_endpoints.ts";
import { armForOAuth, openParty, type Party, signClaims } from "./guide_party.ts";
import {
  captionedBlocks,
  filled,
  readSnippets,
  request,
  type Shell,
  type Snippets,
} from "./guide_snippets.ts";
import { startProcess } from "./own_bank.ts";
import { freeSandboxPorts } from "../../scripts/command_line/free_ports.ts";
import type { RegisteredClient, TokenAnswer } from "testing/answers.ts";

const root = new URL("../../", import.meta.url).pathname;

/** The value of each placeholder, in every block. */
export type Fills = [placeholder: RegExp, value: string][];

/** The guides and the environment in which to follow them. */
export interface Guides extends AsyncDisposable {
  readonly pages: Readonly<Record<"tpp" | "bank" | "signatures" | "sandbox", Snippets>>;
  /** In a folder that looks like a new checkout. */
  readonly shell: Shell;
  /** `endpoints.json`. */
  readonly endpoints: SandboxEndpoints;
  readonly fills: Fills;
  readonly startedWith: string;
}

/** Starts the sandbox in a folder of its own and reads the guides. */
export async function openGuides(): Promise<Guides> {
  const cwd = await checkout();
  const port = freeSandboxPorts();
  const fills = fillsFor();
  const shell: Shell = { cwd, env: { SANDBOX_PORT: String(port) } };
  const startedWith = filled(await startBlock(), fills);
  const settings = { args: ["-c", `exec ${startedWith}`], cwd, env: shell.env };
  const sandbox = startProcess(
    "start",
    new Deno.Command("bash", { ...settings, stdout: "piped", stderr: "piped" }),
  );
  await sandbox.said(/Press Ctrl-C/);
  const file = await Deno.readTextFile(`${cwd}/.data/sandbox/endpoints.json`);
  const endpoints = JSON.parse(file) as SandboxEndpoints;
  const page = (name: string): Promise<Snippets> =>
    readSnippets(`${endpoints.auth_url}/docs/${name}.md`, () => fills);
  return {
    pages: {
      tpp: await page("tpp"),
      bank: await page("bank"),
      sandbox: await page("sandbox"),
      signatures: await readSnippets(`${endpoints.auth_url}/docs/signatures.md`, () => []), // its examples are complete
    },
    shell,
    endpoints,
    fills,
    startedWith,
    async [Symbol.asyncDispose](): Promise<void> {
      await sandbox.stop();
      await Deno.remove(cwd, { recursive: true });
    },
  };
}

/** A copy of the project's files, so that generated files such as `.data` are not written into the project. */
async function checkout(): Promise<string> {
  const cwd = await Deno.makeTempDir();
  for (const file of ["deno.json", "deno.lock", "production.lock", "directory.lock"]) {
    await Deno.copyFile(`${root}${file}`, `${cwd}/${file}`);
  }
  for (const folder of ["src", "scripts", "examples", "docs"]) {
    await Deno.symlink(`${root}${folder}`, `${cwd}/${folder}`);
  }
  return cwd;
}

function fillsFor(): Fills {
  const now = Math.floor(Date.now() / 1000);
  return [
    [/npx -y deno@2\.9\.6/g, `'${Deno.execPath()}'`], // the same Deno, without asking npm for it
    [/\bBANK\b/g, "BANKC"],
    [/\b1763719200\b/g, String(now)],
    [/\b1763719500\b/g, String(now + 300)],
  ];
}

async function startBlock(): Promise<string> {
  const block = captionedBlocks(await Deno.readTextFile(`${root}docs/sandbox.md`)).get("start-it: Start");
  if (block === undefined) throw new Error("the guide does not say how to start");
  return block;
}

/** The folder of a participant that has been onboarded, with the platform's CA beside its certificates. */
export async function onboard({ shell, pages, endpoints }: Guides, name: string): Promise<Party> {
  const folder = `${shell.cwd}/.data/sandbox/participants/${name}`;
  await Deno.copyFile(`${shell.cwd}/.data/sandbox/ca.pem`, `${folder}/ca.pem`);
  const at = {
    baseUrl: endpoints.base_url,
    issuer: `${endpoints.auth_url}/BANKC`,
    directoryHost: new URL(endpoints.directory_url).host,
  };
  return await openParty(folder, { signs: pages.signatures, at, env: shell.env });
}

/** Registers with the claims of the TPP guide; a bank's differ as the bank guide says. */
export async function registers({ pages }: Guides, party: Party): Promise<void> {
  const { me, shell } = party;
  const statement = (await Deno.readTextFile(`${shell.cwd}/${me.software_client_id}.jks`)).trim();
  const block = pages.tpp.take("register-your-software", "Claims of the registration JWT")
    .replace("<your org_name>", me.org_name)
    .replace("<UUID>", crypto.randomUUID()).replace("<contents of the .jks file>", statement);
  const claims = JSON.parse(block) as JWTPayload;
  const asBank = { grant_types: ["authorization_code"], scope: "bank", redirect_uris: me.redirect_uris };
  shell.env["REGISTRATION_JWT"] = await signClaims(
    party,
    me.role === "PISP" ? claims : { ...claims, ...asBank },
  );
  const registered = await request<RegisteredClient>(
    shell,
    pages.tpp.take("register-your-software", "Register"),
    201,
  );
  assertMatch(registered.client_id, /^SC-/);
  assertEquals(registered.redirect_uris, me.redirect_uris);
}

/** A token of the party, by the TPP guide's request. */
export async function ownToken({ pages }: Guides, party: Party, scope: "payments" | "bank"): Promise<string> {
  await armForOAuth(party, "/BANKC/token.oauth2/v1");
  const block = pages.tpp.take("get-a-token-of-your-own", "Client credentials").replace(
    "scope=payments",
    `scope=${scope}`,
  );
  return (await request<TokenAnswer>(party.shell, block, 200)).access_token;
}
