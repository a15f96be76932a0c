/** The fetch of Deno for programs that send payment orders and events. */

/**
 * Keeps no connection for a later request. Deno's fetch sends a request again by itself if a connection that it has kept
 * ends without a response, also a POST that the server has read.
 */
const withoutKeptConnections = Deno.createHttpClient({ poolMaxIdlePerHost: 0 });

/** As `fetch`, with a connection of its own for each POST that names no client. */
export function denoFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  return fetch(input, init?.method === "POST" ? { client: withoutKeptConnections, ...init } : init);
}
