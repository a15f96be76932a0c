/** The commands of operators in front of a listener that is not the operations API, or that does not answer. */
import { assertRejects } from "@std/assert";
import { ops } from "../../../../scripts/operators/ops/main.ts";
import { logCommand } from "../../../../scripts/operators/log/main.ts";

const HOLD = ["bank", "hold", "BANKA", "--reason", "The desk has asked for it."];

interface Listener extends AsyncDisposable {
  readonly url: string;
}

function listen(answer: (request: Request) => Response | Promise<Response>): Listener {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, answer);
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

const tools = {
  environment: (name: string): string | undefined => name === "PLATFORM_OPS_TOKEN" ? "token" : undefined,
  readText: (): Promise<string> => Promise.resolve(""),
  appendText: (): Promise<void> => Promise.resolve(),
  writeBytes: (): Promise<void> => Promise.resolve(),
  print: (): void => {},
  fetch,
  now: 0,
};

Deno.test("ops fails if a page answers in place of the operations API, also behind a redirect", async () => {
  const page = (): Response => new Response("<h1>Sign in</h1>", { headers: { "content-type": "text/html" } });
  await using wall = listen((request) =>
    new URL(request.url).pathname === "/sign-in"
      ? page()
      : new Response(null, { status: 302, headers: { location: "/sign-in" } })
  );
  await using plain = listen(page);
  await assertRejects(
    () => ops([...HOLD, "--url", wall.url], tools),
    Error,
    "302: the platform answered 302",
  );
  await assertRejects(() => ops([...HOLD, "--url", plain.url], tools), Error, "is not JSON");
});

Deno.test("a command of operators ends if the platform does not answer, and the witness if its keys do not come", async () => {
  await using silent = listen(({ signal }) =>
    new Promise((resolve) => signal.addEventListener("abort", () => resolve(new Response())))
  );
  const impatient = { ...tools, deadlineMs: 100 };
  for (
    const command of [
      () => ops([...HOLD, "--url", silent.url], impatient),
      () => logCommand(["checkpoint", "--url", silent.url], impatient),
      () => logCommand(["witness", "--file", "none", "--issuer", silent.url], impatient),
    ]
  ) await assertRejects(command, Error, "does not answer");
});
