/** A handler of Fetch behind `node:http`: only the path and the query of a request are the caller's. */
import { assertEquals } from "@std/assert";
import { createServer } from "node:http";
import { nodeListener } from "../../../src/client/bank/node_listener.ts";

async function urlFor(target: string): Promise<string> {
  const server = createServer(nodeListener((request) => Promise.resolve(new Response(request.url))));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { readonly port: number };
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const head = `GET ${target} HTTP/1.1\r\nHost: bank.example\r\nConnection: close\r\n\r\n`;
  await connection.write(new TextEncoder().encode(head));
  const answer = await new Response(connection.readable).text();
  await new Promise((resolve) => server.close(resolve));
  return answer.slice(answer.indexOf("\r\n\r\n") + 4).replaceAll(/^[0-9a-f]+\r\n|\r\n0\r\n\r\n$/g, "");
}

Deno.test("a request has the host localhost, whatever its target is", async () => {
  assertEquals(await urlFor("/payment-orders?a=b"), "http://localhost/payment-orders?a=b");
  assertEquals(
    await urlFor("//evil.example/payment-orders"),
    "http://localhost//evil.example/payment-orders",
  );
  assertEquals(await urlFor("http://evil.example/payment-orders?a"), "http://localhost/payment-orders?a");
});
