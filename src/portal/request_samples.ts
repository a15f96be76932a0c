/**
 * Requests to copy in several languages, made from an endpoint of the reference. They need no package but Python's
 * requests. In `request_samples.txt` each line of a program stands behind the parts of the request that it is for.
 */
import type { ApiContent, ApiEndpoint } from "./api_reference.ts";
import templates from "./request_samples.txt" with { type: "text" };

/** A request in one language. */
export interface Sample {
  readonly title: string;
  /** For the highlighter. */
  readonly language: string;
  readonly code: string;
}

type Pair = readonly [name: string, value: string];
/** What an endpoint asks for: whether a part is there, or its pairs. In values, `$NAME` is a variable of the reader's environment. */
type Parts = Readonly<Record<string, boolean | readonly Pair[]>>;

/** Headers and members of forms, and their variables. Others are written out. */
const VARIABLES: Readonly<Record<string, string>> = {
  DPoP: "PROOF",
  "x-jws-signature": "SIGNATURE",
  "x-idempotency-key": "KEY",
  client_assertion: "ASSERTION",
  client_id: "CLIENT_ID",
  code: "CODE",
  code_challenge: "CHALLENGE",
  code_verifier: "VERIFIER",
  consent_id: "CONSENT_ID",
  dpop_jkt: "JKT",
  request_uri: "REQUEST_URI",
  state: "STATE",
};
const NAME = /\$([A-Z_]+)/g;
const FORM = "application/x-www-form-urlencoded";

/** Samples of the endpoint; none for a page that a browser opens. The file `body.json` or `body.jwt` has the body. */
export function samplesOf(endpoint: ApiEndpoint): readonly Sample[] {
  if (!endpoint.answers.some(({ status }) => status.startsWith("2"))) return [];
  const { method, server, path, body: [content] } = endpoint;
  const url = server + path.replaceAll(
    /\{(\w+)\}/g,
    (_, name: string) => name === "bank" ? "BANK" : `$${name.replaceAll(/(?=[A-Z])/g, "_").toUpperCase()}`,
  );
  const [headers, form] = [headersOf(endpoint), formOf(content)];
  const values = [url, ...[...headers, ...form].map(([, value]) => value)];
  const used = values.flatMap((value) => [...value.matchAll(NAME)].map(([, name = ""]) => name));
  const parts = partsOf(endpoint, headers, form, used);
  return [...templates.matchAll(/^# (\S+) (\w+)\n((?:[\w+]*\|.*\n)+)/gm)].map(
    ([, title = "", language = "", lines = ""]) => {
      const literal = LITERALS[language] ?? joinWith((name) => `Env("${name}")`);
      const common = {
        method,
        url: literal(url),
        file: bodyFile(content?.mediaType),
        token: used.includes("TOKEN") ? ' --token "$TOKEN"' : "",
        variables: [...new Set(used)].join(", "),
      };
      const code = lines.trimEnd().split("\n").flatMap((line) =>
        pairsFor(line, parts).map(([name, value]): string => {
          const values: Readonly<Record<string, string>> = { ...common, name, value: literal(value) };
          return line.replace(/^[\w+]*\| ?/, "").replaceAll(
            /«(\w+)»/g,
            (_, key: string) => values[key] ?? "",
          );
        })
      );
      return { title, language, code: code.join("\n").replace("curl \\\n  ", "curl ") };
    },
  );
}

/** The name of the file in which a sample has its body. */
export function bodyFile(mediaType = ""): string {
  return mediaType === "application/json" ? "body.json" : "body.jwt";
}

function headersOf({ parameters, security }: ApiEndpoint): readonly Pair[] {
  const isBound = security.some(({ name }) => name.startsWith("DPoP"));
  const required = parameters.filter(({ required, place }) => required && place === "header");
  return [
    ...(isBound ? [["Authorization", "DPoP $TOKEN"] as const] : []),
    ...required.map(({ name }) => [name, `$${VARIABLES[name] ?? name}`] as const),
  ];
}

function formOf(content: ApiContent | undefined): readonly Pair[] {
  if (content?.mediaType !== FORM) return [];
  return Object.entries(JSON.parse(content.example ?? "{}") as Readonly<Record<string, string>>)
    .map(([name, value]) => [name, VARIABLES[name] === undefined ? value : `$${VARIABLES[name]}`]);
}

function partsOf(
  { method, security, body: [content] }: ApiEndpoint,
  otherHeaders: readonly Pair[],
  form: readonly Pair[],
  used: readonly string[],
): Parts {
  const mutual = security.some(({ name }) => name === "mutualTLS");
  const file = content !== undefined && content.mediaType !== FORM;
  const type = content === undefined ? [] : [["content-type", content.mediaType] as const];
  const headers = [...otherHeaders, ...(file ? type : [])];
  return {
    "": true,
    assertion: used.includes("ASSERTION"),
    proof: used.includes("PROOF"),
    signature: used.includes("SIGNATURE"),
    mutual,
    plain: !mutual,
    unusual: method !== (content === undefined ? "GET" : "POST"),
    headers,
    anyHeaders: headers.length > 0,
    typedHeaders: [...otherHeaders, ...type],
    otherHeaders,
    contentType: file ? type : [],
    form,
    anyForm: form.length > 0,
    formBefore: form.slice(0, -1),
    formLast: form.slice(-1),
    file,
    none: content === undefined,
    variables: used.length > 0,
    system: mutual || used.length > 0 || file,
  };
}

/** What the line is written for: each pair of its last part, if all parts are there. */
function pairsFor(line: string, parts: Parts): readonly Pair[] {
  return line.slice(0, line.indexOf("|")).split("+").map((name) => parts[name] ?? false)
    .map((part) => typeof part === "object" ? part : part ? [["", ""] as const] : [])
    .reduce((before, pairs) => before.length === 0 ? [] : pairs);
}

/** How each language writes a value with variables. */
const LITERALS: Readonly<Record<string, (value: string) => string>> = {
  bash: (value) => value,
  typescript: (value) =>
    value.includes("$") ? `\`${value.replaceAll(NAME, "${$1}")}\`` : JSON.stringify(value),
  python: (value) => `${value.includes("$") ? "f" : ""}"${value.replaceAll(NAME, "{env['$1']}")}"`,
  java: joinWith((name) => `System.getenv("${name}")`),
  go: joinWith((name) => `os.Getenv("${name}")`, "+"),
};

/** Literals and variables, joined. */
function joinWith(variable: (name: string) => string, plus = " + "): (value: string) => string {
  return (value) => {
    const parts = value.split(NAME).map((part, place) =>
      place % 2 === 0 ? JSON.stringify(part) : variable(part)
    );
    return parts.filter((part) => part !== '""').join(plus) || '""';
  };
}
