/** A handler of Fetch for Express and for `node:http`. */

/** The part of `http.IncomingMessage` and of Express's request that is read. */
export interface NodeRequest extends AsyncIterable<Uint8Array> {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** The part of `http.ServerResponse` and of Express's response that is written. */
export interface NodeResponse {
  writeHead(status: number, headers: Record<string, string>): unknown;
  end(body: Uint8Array): unknown;
  destroy(): unknown;
}

/**
 * Returns a listener for `node:http`, or a handler for Express, which must stand before any parser of bodies.
 *
 * @param handle gets requests whose URL has the host `localhost`: only the path and the query are the caller's
 */
export function nodeListener(
  handle: (request: Request) => Promise<Response>,
): (incoming: NodeRequest, outgoing: NodeResponse) => void {
  return (incoming, outgoing) => {
    answer(handle, incoming, outgoing).catch(() => outgoing.destroy());
  };
}

async function answer(
  handle: (request: Request) => Promise<Response>,
  incoming: NodeRequest,
  outgoing: NodeResponse,
): Promise<void> {
  const { method = "GET", url = "/", headers } = incoming;
  const hasBody = method !== "GET" && method !== "HEAD";
  const request = new Request(`http://localhost${pathOf(url)}`, {
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

/** A target can name another host: in absolute form (RFC 9112 §3.2.2), or as `//host`, if it is read as an address. */
function pathOf(target: string): string {
  if (target.startsWith("/")) return target;
  const { pathname, search } = new URL(target, "http://localhost");
  return `${pathname}${search}`;
}

function bodyOf(incoming: NodeRequest): ReadableStream<Uint8Array> {
  const parts = incoming[Symbol.asyncIterator]();
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
