/**
 * Requests to copy in several languages, made from an endpoint of the reference. They need no package but Python's
 * requests. In `request_samples.txt` each line of a program stands behind the part of the request that it is for.
 */
import type { ApiEndpoint } from "./api_reference.ts";
import templates from "./request_samples.txt" with { type: "text" };
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
  const parts = partsOf(request);
  return [...templates.matchAll(/^# (\S+) (\w+)\n((?:\w*\|.*\n)+)/gm)].map(
    ([, title = "", language = "", lines = ""]) => {
      const code = lines.trimEnd().split("\n").flatMap((line) => written(line, language, request, parts))
        .join("\n");
      return { title, language, code: code.replace("curl \\\n  ", "curl ") };
    },
  );
}

/** Whether a part is there, or its pairs: a line is written for each. */
type Parts = Readonly<Record<string, boolean | readonly Pair[]>>;

function partsOf({ method, url, isMutual, headers, form = [], file }: SampleRequest): Parts {
  const anyForm = form.length > 0;
  const typedHeaders = anyForm ? [...headers, FORM_TYPE] : headers;
  const values = [...headers, ...form].map(([, value]) => value);
  const variables = [url, ...values].some((value) => value.includes("$"));
  return {
    "": true,
    assertion: values.includes("$ASSERTION"),
    proof: values.includes("$PROOF"),
    signature: values.includes("$SIGNATURE"),
    mutual: isMutual,
    plain: !isMutual,
    unusual: method !== (anyForm || file !== undefined ? "POST" : "GET"),
    headers,
    anyHeaders: headers.length > 0,
    typedHeaders,
    otherHeaders: headers.filter(([name]) => name !== "content-type"),
    contentType: headers.filter(([name]) => name === "content-type"),
    form,
    anyForm,
    formBefore: form.slice(0, -1),
    formLast: form.slice(-1),
    file: file !== undefined,
    none: !anyForm && file === undefined,
    mutualHeaders: isMutual && typedHeaders,
    mutualForm: isMutual && anyForm,
    mutualFile: isMutual && file !== undefined,
    mutualNone: isMutual && !anyForm && file === undefined,
    variables,
    system: isMutual || variables || file !== undefined,
  };
}

const FORM_TYPE: Pair = ["content-type", "application/x-www-form-urlencoded"];

/** The line, as often as its part is there. */
function written(line: string, language: string, request: SampleRequest, parts: Parts): readonly string[] {
  const [, part = "", text = ""] = /^(\w*)\| ?(.*)$/.exec(line) ?? [];
  const found = parts[part];
  const pairs = typeof found === "object" ? found : found === true ? [["", ""] as const] : [];
  const { method, url, headers, form = [], file = "" } = request;
  const literal = LITERALS[language] ?? joined((name) => `Env("${name}")`);
  const isBound = headers.some(([, value]) => value === "DPoP $TOKEN");
  return pairs.map(([name, value]) => {
    const values: Readonly<Record<string, string>> = {
      name,
      value: literal(value),
      url: literal(url),
      method,
      file,
      token: isBound ? ' --token "$TOKEN"' : "",
      variables: variablesOf([url, ...[...headers, ...form].map(([, one]) => one)]).join(", "),
    };
    return text.replaceAll(/«(\w+)»/g, (_, key: string) => values[key] ?? "");
  });
}

/** How each language writes a value with variables. */
const LITERALS: Readonly<Record<string, (value: string) => string>> = {
  bash: (value) => value,
  typescript: (value) =>
    value.includes("$") ? `\`${value.replaceAll(NAME, "${$1}")}\`` : JSON.stringify(value),
  python: (value) => `${value.includes("$") ? "f" : ""}"${value.replaceAll(NAME, "{env['$1']}")}"`,
  java: joined((name) => `System.getenv("${name}")`),
  go: joined((name) => `os.Getenv("${name}")`, "+"),
};

/** Literals and variables, joined. */
function joined(variable: (name: string) => string, plus = " + "): (value: string) => string {
  return (value) => {
    const parts = value.split(NAME).map((part, place) =>
      place % 2 === 0 ? JSON.stringify(part) : variable(part)
    );
    return parts.filter((part) => part !== '""').join(plus) || '""';
  };
}

function variablesOf(values: readonly string[]): readonly string[] {
  return [...new Set(values.flatMap((value) => [...value.matchAll(NAME)].map(([, name = ""]) => name)))];
}
