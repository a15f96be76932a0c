/** Simulates a connection that is reset before the response is complete. */

/** A response with headers and the start of a body, whose stream then fails. */
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
