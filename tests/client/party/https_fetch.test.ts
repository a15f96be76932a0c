/** Requests by `node:https`, which the library uses outside of Deno, against a real TLS server. */
import { assertEquals, assertRejects } from "@std/assert";
import { openHttps } from "../../../src/client/party/mutual_tls.ts";
import { withFrontDoor } from "support/front_door_environment.ts";

const GET = { method: "GET", headers: {} };

Deno.test("openHttps shows the participant's certificate and follows no redirect", () =>
  withFrontDoor(
    (request) => {
      const seen = { location: "https://localhost:1/", "x-seen": request.headers.get("client-cert") ?? "" };
      return new Response(null, { status: 307, headers: seen });
    },
    async (env) => {
      const { fetch } = openHttps({ certPem: env.alpha.cert, keyPem: env.alpha.key }, env.ca);
      const body = new URLSearchParams({ a: "b" });
      const response = await fetch(`${env.url}/anything`, { method: "POST", headers: {}, body });
      assertEquals([response.status, response.headers.get("x-seen")], [307, env.alpha.clientCertHeader]);
    },
  ));

Deno.test("openHttps rejects like fetch: another authority, an answer that is cut, an abort", () =>
  withFrontDoor((request) => {
    if (new URL(request.url).pathname === "/whole") return new Response("whole");
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new TextEncoder().encode("half"));
        setTimeout(() => controller.error(new Error("cut")), 50);
      },
    });
    return new Response(body);
  }, async (env) => {
    const identity = { certPem: env.alpha.cert, keyPem: env.alpha.key };
    const { fetch } = openHttps(identity, env.ca);
    assertEquals(await (await fetch(`${env.url}/whole`, GET)).text(), "whole");
    await assertRejects(() => fetch(`${env.url}/half`, GET), TypeError);
    const reason = new DOMException("late", "TimeoutError");
    await assertRejects(
      () => fetch(`${env.url}/whole`, { ...GET, signal: AbortSignal.abort(reason) }),
      DOMException,
    );
    const stranger = openHttps(identity, env.outsider.cert);
    await assertRejects(() => stranger.fetch(`${env.url}/whole`, GET), TypeError);
  }));
