/** Faults of the addresses in a configuration. */
import { isLoopback } from "../../base/http/outgoing.ts";

/** Variables with addresses, as far as they are set. */
type Addresses =
  & Readonly<
    Partial<
      Record<
        | "PLATFORM_BASE_URL"
        | "PLATFORM_AUTH_URL"
        | "PLATFORM_DIRECTORY_ISSUER"
        | "PLATFORM_DIRECTORY_JWKS_URI"
        | "PLATFORM_DIRECTORY_HOSTS"
        | "PLATFORM_REGISTRATION_AUDIENCE"
        | "PLATFORM_OPERATIONS_OIDC_ISSUER"
        | "PLATFORM_OPERATIONS_URL",
        string | undefined
      >
    >
  >
  & { readonly PLATFORM_ENVIRONMENT?: string };

/** Faults of the origins and URLs. */
export function urlFaults(values: Addresses): string[] {
  const sandbox = values.PLATFORM_ENVIRONMENT === "Sandbox";
  const origins = (["PLATFORM_BASE_URL", "PLATFORM_AUTH_URL"] as const).flatMap((name) =>
    originFault(name, values[name], sandbox)
  );
  const urls = ([
    "PLATFORM_DIRECTORY_ISSUER",
    "PLATFORM_DIRECTORY_JWKS_URI",
    "PLATFORM_REGISTRATION_AUDIENCE",
    "PLATFORM_OPERATIONS_OIDC_ISSUER",
  ] as const)
    .flatMap((name) => schemeFault(name, values[name], sandbox));
  // A console on this computer may be plain HTTP, in production too: its traffic does not leave the computer.
  return [
    ...origins,
    ...urls,
    ...originFault("PLATFORM_OPERATIONS_URL", values.PLATFORM_OPERATIONS_URL, true),
  ];
}

function originFault(name: string, value: string | undefined, sandbox: boolean): string[] {
  if (value === undefined) return [];
  const url = URL.parse(value);
  if (url === null || url.origin !== value) {
    return [`${name}: must be an origin such as https://host, without a path or slash`];
  }
  return schemeFault(name, value, sandbox);
}

// Decision A9: http only for loopback, only in the sandbox.
function schemeFault(name: string, value: string | undefined, sandbox: boolean): string[] {
  if (value === undefined) return [];
  const url = URL.parse(value);
  if (url === null) return [`${name}: must be an absolute URL`];
  if (url.protocol === "https:" || (sandbox && url.protocol === "http:" && isLoopback(url.hostname))) {
    return [];
  }
  return [`${name}: must be https${sandbox ? " (http only on loopback)" : ""}`];
}

/** Faults of the hosts that may be called. Otherwise they would only be noticed at run time. */
export function directoryFaults(values: Addresses): string[] {
  if (values.PLATFORM_DIRECTORY_HOSTS === undefined) return [];
  const hosts = commaSeparated(values.PLATFORM_DIRECTORY_HOSTS);
  const wrong = hosts.filter((host) => URL.parse(`https://${host}`)?.host !== host);
  if (hosts.length === 0 || wrong.length > 0) {
    return [
      "PLATFORM_DIRECTORY_HOSTS: must be host or host:port values, comma separated, without scheme or path",
    ];
  }
  return (["PLATFORM_DIRECTORY_ISSUER", "PLATFORM_DIRECTORY_JWKS_URI"] as const).flatMap((name) => {
    const host = URL.parse(values[name] ?? "")?.host;
    return host === undefined || hosts.includes(host)
      ? []
      : [`PLATFORM_DIRECTORY_HOSTS: must list ${host}, the host of ${name}`];
  });
}

/** The parts of a list, without spaces. */
export function commaSeparated(value: string): string[] {
  return value.split(",").map((part) => part.trim()).filter((part) => part !== "");
}
