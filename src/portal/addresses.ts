/** Writes the addresses of the running platform into documents, which name those of a sandbox on the default ports. */

/** The facts that a participant needs before it registers. */
export interface DirectoryFacts {
  /** `iss` of software statements, and the directory's address. */
  readonly directoryIssuer: string;
  /** `aud` of registration requests. */
  readonly registrationAudience: string;
}

/** Origins without trailing slashes, and the directory. */
export interface PlatformAddresses extends DirectoryFacts {
  readonly baseUrl: string;
  readonly authUrl: string;
}

const DEFAULT_PORT = 8440;
const SANDBOX_PORTS = 6;

/** The commands that are a package too. */
export const PACKAGED_COMMANDS = [
  "start",
  "demo",
  "participant",
  "doctor",
  "tail",
  "sign",
  "inspect",
  "certify",
] as const;
export const COMMANDS_PACKAGE = "@payment-initiation/cli";

/** Documents about a platform. The others are about a sandbox, wherever they are read. */
const OF_THE_PLATFORM = /^(README|tpp|bank|signatures|traces)$/;

/**
 * The document for readers of this platform: `{base_url}`, `{auth_url}`, `{directory_host}` and
 * `{registration_audience}` are replaced, and the addresses `localhost:8440` to `8445` of a sandbox by those of the
 * platform, or of the sandbox that serves the page.
 */
export function withAddresses(name: string, text: string, platform: PlatformAddresses): string {
  const { baseUrl, authUrl, directoryIssuer, registrationAudience } = platform;
  const first = sandboxPort(platform);
  const values: Readonly<Record<string, string>> = {
    base_url: baseUrl,
    auth_url: authUrl,
    directory_host: URL.parse(directoryIssuer)?.host ?? directoryIssuer,
    registration_audience: registrationAudience,
  };
  const isElsewhere = OF_THE_PLATFORM.test(name) && first === undefined;
  const hosts = isElsewhere ? [baseUrl, authUrl, directoryIssuer] : [];
  return (isElsewhere ? withCommands(text, platform) : text)
    .replaceAll(
      /\{(base_url|auth_url|directory_host|registration_audience)\}/gi,
      (whole, key: string) => values[key.toLowerCase()] ?? whole,
    )
    .replaceAll(/(https?:\/\/)?\blocalhost:(844\d)\b/g, (whole, scheme: string | undefined, port: string) => {
      const place = Number(port) - DEFAULT_PORT;
      if (place >= SANDBOX_PORTS) return whole;
      const host = hosts[place] ?? `${scheme ?? ""}localhost:${(first ?? DEFAULT_PORT) + place}`;
      return scheme === undefined ? URL.parse(host)?.host || host : host;
    });
}

/** The text with the commands of the package, unless a sandbox serves it: readers of a platform have no repository. */
export function withCommands(text: string, platform: PlatformAddresses): string {
  return sandboxPort(platform) === undefined ? text.replaceAll(COMMAND, `npx ${COMMANDS_PACKAGE} `) : text;
}

const COMMAND = RegExp(`(?:npx -y deno@[\\d.]+|\\bdeno) task (?=(?:${PACKAGED_COMMANDS.join("|")})\\b)`, "g");

/** The first port (Decision F2) if the platform belongs to a sandbox; undefined for a platform anywhere else. */
function sandboxPort({ baseUrl, authUrl }: PlatformAddresses): number | undefined {
  const [api, auth] = [URL.parse(baseUrl), URL.parse(authUrl)];
  const isSandbox = api?.hostname === "localhost" && auth?.hostname === "localhost" &&
    Number(auth.port) === Number(api.port) + 1;
  return isSandbox ? Number(api.port) : undefined;
}
