/** The requests and examples of the API reference, as the platform's own document has them. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { type ApiEndpoint, readApiReference } from "../../src/portal/api_reference.ts";
import { rulesAbout } from "../../src/portal/schema_view.tsx";
import { samplesOf } from "../../src/portal/request_samples.ts";
import { saySkipped } from "support/guide_snippets.ts";
import { bodyOf } from "testing/answers.ts";
import { AUTH_URL, openEnvironment } from "testing/environment.ts";

interface Served {
  readonly document: object;
  readonly endpoints: readonly ApiEndpoint[];
}

async function served(): Promise<Served> {
  await using env = await openEnvironment();
  const document: object = await bodyOf(env.browser(new Request(`${AUTH_URL}/openapi.json`)));
  return { document, endpoints: readApiReference(document).groups.flatMap((group) => group.endpoints) };
}

Deno.test("each answer of the reference has an example that its schema accepts", async () => {
  const { document, endpoints } = await served();
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  ajv.addSchema(document, "openapi");
  const pointer = (...parts: readonly string[]): string =>
    parts.map((part) => `/${encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"))}`).join("");
  const faults = [];
  let checked = 0;
  for (const { method, path, isSent, answers } of endpoints) {
    for (const { status, contents } of answers.filter((answer) => answer.status.startsWith("2"))) {
      for (const { mediaType, example } of contents) {
        const at = pointer(
          isSent ? "webhooks" : "paths",
          path,
          method.toLowerCase(),
          "responses",
          status,
          "content",
          mediaType,
          "schema",
        );
        const isValid = ajv.compile({ $ref: `openapi#${at}` });
        if (!isValid(/json$/.test(mediaType) ? JSON.parse(example ?? "") : example)) {
          faults.push([path, example, isValid.errors]);
        }
        checked += 1;
      }
    }
  }
  assertEquals(faults, []);
  assert(checked > 25, String(checked));
});

Deno.test("each request of the reference is a program in its language", async () => {
  const { endpoints } = await served();
  const samples = endpoints.flatMap((endpoint) => samplesOf(endpoint));
  const codeIn = (language: string): readonly string[] =>
    samples.filter((sample) => sample.language === language).map(({ code }) => code);
  assert(codeIn("bash").length > 25);
  const dir = await Deno.makeTempDir();
  const check = async (program: string, args: readonly string[]): Promise<void> => {
    const { success, stderr } = await new Deno.Command(program, { args: [...args], cwd: dir }).output();
    assert(success, new TextDecoder().decode(stderr));
  };
  await Deno.writeTextFile(`${dir}/all.sh`, codeIn("bash").join("\n"));
  await check("bash", ["-n", "all.sh"]);
  const scripts = codeIn("typescript").map((code, place) =>
    [`${dir}/${place}.ts`, `${code}\nexport {};`] as const
  );
  for (const [file, code] of scripts) await Deno.writeTextFile(file, code);
  await check(Deno.execPath(), ["check", "--quiet", "--no-config", ...scripts.map(([file]) => file)]);
  await Deno.writeTextFile(`${dir}/all.json`, JSON.stringify(codeIn("python")));
  if (isThere("python3")) {
    await check("python3", [
      "-c",
      'import ast, json\nfor code in json.load(open("all.json")): ast.parse(code)',
    ]);
  } else saySkipped("the requests in Python were not parsed, there is no python3");
  await compiled(dir, { java: codeIn("java"), go: codeIn("go") }, check);
  await Deno.remove(dir, { recursive: true });
});

/** Compiles every sample in Java, and of those in Go one of each set of imports, as gofmt writes it. */
async function compiled(
  dir: string,
  { java, go }: { readonly java: readonly string[]; readonly go: readonly string[] },
  check: (program: string, args: readonly string[]) => Promise<void>,
): Promise<void> {
  const classes = java.map((code, place) =>
    [`S${place}.java`, code.replace("class Sample", `class S${place}`)] as const
  );
  for (const [file, code] of classes) await Deno.writeTextFile(`${dir}/${file}`, code);
  if (isThere("javac")) {
    await check("javac", ["-Xlint:all", "-Werror", "-d", "out", ...classes.map(([file]) => file)]);
  } else saySkipped("the requests in Java were not compiled, there is no javac");
  if (!isThere("go")) return saySkipped("the requests in Go were not compiled, there is no go");
  const kinds = [...new Map(go.map((code) => [/import \([^)]*\)/.exec(code)?.[0], code])).values()];
  assert(kinds.length > 2, String(kinds.length));
  await Deno.writeTextFile(`${dir}/go.mod`, "module samples\ngo 1.19\n");
  for (const [place, code] of kinds.entries()) {
    await Deno.mkdir(`${dir}/go${place}`);
    await Deno.writeTextFile(`${dir}/go${place}/main.go`, `${code}\n`);
  }
  await check("go", ["vet", "./..."]);
  await check("bash", ["-c", 'test -z "$(gofmt -l .)"']);
}

function isThere(program: string): boolean {
  return new Deno.Command("which", { args: [program], stdout: "null" }).outputSync().success;
}

Deno.test("a request has the certificate, the token, the proof and the signature that its endpoint asks for", async () => {
  const { endpoints } = await served();
  const codeOf = (method: string, path: string): string => {
    const endpoint = endpoints.find((one) => one.method === method && one.path === path);
    return (endpoint === undefined ? [] : samplesOf(endpoint)).map(({ code }) => code).join("\n");
  };
  const consent = codeOf("POST", "/{bank}/domestic-payment-consents/v1");
  for (const part of ["transport.cert.pem", "DPoP $TOKEN", "DPoP ${TOKEN}", "DPoP {env['TOKEN']}"]) {
    assert(consent.includes(part), part);
  }
  for (const header of ["DPoP: $PROOF", "x-jws-signature: $SIGNATURE", "x-idempotency-key: $KEY"]) {
    assert(consent.includes(`-H "${header}"`), header);
  }
  for (const variable of ["PROOF", "SIGNATURE", "KEY"]) {
    assertEquals(consent.split(variable).length > 4, true, variable);
  }
  const token = codeOf("POST", "/{bank}/token.oauth2/v1");
  assertMatch(token, /--data-urlencode "client_assertion=\$ASSERTION"/);
  assert(!token.includes("Authorization"));
  const keys = codeOf("GET", "/jwks");
  assert(!keys.includes("cert.pem") && keys.includes("curl"), keys);
  assertEquals(codeOf("GET", "/{bank}/authorization.oauth2"), "");
});

Deno.test("each field of the reference leads to the rules of the contract about it", async () => {
  const rulesAt = (name: string): readonly string[] => rulesAbout(name).map(([, id]) => id);
  assertEquals(rulesAt("CreditorAccount"), ["CF10"]);
  assertEquals(rulesAt("code_challenge"), ["PA6"]);
  assertEquals(rulesAt("MerchantCustomerIdentification"), []);
  await using env = await openEnvironment();
  const page = (path: string): Promise<string> =>
    Promise.resolve(env.browser(new Request(`${AUTH_URL}/docs${path}`))).then((answer) => answer.text());
  const consents = await page("/reference/consents");
  assertStringIncludes(consents, '<a href="/docs/contract/consents#cf10">CF10</a>');
  assertStringIncludes(await page("/contract/consents"), 'id="cf10"');
  assert(consents.length < 300_000, String(consents.length));
});
