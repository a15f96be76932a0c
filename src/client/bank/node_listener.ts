/** A handler of Fetch for Express and for `node:http`. */
import type { IncomingMessage, ServerResponse } from "node:http";

/**
 * Returns a listener for `node:http`, or a handler for Express, which must stand before any parser of bodies.
 *
 * @param handle gets requests whose URL has the host `localhost`: only the path and the query are the caller's
 */
export function nodeListener(
  handle: (request: Request) => Promise<Response>,
): (incoming: IncomingMessage, outgoing: ServerResponse) => void {
  return (incoming, outgoing) => {
    answer(handle, incoming, outgoing).catch(() => outgoing.destroy());
  };
}

async function answer(
  handle: (request: Request) => Promise<Response>,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const { method = "GET", url = "/", headers } = incoming;
  const hasBody = method !== "GET" && method !== "HEAD";
  const request = new Request(new URL(url, "http://localhost"), {
    method,
    headers: Object.entries(headers).flatMap(([name, value]) =>
      [value ?? []].flat().map((one): [string, string] => [name, one])
    ),
    ...(hasBody ? { body: bodyOf(incoming), duplex: "half" } : {}),
  });
  const response = await handle(request);
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.end(new Uint8Array(await response.arrayBuffer()));
}

function bodyOf(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  const parts = incoming[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  return new ReadableStream({
    async pull(controller): Promise<void> {
      const { done, value } = await parts.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
    async cancel(): Promise<void> {
      await parts.return?.();
    },
  });
}
