/**
 * A new TPP makes its first payment without this project: an administrator registers it in the directory's console, its
 * own person sends signing requests of OpenSSL and downloads the files there, and the example in Python pays with them.
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { bodyOf, firstOf, type OpenApi } from "testing/answers.ts";
import { ConsoleBrowser } from "testing/console_browser.ts";
import { freePort } from "../../scripts/command_line/free_ports.ts";
import type { Endpoints } from "../../src/sandbox/ecosystem/ecosystem.ts";
import { goThroughAuthorization } from "../../src/sandbox/customer/customer.ts";
import { openPooledSandbox } from "support/pooled_ecosystem.ts";
import { canRun, PAYMENT_EXAMPLES, prepare } from "support/payment_examples.ts";
import { openTemporaryFolder } from "testing/temporary_folder.ts";

const OWN = "/console/own";
const PYTHON = PAYMENT_EXAMPLES.filter(({ language }) => language === "Python");

/** A browser at the directory's address. */
function browserAt(origin: string): ConsoleBrowser {
  return new ConsoleBrowser(async (request) => {
    const { pathname, search } = new URL(request.url);
    const { method, headers } = request;
    const body = method === "POST" ? { body: await request.text() } : {};
    return await fetch(`${origin}${pathname}${search}`, { method, headers, redirect: "manual", ...body });
  });
}

async function signedIn(origin: string, token: string): Promise<ConsoleBrowser> {
  const browser = browserAt(origin);
  assertEquals((await browser.submit("/console/sign-in", { token })).status, 303);
  return browser;
}

/** The administrator registers the TPP without keys, and issues a login. Returns its token. */
async function register(
  { directory_url, directory_admin_token }: Endpoints,
  redirectUri: string,
): Promise<string> {
  const administrator = await signedIn(directory_url, directory_admin_token);
  const contact = (type: string): Record<string, string> => ({
    [`${type}_name`]: "Ana",
    [`${type}_email`]: "ana@new.example",
    [`${type}_phone`]: "+57 601 555 0100",
  });
  const onboarded = await administrator.submit("/console/onboard", {
    role: "PISP",
    org_name: "New Company Limited",
    registration_number: "900-1",
    ...contact("business"),
    ...contact("technical"),
    client_name: "New checkout",
    description: "Pays for goods",
    version: "1",
    client_uri: "https://new.example/",
    logo_uri: "https://new.example/logo.svg",
    redirect_uris: redirectUri,
  });
  assertEquals(onboarded.status, 303, onboarded.html);
  const page = (onboarded.headers.get("location") ?? "").split("?")[0];
  const { html } = await administrator.submit(`${page}/logins`, { login_name: "ana" });
  return /id="token"[^>]*>([^<]+)</.exec(html)?.[1] ?? "";
}

async function openssl(folder: string, use: string): Promise<string> {
  const files = ["-keyout", `${folder}/${use}.key.pem`, "-out", `${folder}/${use}.csr.pem`];
  const args = ["req", "-new", "-newkey", "rsa:2048", "-noenc", "-subj", `/CN=${use}`, ...files];
  const { success, stderr } = await new Deno.Command("openssl", { args, stderr: "piped" }).output();
  assert(success, new TextDecoder().decode(stderr));
  return await Deno.readTextFile(`${folder}/${use}.csr.pem`);
}

/** The person sends the signing requests and downloads every file that the own page links, under its name. */
async function downloadAll(person: ConsoleBrowser, folder: string): Promise<string[]> {
  const sent = {
    csr_signing: await openssl(folder, "signing"),
    csr_transport: await openssl(folder, "transport"),
  };
  assertEquals((await person.submit(`${OWN}/certificates`, sent)).status, 303);
  const { html } = await person.get(OWN);
  const names: string[] = [];
  for (const [, path = ""] of html.matchAll(/href="(\/console\/own\/files\/[^"]+)"/g)) {
    const file = await person.get(path);
    const name = /filename="([^"]+)"/.exec(file.headers.get("content-disposition") ?? "")?.[1] ?? "";
    await Deno.writeTextFile(`${folder}/${name}`, file.html);
    names.push(name);
  }
  return names.toSorted();
}

/**
 * The settings that a TPP reads at the portal, beside the directory and the audience of registrations, which its
 * operator names.
 */
async function endpointsFrom({ auth_url, directory_url, registration_audience }: Endpoints): Promise<object> {
  const { servers } = await bodyOf<OpenApi>(fetch(`${auth_url}/openapi.json`));
  const base_url = firstOf(servers).url;
  assertMatch(base_url, /^https:/);
  return { auth_url, base_url, directory_url, registration_audience };
}

for (const example of PYTHON) {
  Deno.test({
    name:
      "a new TPP with a login at the directory makes its first payment in Python with what it downloads [E7, DRC5]",
    ignore: !canRun(example),
    async fn() {
      await using own = await openTemporaryFolder();
      const folder = `${own.path}/participants/mine`;
      await Deno.mkdir(folder, { recursive: true });
      await using ecosystem = await openPooledSandbox();
      const { endpoints } = ecosystem;
      const redirectUri = `http://localhost:${freePort()}/callback`;
      const person = await signedIn(endpoints.directory_url, await register(endpoints, redirectUri));
      const names = await downloadAll(person, folder);
      assertMatch(
        names.join(" "),
        /^SC-\S+\.jks SC-\S+\.jwks ca\.pem participant\.json signing\.cert\.pem transport\.cert\.pem$/,
      );
      await Deno.rename(`${folder}/ca.pem`, `${own.path}/ca.pem`);
      await Deno.writeTextFile(`${own.path}/endpoints.json`, JSON.stringify(await endpointsFrom(endpoints)));
      const { runAsWritten } = await prepare(example, own.path);
      const { code, stdout, stderr } = await runAsWritten([folder], ({ href }) => {
        return goThroughAuthorization({ startUrl: href, redirectUri }, () => {});
      });
      assertEquals([code, stderr], [0, ""], stdout);
      assertMatch(stdout, /^register: 201 SC-/);
      assertMatch(stdout, /^payment [0-9a-f-]{36}: AcceptedSettlement/m);
    },
  });
}
