/** An answer that breaks off: what the other side sees when a connection is reset before the answer is complete. */

/** Headers, a beginning, and then nothing more on this connection. */
export function brokenAnswer(): Response {
  const body = new ReadableStream<Uint8Array>({
    start(controller): void {
      controller.enqueue(new TextEncoder().encode("{"));
    },
    pull(controller): void {
      controller.error(new Error("this bank breaks off"));
    },
  });
  return new Response(body, { headers: { "content-type": "application/json" } });
}
