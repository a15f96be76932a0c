/**
 * Replaces DNS: a forward proxy (CONNECT) on loopback that maps host names of tests to local ports. Clients and the
 * platform's own process keep the real names in URL, handshake and certificate.
 */

export interface ConnectProxy extends AsyncDisposable {
  /** For `Deno.createHttpClient` and `HTTPS_PROXY`. */
  readonly url: string;
  /** Port on loopback by host name; may be changed at any time. Other names cannot be reached. */
  readonly ports: Map<string, number>;
}

/** Opens one on a free port. */
export function openConnectProxy(): ConnectProxy {
  const ports = new Map<string, number>();
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const open = new Set<Deno.Conn>();
  const accepting = accept(listener, ports, open);
  const { port } = listener.addr as Deno.NetAddr;
  return {
    url: `http://127.0.0.1:${port}`,
    ports,
    async [Symbol.asyncDispose](): Promise<void> {
      listener.close();
      for (const connection of open) close(connection);
      await accepting;
    },
  };
}

async function accept(
  listener: Deno.Listener,
  ports: ReadonlyMap<string, number>,
  open: Set<Deno.Conn>,
): Promise<void> {
  const tunnels: Promise<void>[] = [];
  for await (const connection of listener) {
    open.add(connection);
    tunnels.push(tunnel(connection, ports, open).finally(() => close(connection)));
  }
  await Promise.all(tunnels);
}

async function tunnel(
  client: Deno.Conn,
  ports: ReadonlyMap<string, number>,
  open: Set<Deno.Conn>,
): Promise<void> {
  try {
    const [, host = ""] = /^CONNECT ([^:\s]+):\d+ HTTP/.exec(await readHead(client)) ?? [];
    const port = ports.get(host);
    if (port === undefined) {
      await client.write(new TextEncoder().encode("HTTP/1.1 502 Unknown host\r\n\r\n"));
      return;
    }
    const target = await Deno.connect({ hostname: "127.0.0.1", port });
    open.add(target);
    await client.write(new TextEncoder().encode("HTTP/1.1 200 OK\r\n\r\n"));
    await Promise.allSettled([
      client.readable.pipeTo(target.writable),
      target.readable.pipeTo(client.writable),
    ]);
  } catch {
    // the caller or the target has closed its side
  }
}

async function readHead(connection: Deno.Conn): Promise<string> {
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(1024);
  let head = "";
  while (!head.includes("\r\n\r\n")) {
    const size = await connection.read(buffer);
    if (size === null) return "";
    head += decoder.decode(buffer.subarray(0, size));
  }
  return head;
}

function close(connection: Deno.Conn): void {
  try {
    connection.close();
  } catch {
    // already closed by a pipe that ended
  }
}
