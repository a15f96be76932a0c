/** A TCP relay on loopback between a client and a server, for faults of the network between them. */

export interface TcpRelay {
  readonly port: number;
  /** Called with each chunk of the client. Returns false to end the connection, and "hold" to withhold the chunk. */
  onRequest: Gate;
  /** The same for each chunk of the server. */
  onAnswer: Gate;
  /** Ends every connection. */
  cut(): void;
  [Symbol.asyncDispose](): Promise<void>;
}

export type Gate = (bytes: Uint8Array) => boolean | "hold" | Promise<boolean>;

/** Opens a relay to a port of this computer. */
export function openTcpRelay(target: number): TcpRelay {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const open = new Set<Deno.TcpConn>();
  const relay: TcpRelay = {
    port: listener.addr.port,
    onRequest: () => true,
    onAnswer: () => true,
    cut() {
      for (const connection of open) end(connection);
    },
    async [Symbol.asyncDispose]() {
      listener.close();
      relay.cut();
      await accepting;
    },
  };
  const end = (connection: Deno.TcpConn): void => {
    if (open.delete(connection)) connection.close();
  };
  const copy = async (from: Deno.TcpConn, to: Deno.TcpConn, gate: Gate): Promise<void> => {
    const buffer = new Uint8Array(65_536);
    try {
      for (let read = await from.read(buffer); read !== null; read = await from.read(buffer)) {
        const bytes = buffer.subarray(0, read);
        const passes = await gate(bytes);
        if (passes === false) break;
        for (let written = 0; passes === true && written < read;) {
          written += await to.write(bytes.subarray(written));
        }
      }
    } catch {
      // one of them has ended
    }
    end(from);
    end(to);
  };
  const serve = async (client: Deno.TcpConn): Promise<void> => {
    open.add(client);
    const server = await Deno.connect({ hostname: "127.0.0.1", port: target }).catch(() => undefined);
    if (server === undefined) return end(client);
    open.add(server);
    await Promise.all([
      copy(client, server, (bytes) => relay.onRequest(bytes)),
      copy(server, client, (bytes) => relay.onAnswer(bytes)),
    ]);
  };
  const accepting = (async (): Promise<void> => {
    const served: Promise<void>[] = [];
    for await (const client of listener) served.push(serve(client));
    await Promise.all(served);
  })();
  return relay;
}
