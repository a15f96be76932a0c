/** Addresses of a sandbox's parts: of the sandbox that serves the page, or else of one on the default ports. */
import type { GuideAddresses } from "./guide.ts";

/** Origins of a sandbox, without trailing slashes. */
export interface SandboxAddresses {
  readonly api: string;
  readonly auth: string;
  readonly directory: string;
  readonly banks: string;
  readonly shop: string;
}

const DEFAULT_PORT = 8440;

/** Five ports in a row, the API's first (Decision F2). */
export function sandboxAddresses(platform: GuideAddresses): SandboxAddresses {
  const first = ownFirstPort(platform) ?? DEFAULT_PORT;
  const plain = (offset: number): string => `http://localhost:${first + offset}`;
  return {
    api: `https://localhost:${first}`,
    auth: plain(1),
    directory: plain(2),
    banks: plain(3),
    shop: plain(4),
  };
}

/** The first port if the platform belongs to a sandbox; undefined for a platform anywhere else. */
function ownFirstPort({ baseUrl, authUrl }: GuideAddresses): number | undefined {
  const [api, auth] = [URL.parse(baseUrl), URL.parse(authUrl)];
  const isSandbox = api?.hostname === "localhost" && auth?.hostname === "localhost" &&
    Number(auth.port) === Number(api.port) + 1;
  return isSandbox ? Number(api.port) : undefined;
}
