/** Faults of the addresses in a configuration. */
import { isLoopback } from "../../base/http/outgoing.ts";
import { type Values, variableOf } from "./config_variables.ts";

/** Faults of the origins and URLs. */
export function urlFaults(values: Partial<Values>): string[] {
  const sandbox = values.environment === "Sandbox";
  const origins = (["baseUrl", "authUrl"] as const).flatMap((name) =>
    originFault(variableOf(name), values[name], sandbox)
  );
  const urls =
    (["directoryIssuer", "directoryJwksUri", "registrationAudience", "operationsOidcIssuer"] as const)
      .flatMap((name) => schemeFault(variableOf(name), values[name], sandbox));
  // A console on this computer may be plain HTTP, in production too: its traffic does not leave the computer.
  return [...origins, ...urls, ...originFault("PLATFORM_OPERATIONS_URL", values.operationsUrl, true)];
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
export function directoryFaults({ directoryHosts: hosts, ...values }: Partial<Values>): string[] {
  if (hosts === undefined) return [];
  const wrong = hosts.filter((host) => URL.parse(`https://${host}`)?.host !== host);
  if (hosts.length === 0 || wrong.length > 0) {
    return [
      "PLATFORM_DIRECTORY_HOSTS: must be host or host:port values, comma separated, without scheme or path",
    ];
  }
  return (["directoryIssuer", "directoryJwksUri"] as const).flatMap((name) => {
    const host = URL.parse(values[name] ?? "")?.host;
    return host === undefined || hosts.includes(host)
      ? []
      : [`PLATFORM_DIRECTORY_HOSTS: must list ${host}, the host of ${variableOf(name)}`];
  });
}
