/** The customer's return to a program on this computer. */
import { assertEquals } from "@std/assert";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { once } from "node:events";
import { awaitReturn } from "../../../src/client/tpp.ts";

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

async function connected(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  return socket;
}

Deno.test("a return ends the wait although the browser has a spare connection and a page sends what makes no URL", async () => {
  const port = await freePort();
  const returned = awaitReturn(`http://localhost:${port}/callback`);
  const spare = await connected(port);
  const page = await connected(port);
  page.write("GET //a:99999 HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
  const [answer] = await once(page, "data");
  assertEquals(String(answer).split("\r\n")[0], "HTTP/1.1 404 Not Found");
  const closed = once(spare, "close");
  assertEquals(
    await (await fetch(`http://localhost:${port}/callback?code=1`)).text(),
    "You can close this page.",
  );
  assertEquals((await returned).search, "?code=1");
  await closed;
  page.destroy();
});
