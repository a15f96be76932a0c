/** The configuration of the console: its address and its OpenID provider. */
import type { ConsoleSettings } from "./compose_console.ts";
import { isLoopback } from "../../base/http/outgoing.ts";

/** The variables as parsed. */
export interface ConsoleValues {
  readonly DIRECTORY_CONSOLE_URL?: string | undefined;
  readonly DIRECTORY_ADMIN_PORT?: number | undefined;
  readonly DIRECTORY_OIDC_ISSUER?: string | undefined;
  readonly DIRECTORY_OIDC_ROLES?: string | undefined;
  readonly DIRECTORY_OIDC_ORGANISATION?: string | undefined;
  readonly DIRECTORY_OIDC_ACR_VALUES?: readonly string[] | undefined;
  readonly DIRECTORY_OIDC_CLIENT_ID?: string | undefined;
  readonly DIRECTORY_OIDC_CLIENT_SECRET?: string | undefined;
  readonly DIRECTORY_ENVIRONMENT?: string | undefined;
}

export const MIN_SECRET_CHARACTERS = 32;

const OF_PROVIDER = [
  "DIRECTORY_OIDC_ISSUER",
  "DIRECTORY_OIDC_CLIENT_ID",
  "DIRECTORY_OIDC_CLIENT_SECRET",
] as const;

export function consoleFaults(values: ConsoleValues): string[] {
  const faults: string[] = [];
  const { DIRECTORY_CONSOLE_URL: url, DIRECTORY_OIDC_ISSUER: issuer, DIRECTORY_ENVIRONMENT: environment } =
    values;
  if (url !== undefined && !isOrigin(url)) {
    faults.push(
      "DIRECTORY_CONSOLE_URL: must be the origin that administrators' browsers open, such as https://directory-admin.example.com; http on loopback only",
    );
  }
  if (issuer !== undefined && !isIssuer(issuer, environment === "Sandbox")) {
    faults.push("DIRECTORY_OIDC_ISSUER: must be the https address of the OpenID provider");
  }
  const given = OF_PROVIDER.filter((name) => values[name] !== undefined);
  if (given.length > 0 && given.length < OF_PROVIDER.length) {
    faults.push(`${OF_PROVIDER.join(", ")}: set all of them, or none`);
  }
  if (values.DIRECTORY_OIDC_ACR_VALUES !== undefined && values.DIRECTORY_OIDC_CLIENT_ID === undefined) {
    faults.push("DIRECTORY_OIDC_ACR_VALUES: set DIRECTORY_OIDC_CLIENT_ID too");
  }
  return faults;
}

/** The settings of values without faults. */
export function consoleSettings(values: ConsoleValues): ConsoleSettings {
  const {
    DIRECTORY_CONSOLE_URL: url = `http://localhost:${values.DIRECTORY_ADMIN_PORT}`,
    DIRECTORY_OIDC_ISSUER: issuer,
    DIRECTORY_OIDC_ROLES: rolesClaim = "roles",
    DIRECTORY_OIDC_ORGANISATION: organisationClaim,
    DIRECTORY_OIDC_ACR_VALUES: acrValues,
    DIRECTORY_OIDC_CLIENT_ID: id,
    DIRECTORY_OIDC_CLIENT_SECRET: secret,
  } = values;
  if (issuer === undefined || id === undefined || secret === undefined) return { url };
  const organisation = organisationClaim === undefined ? {} : { organisationClaim };
  const acr = acrValues === undefined ? {} : { acrValues };
  return { url, provider: { issuer, rolesClaim, ...organisation, client: { id, secret, ...acr } } };
}

function isOrigin(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && url.origin === text && isSafe(url);
}

function isIssuer(text: string, isSandbox: boolean): boolean {
  const url = URL.parse(text);
  return url !== null && url.search === "" && url.hash === "" && url.username === "" &&
    (url.protocol === "https:" || isSandbox && isSafe(url));
}

function isSafe({ protocol, hostname }: URL): boolean {
  return protocol === "https:" || protocol === "http:" && isLoopback(hostname);
}
