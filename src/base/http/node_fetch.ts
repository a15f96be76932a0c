/** The fetch of Node and Bun for programs that send payment orders and events. */

/**
 * As `fetch`, with a connection of its own for each POST. Bun sends a request again by itself if a connection that it has
 * kept ends without a response, and on Node that request fails.
 */
export function nodeFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  if (init?.method !== "POST") return fetch(input, init);
  const headers = new Headers(init.headers);
  headers.set("connection", "close");
  return fetch(input, { ...init, headers, keepalive: false });
}
