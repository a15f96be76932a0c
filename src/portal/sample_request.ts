/** What an endpoint of the reference asks for, in the form that a sample in any language is made of. */
import type { ApiEndpoint } from "./api_reference.ts";

/** What an endpoint asks for. In values, `$NAME` is a variable of the reader's environment. */
export interface SampleRequest {
  readonly method: string;
  readonly url: string;
  readonly isMutual: boolean;
  readonly headers: readonly Pair[];
  /** A form; undefined for another body or none. */
  readonly form: readonly Pair[] | undefined;
  /** The file with another body. */
  readonly file: string | undefined;
}

export type Pair = readonly [name: string, value: string];

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

/** A variable in a value. */
export const NAME = /\$([A-Z_]+)/g;

/** What the endpoint asks for, as its samples send it. */
export function requestOf({ server, path, method, parameters, security, body }: ApiEndpoint): SampleRequest {
  const [content] = body;
  const isForm = content?.mediaType === "application/x-www-form-urlencoded";
  const names = security.map(({ name }) => name);
  const required = parameters.filter(({ required, place }) => required && place === "header");
  return {
    method,
    url: server +
      path.replaceAll(
        /\{(\w+)\}/g,
        (_, name: string) =>
          name === "bank" ? "BANK" : `$${name.replaceAll(/(?=[A-Z])/g, "_").toUpperCase()}`,
      ),
    isMutual: names.includes("mutualTLS"),
    headers: [
      ...(names.some((name) => name.startsWith("DPoP")) ? [["Authorization", "DPoP $TOKEN"] as const] : []),
      ...required.map(({ name }) => [name, `$${VARIABLES[name] ?? name}`] as const),
      ...(content === undefined || isForm ? [] : [["content-type", content.mediaType] as const]),
    ],
    form: isForm
      ? Object.entries(JSON.parse(content.example ?? "{}") as Readonly<Record<string, string>>)
        .map(([name, value]) => [name, VARIABLES[name] === undefined ? value : `$${VARIABLES[name]}`])
      : undefined,
    file: content === undefined || isForm ? undefined : bodyFile(content.mediaType),
  };
}

/** The name of the file in which a sample has its body. */
export function bodyFile(mediaType: string): string {
  return mediaType === "application/json" ? "body.json" : "body.jwt";
}
