/** Generators make clients and models of the OpenAPI document that compile: in TypeScript, Python and Java. */
import { assert, assertEquals } from "@std/assert";
import { saySkipped } from "support/guide_snippets.ts";
import { AUTH_URL, openEnvironment } from "testing/environment.ts";

const root = new URL("../../", import.meta.url).pathname;
/** `.ci/run` installs them from npm. */
const FOLDER = `${root}.data/generators`;
const PACKAGES =
  "openapi-typescript@7.13.0 @hey-api/openapi-ts@0.95.0 quicktype-core@26.0.0 typescript@5.9.3";

/** What a TPP and a bank take from the types. A wrong name must not compile. */
const PROGRAM = `
import type { operations, webhooks } from "./types.d.ts";
import { createDomesticPaymentConsent } from "./client/index.ts";
type Consent = operations["createDomesticPaymentConsent"]["responses"][201]["content"]["application/json"];
export const idOf = (consent: Consent): string => consent.Data.ConsentId;
// @ts-expect-error the consent has no such member
export const wrong = (consent: Consent): string => consent.Data.PaymentId;
export type Order = webhooks["paymentOrder"]["post"]["requestBody"];
export const create: (options: Parameters<typeof createDomesticPaymentConsent>[0]) => unknown =
  createDomesticPaymentConsent;
`;

/** Reads the document on standard input, and prints the models in the language. */
const MODELS = (language: string): string => `
import { readFileSync } from "node:fs";
import { FetchingJSONSchemaStore, InputData, JSONSchemaInput, quicktype } from "quicktype-core";
const { components } = JSON.parse(readFileSync(process.env.DOCUMENT, "utf8"));
const properties = Object.fromEntries(
  Object.keys(components.schemas).map((name) => [name, { $ref: "#/components/schemas/" + name }]),
);
const input = new JSONSchemaInput(new FetchingJSONSchemaStore());
await input.addSource({ name: "Platform", schema: JSON.stringify({ type: "object", properties, components }) });
const inputData = new InputData();
inputData.addInput(input);
const rendererOptions = { "just-types": "${language === "java"}", "array-type": "list" };
const { lines } = await quicktype({ inputData, lang: "${language}", rendererOptions });
process.stdout.write(lines.join("\\n"));
`;

function isInstalled(): boolean {
  try {
    return ["openapi-typescript", "openapi-ts", "tsc"]
      .every((name) => Deno.statSync(`${FOLDER}/node_modules/.bin/${name}`).isFile);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    saySkipped(`no client was generated: npm install --no-save --prefix .data/generators ${PACKAGES}`);
    return false;
  }
}

async function run(
  command: string,
  args: readonly string[],
  { cwd, env = {} }: { readonly cwd: string; readonly env?: Record<string, string> },
): Promise<string> {
  const program = command.includes("/") ? `${FOLDER}/node_modules/.bin/${command.slice(2)}` : command;
  const ran = await new Deno.Command(program, { args: [...args], cwd, env }).output();
  const printed = new TextDecoder().decode(ran.stdout);
  assert(ran.success, `${command}: ${printed}${new TextDecoder().decode(ran.stderr)}`);
  return printed;
}

function isThere(program: string, what: string): boolean {
  if (new Deno.Command("which", { args: [program], stdout: "null" }).outputSync().success) return true;
  saySkipped(`${what}, there is no ${program}`);
  return false;
}

Deno.test({
  name: "generators make a client in TypeScript, and models in Python and Java, that compile",
  ignore: !isInstalled(),
  fn: async (t) => {
    await using env = await openEnvironment();
    const cwd = await Deno.makeTempDir();
    const document = await (await env.browser(new Request(`${AUTH_URL}/openapi.json`))).text();
    await Deno.writeTextFile(`${cwd}/openapi.json`, document);
    await t.step("TypeScript", async () => {
      await run("./openapi-typescript", ["openapi.json", "-o", "types.d.ts"], { cwd });
      await run("./openapi-ts", ["-i", "openapi.json", "-o", "client"], { cwd });
      await Deno.writeTextFile(`${cwd}/program.ts`, PROGRAM);
      const lib = ["--target", "es2022", "--lib", "es2022,dom,dom.iterable", "--allowImportingTsExtensions"];
      const form = ["--noEmit", "--strict", "--module", "esnext", "--moduleResolution", "bundler"];
      assertEquals(await run("./tsc", [...form, ...lib, "program.ts"], { cwd }), "");
    });
    const models = (language: string): Promise<string> =>
      run("node", ["--input-type=module", "-e", MODELS(language)], {
        cwd: FOLDER,
        env: { DOCUMENT: `${cwd}/openapi.json` },
      });
    await t.step("Python", async () => {
      await Deno.writeTextFile(`${cwd}/models.py`, await models("python"));
      if (isThere("python3", "the models in Python were not compiled")) {
        await run("python3", ["-m", "py_compile", "models.py"], { cwd });
      }
    });
    await t.step("Java", async () => {
      const [, ...files] = (await models("java")).split(/^\/\/ (\w+\.java)$/m); // name, text, name, …
      const names = files.filter((_, place) => place % 2 === 0);
      assert(names.includes("DomesticPaymentConsentRequest.java"), names.join(" "));
      for (const [place, name] of names.entries()) {
        await Deno.writeTextFile(`${cwd}/${name}`, files[place * 2 + 1] ?? "");
      }
      if (isThere("javac", "the models in Java were not compiled")) {
        await run("javac", ["-d", "out", ...names], { cwd });
      }
    });
    await Deno.remove(cwd, { recursive: true });
  },
});
