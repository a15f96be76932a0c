/** A bank whose connections end without a response. */

/** A bank that answers the first POST of a connection and keeps it, then reads the second and closes it in silence. */
export interface SilentBank extends Disposable {
  readonly uri: string;
  /** Bodies that have arrived. */
  readonly arrived: string[];
  /** Whether it closes every connection in silence. */
  closes: boolean;
}

export function openSilentBank(): SilentBank {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const open = new Set<Deno.Conn>();
  const bank: SilentBank = {
    uri: `http://127.0.0.1:${listener.addr.port}/orders`,
    arrived: [],
    closes: false,
    [Symbol.dispose]() {
      listener.close();
      for (const connection of open) connection.close();
    },
  };
  const serve = async (connection: Deno.Conn): Promise<void> => {
    open.add(connection);
    for (let answered = 0;; answered++) {
      const body = await readBody(connection);
      if (body === undefined) break;
      bank.arrived.push(body);
      if (bank.closes || answered > 0) break;
      const answer = `{"Status":"AcceptedSettlementInProcess"}`;
      const head = `HTTP/1.1 200 OK\r\ncontent-length: ${answer.length}\r\n\r\n`;
      await connection.write(new TextEncoder().encode(head + answer));
    }
    if (open.delete(connection)) connection.close();
  };
  void (async () => {
    for await (const connection of listener) void serve(connection).catch(() => {});
  })();
  return bank;
}

/** Returns the body of the next request, or undefined at the end of the connection. */
async function readBody(connection: Deno.Conn): Promise<string | undefined> {
  const buffer = new Uint8Array(65_536);
  for (let text = "";;) {
    const read = await connection.read(buffer);
    if (read === null) return undefined;
    text += new TextDecoder().decode(buffer.subarray(0, read));
    const [head = "", body] = text.split("\r\n\r\n");
    if (body !== undefined && body.length >= Number(/content-length: (\d+)/i.exec(head)?.[1])) return body;
  }
}
