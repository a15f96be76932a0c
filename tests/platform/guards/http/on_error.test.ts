/** What the log and the metrics have of each rejection, and which rejections are explained. */
import { assertEquals } from "@std/assert";
import { Hono } from "hono";
import type { RequestEnv } from "../../../../src/base/http/context.ts";
import { ApiError, type ErrorReason } from "../../../../src/base/kernel/api_error.ts";
import { ERROR_TABLE } from "../../../../src/platform/guards/http/error_table.ts";
import { answerErrors } from "../../../../src/platform/guards/http/on_error.ts";

const FACTS = { interactionId: "11111111-1111-4111-8111-111111111111", bank: "BANKA" };

interface Answered {
  readonly status: number;
  readonly logged: readonly unknown[];
  readonly counted: readonly unknown[];
  readonly isExplained: boolean;
}

async function answered(error: Error): Promise<Answered> {
  const [logged, counted]: [unknown[], unknown[]] = [[], []];
  const line = (level: string) => (...given: unknown[]) => void logged.push([level, ...given]);
  let isExplained = false;
  const app = new Hono<RequestEnv>();
  app.use(async (c, next) => {
    c.set("surface", "oauth");
    c.set("trace", {} as never);
    c.set("facts", { ...FACTS } as never);
    c.set("interactionId", FACTS.interactionId as never);
    await next();
  });
  app.get("/", () => {
    throw error;
  });
  app.onError(answerErrors({
    log: { info: line("info"), error: line("error"), security: line("security") } as never,
    metrics: { count: (...given: unknown[]) => void counted.push(given) },
    explain: () => {
      isExplained = true;
      return Promise.resolve(undefined);
    },
    errorUri: (reason) => reason,
    drawErrorPage: () => new Response(),
  }));
  const { status } = await app.request("/");
  return { status, logged, counted, isExplained };
}

const SECURITY: Partial<Record<ErrorReason, string>> = {
  "dpop.key_mismatch": "security.proof_key_mismatch",
  "certificate.not_participants": "security.certificate_mismatch",
  "client.not_authenticated": "security.client_not_authenticated",
  "signature.invalid": "security.signature_invalid",
  "bank_return.not_authentic": "security.bank_return_not_authentic",
  "interaction.not_yours": "security.session_of_another_browser",
};

Deno.test("each rejection is one line and one count, and a security event if it hints at an attack; wrong requests are explained", async () => {
  for (const reason of Object.keys(ERROR_TABLE) as ErrorReason[]) {
    const { status, ...seen } = await answered(new ApiError(reason, "why"));
    const fields = { ...FACTS, reason, detail: "why" };
    const event = SECURITY[reason];
    assertEquals(seen, {
      logged: [
        ["info", "request.rejected", fields],
        ...(event === undefined ? [] : [["security", event, fields]]),
      ],
      counted: [
        ["platform_rejections_total", { reason }],
        ...(event === undefined ? [] : [["platform_security_events_total", { event }]]),
      ],
      isExplained: [400, 401, 403, 406, 413, 415].includes(status),
    }, reason);
  }
});

Deno.test("a rejection that names its own security event has that one", async () => {
  const { logged } = await answered(
    new ApiError("client.not_authenticated", { security: "security.replay" }),
  );
  assertEquals(logged[1], ["security", "security.replay", {
    ...FACTS,
    reason: "client.not_authenticated",
    detail: undefined,
  }]);
});

Deno.test("a fault of the platform is an error with its stack, and its answer says nothing of it", async () => {
  const error = new Error("a fault");
  assertEquals(await answered(error), {
    status: 500,
    logged: [["error", "request.failed", { ...FACTS, error: error.stack }]],
    counted: [["platform_failures_total", {}]],
    isExplained: false,
  });
});
