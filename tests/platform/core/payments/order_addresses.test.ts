/** Which addresses orders are sent to, and how much of an answer is read. */
import { assertEquals, assertRejects } from "@std/assert";
import { isCallable, readBounded } from "../../../../src/base/http/outgoing.ts";

const PUBLIC = [
  "https://bank.example",
  "https://bank.example/payment-orders",
  "https://bank.example:8443/payment-orders?x=1",
  "https://bank.example./payment-orders",
  "https://xn--bnk-rla.example/orders",
];
const LOOPBACK = [
  "http://localhost:8443/BANKA/payment-orders",
  "https://localhost/orders",
  "http://127.0.0.1:1/",
  "http://[::1]:8443/orders",
];
const NEVER = [
  "",
  "/payment-orders",
  "bank.example",
  "http://bank.example/payment-orders",
  "https://user@bank.example/",
  "https://user:secret@bank.example/",
  "https://:secret@localhost/",
  "ws://bank.example/",
  "file:///etc/passwd",
  "data:text/plain,x",
  "https://bank",
  "https://bank.local/",
  "https://bank.internal/",
  "https://bank.localhost/",
  "https://10.0.0.1/",
  "https://192.168.0.1/",
  "https://169.254.169.254/latest",
  "https://0.0.0.0/",
  "https://0x0a000001/",
  "https://8.8.8.8/",
  "https://[fd00::1]/",
  "https://[::ffff:10.0.0.1]/",
];

Deno.test("isCallable takes https on a public host name, and loopback in the sandbox alone [D4, A9]", () => {
  for (const loopback of [true, false]) {
    for (const url of PUBLIC) assertEquals(isCallable(url, { loopback }), true, url);
    for (const url of NEVER) assertEquals(isCallable(url, { loopback }), false, url);
    for (const url of LOOPBACK) assertEquals(isCallable(url, { loopback }), loopback, url);
  }
});

Deno.test("readBounded gives a text of up to so many bytes, undefined for more", async () => {
  assertEquals(await readBounded(new Response("é".repeat(8)), 16), "é".repeat(8));
  assertEquals(await readBounded(new Response("é".repeat(8) + "x"), 16), undefined);
  assertEquals(await readBounded(new Response(null), 16), "");
});

Deno.test("readBounded puts characters together that arrive in pieces", async () => {
  const bytes = new TextEncoder().encode("a€b");
  const pieces = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      for (const byte of bytes) controller.enqueue(new Uint8Array([byte]));
      controller.close();
    },
  });
  assertEquals(await readBounded(new Response(pieces), 16), "a€b");
});

Deno.test("readBounded returns undefined for bytes that are not UTF-8", async () => {
  assertEquals(await readBounded(new Response(new Uint8Array([0xe2, 0x82])), 16), undefined);
});

Deno.test("readBounded rejects if the connection breaks off", async () => {
  const broken = new ReadableStream({ pull: (controller) => controller.error(new TypeError("reset")) });
  await assertRejects(() => readBounded(new Response(broken), 16), TypeError, "reset");
});
