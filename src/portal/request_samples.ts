/** Requests to copy in several languages, made from an endpoint of the reference. Needs no package but Python's requests. */
import type { ApiEndpoint } from "./api_reference.ts";
import { csharp, go, java } from "./compiled_samples.ts";
import { NAME, type Pair, requestOf, type SampleRequest } from "./sample_request.ts";

/** A request in one language. */
export interface Sample {
  readonly title: string;
  /** For the highlighter. */
  readonly language: string;
  readonly code: string;
}

/** Samples of the endpoint; none for a page that a browser opens. The file `body.json` or `body.jwt` has the body. */
export function samplesOf(endpoint: ApiEndpoint): readonly Sample[] {
  if (!endpoint.answers.some(({ status }) => status.startsWith("2"))) return [];
  const request = requestOf(endpoint);
  return [
    { title: "curl", language: "bash", code: curl(request) },
    { title: "TypeScript", language: "typescript", code: typescript(request) },
    { title: "Python", language: "python", code: python(request) },
    { title: "Java", language: "java", code: java(request) },
    { title: "Go", language: "go", code: go(request) },
    { title: "C#", language: "csharp", code: csharp(request) },
  ];
}

function curl({ method, url, isMutual, headers, form, file }: SampleRequest): string {
  const usual = form !== undefined || file !== undefined ? "POST" : "GET";
  const options = [
    ...(isMutual ? ["--cacert ca.pem --cert transport.cert.pem --key transport.key.pem"] : []),
    ...(method === usual ? [] : [`-X ${method}`]),
    ...headers.map(([name, value]) => `-H "${name}: ${value}"`),
    ...(form ?? []).map(([name, value]) => `--data-urlencode "${name}=${value}"`),
    ...(file === undefined ? [] : [`--data-binary @${file}`]),
    `"${url}"`,
  ];
  return [...signing(headers, form, method, url), `curl ${options.join(" \\\n  ")}`].join("\n");
}

/** How the variables of signatures are made. */
function signing(
  headers: readonly Pair[],
  form: readonly Pair[] | undefined,
  method: string,
  url: string,
): readonly string[] {
  const values = [...headers, ...form ?? []].map(([, value]) => value);
  const token = values.includes("DPoP $TOKEN") ? ' --token "$TOKEN"' : "";
  return [
    ...(values.includes("$ASSERTION")
      ? ["# ASSERTION: deno task sign assertion --name mine --bank BANK"]
      : []),
    ...(values.includes("$PROOF")
      ? [`# PROOF: deno task sign dpop --name mine --method ${method} --url "${url}"${token}`]
      : []),
    ...(values.includes("$SIGNATURE")
      ? [`# SIGNATURE: deno task sign payload --name mine --body body.json`]
      : []),
  ];
}

function typescript(request: SampleRequest): string {
  const { method, url, isMutual, headers, form } = request;
  const names = variablesOf([url, ...[...headers, ...form ?? []].map(([, value]) => value)]);
  const read = names.length === 0 ? [] : [`const { ${names.join(", ")} } = process.env;`, ""];
  const fetched = [`const response = await fetch(${template(url)});`];
  if (!isMutual) {
    return [...read, ...fetched, "console.log(response.status, await response.text());"].join("\n");
  }
  const type = form === undefined ? [] : [["content-type", "application/x-www-form-urlencoded"] as const];
  return [
    'import { readFileSync } from "node:fs";',
    'import { request } from "node:https";',
    "",
    ...read,
    `const sent = request(${template(url)}, {`,
    `  method: "${method}",`,
    '  ca: readFileSync("ca.pem"),',
    '  cert: readFileSync("transport.cert.pem"),',
    '  key: readFileSync("transport.key.pem"),',
    "  headers: {",
    ...[...headers, ...type].map(([name, value]) => `    "${name}": ${template(value)},`),
    "  },",
    "}, async (response) => {",
    '  console.log(response.statusCode, (await response.toArray()).join(""));',
    "});",
    `sent.end(${typescriptBody(request)});`,
  ].join("\n");
}

function typescriptBody({ form, file }: SampleRequest): string {
  if (form === undefined) return file === undefined ? "" : `readFileSync("${file}")`;
  const members = form.map(([name, value]) => `  ${name}: ${template(value)},`);
  return `new URLSearchParams({\n${members.join("\n")}\n}).toString()`;
}

function template(value: string): string {
  return value.includes("$") ? `\`${value.replaceAll(NAME, "${$1}")}\`` : JSON.stringify(value);
}

function python({ method, url, isMutual, headers, form, file }: SampleRequest): string {
  const text = (value: string): string =>
    `${value.includes("$") ? "f" : ""}"${value.replaceAll(NAME, "{env['$1']}")}"`;
  const dictionary = (pairs: readonly Pair[]): readonly string[] =>
    pairs.map(([name, value]) => `        "${name}": ${text(value)},`);
  return [
    "import os",
    "import requests",
    "",
    "env = os.environ",
    "response = requests.request(",
    `    "${method}",`,
    `    ${text(url)},`,
    ...(headers.length === 0 ? [] : ["    headers={", ...dictionary(headers), "    },"]),
    ...(form === undefined ? [] : ["    data={", ...dictionary(form), "    },"]),
    ...(file === undefined ? [] : [`    data=open("${file}", "rb").read(),`]),
    ...(isMutual ? ['    cert=("transport.cert.pem", "transport.key.pem"),', '    verify="ca.pem",'] : []),
    ")",
    "print(response.status_code, response.text)",
  ].join("\n");
}

function variablesOf(values: readonly string[]): readonly string[] {
  return [...new Set(values.flatMap((value) => [...value.matchAll(NAME)].map(([, name = ""]) => name)))];
}
