/** A worker that opens connections, reports them, and then sends a request on each. */
import { connectRaw } from "./raw_client.ts";

/** The message to the worker, with a port for the first lines of the responses. */
export interface WaitingClients {
  readonly port: number;
  readonly count: number;
  /** Becomes 1 when all connections are established. */
  readonly established: Int32Array<SharedArrayBuffer>;
}

addEventListener("message", (event) => {
  if (event instanceof MessageEvent) void run(event.data, event.ports[0]);
}, { once: true });

async function run({ port, count, established }: WaitingClients, answers?: MessagePort): Promise<void> {
  const clients = await Promise.all(Array.from({ length: count }, () => connectRaw(port)));
  Atomics.store(established, 0, 1);
  Atomics.notify(established, 0);
  const lines = clients.map(async (client) => {
    await client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    const [line = ""] = (await client.read()).split("\r\n");
    client.close();
    return line;
  });
  answers?.postMessage(await Promise.all(lines));
}
