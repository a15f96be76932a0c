/** Operators of a test environment: one for each role, and maria with all of them. */
import { type Credentials, newCredential, openCredentials } from "../../src/base/http/credentials.ts";
import { sha256 } from "../../src/base/kernel/identifiers.ts";
import { OPERATORS, ROLES } from "../../src/platform/guards/security/operator_roles.ts";

/** Where the operations host is in tests; no behaviour depends on the address. */
export const OPERATIONS_URL = "http://operations.internal";

const NAMES = ["maria", ...ROLES] as const;
export type TestOperator = typeof NAMES[number];

/** The operators' tokens. The one of a role belongs to a person of the same name. */
export const OPERATOR_TOKENS = Object.fromEntries(
  NAMES.map((
    name,
    index,
  ) => [name, `oper-${String(index).padStart(16, "0")}.a-token-of-the-operator-${name}`]),
) as Readonly<Record<TestOperator, string>>;

/** Sends a change of an operator to an environment, with this `Data`. `path` is below `/operations`. */
export function changeAs(
  env: { asOperator(path: string, init: RequestInit, as?: TestOperator): Promise<Response> },
  path: `/${string}`,
  data: object,
  as?: TestOperator,
): Promise<Response> {
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ Data: data });
  return env.asOperator(`/operations${path}`, { method: "POST", headers, body }, as);
}

/** Maria's `Authorization` header. */
export const MARIA = { authorization: `Bearer ${OPERATOR_TOKENS.maria}` };

let list: Promise<string> | undefined;

/** The operators' list, as a file would have it. */
export async function operatorsFile(): Promise<string> {
  return await (list ??= makeList());
}

export async function testOperators(): Promise<Credentials> {
  const json = await operatorsFile();
  return openCredentials(OPERATORS, {
    version: () => Promise.resolve(""),
    text: () => Promise.resolve(json),
  }, () => 0);
}

async function makeList(): Promise<string> {
  const operators = await Promise.all(NAMES.map(async (name) => {
    const { credential } = await newCredential(
      OPERATORS,
      { name, roles: name === "maria" ? ROLES : [name] },
      Date.now(), // processes of tests have the computer's clock
    );
    const token = OPERATOR_TOKENS[name];
    return { ...credential, id: token.split(".")[0], token_sha256: await sha256(token) };
  }));
  return JSON.stringify({ operators });
}
