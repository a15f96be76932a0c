/** Where the error of a caller leads that is not proven: nowhere, or in a sandbox to the page of its trace. */
import { assertEquals } from "@std/assert";
import { Hono } from "hono";
import { ApiError } from "../../../../src/base/kernel/api_error.ts";
import { newTraceNotes, type RequestEnv } from "../../../../src/base/http/context.ts";
import { openLog } from "../../../../src/base/observability/log.ts";
import { answerErrors, type ErrorDeps } from "../../../../src/platform/guards/http/on_error.ts";

const ID = "6dede227-f4e5-4409-85dd-0fd2b1128b98";

async function answered(traceUri: ErrorDeps["traceUri"], explain: ErrorDeps["explain"]): Promise<unknown> {
  const app = new Hono<RequestEnv>();
  app.use(async (c, next) => {
    c.set("trace", newTraceNotes());
    c.set("facts", { interactionId: ID });
    c.set("interactionId", ID);
    await next();
  });
  app.get("/", () => {
    throw new ApiError("client.not_authenticated");
  });
  app.onError(
    answerErrors({
      log: openLog({ clock: () => 0, sink: () => {}, level: "error" }),
      metrics: { count() {} },
      explain,
      errorUri: (reason) => `https://auth.example/docs/errors#${reason}`,
      traceUri,
      drawErrorPage: () => new Response(),
    }),
  );
  const { error_uri } = await (await app.request("/")).json() as { readonly error_uri?: string };
  return error_uri;
}

Deno.test("the error of an unproven caller leads to its trace in a sandbox, and nowhere elsewhere [EB7]", async () => {
  const unproven: ErrorDeps["explain"] = () => Promise.resolve(undefined);
  const proven: ErrorDeps["explain"] = () =>
    Promise.resolve(
      { client: "SC-1", reason: "client.not_authenticated" } as Awaited<ReturnType<ErrorDeps["explain"]>>,
    );
  const traceUri = (id: string): string => `https://auth.example/docs/traces?id=${id}`;
  assertEquals(await answered(traceUri, unproven), `https://auth.example/docs/traces?id=${ID}`);
  assertEquals(await answered(undefined, unproven), undefined);
  assertEquals(await answered(traceUri, proven), "https://auth.example/docs/errors#client.not_authenticated");
});
