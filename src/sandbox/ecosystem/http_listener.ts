/** Plain HTTP on the loopback addresses, for the browser pages and the directory. */
import { explainBindError } from "./addresses.ts";

/** A Fetch handler that also receives the connection information. */
export type Handler = (
  request: Request,
  info: { readonly remoteAddr: { readonly hostname: string } },
) => Response | Promise<Response>;

export interface Closable {
  close(): Promise<void>;
}

/** Requests that take longer are aborted at close. */
const CLOSE_GRACE_MS = 2000;

/**
 * Serves one port on every given host.
 * @throws {CannotStart} if the port is in use
 */
export function listenHttp(
  { hosts, port, onFailure }: {
    readonly hosts: readonly string[];
    readonly port: number;
    readonly onFailure: (error: unknown) => void;
  },
  handle: Handler,
): Closable {
  const options = {
    port,
    onListen: (): void => {},
    onError: (error: unknown): Response => {
      onFailure(error);
      return new Response("Internal server error\n", { status: 500 });
    },
  };
  const servers: Deno.HttpServer[] = [];
  try {
    for (const hostname of hosts) {
      servers.push(
        Deno.serve({ ...options, hostname }, (request, { remoteAddr }) => handle(request, { remoteAddr })),
      );
    }
  } catch (error) {
    for (const server of servers) void server.shutdown();
    throw explainBindError(error, port);
  }
  return { close: () => shutDown(servers) };
}

async function shutDown(servers: readonly Deno.HttpServer[]): Promise<void> {
  const ended = Promise.all(servers.map((server) => server.shutdown()));
  const waited = Promise.withResolvers<void>();
  const timer = setTimeout(waited.resolve, CLOSE_GRACE_MS);
  await Promise.race([ended, waited.promise]);
  clearTimeout(timer);
}
