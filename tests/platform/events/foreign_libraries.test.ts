/** Tokens of a poll and of a push, verified with other libraries than the platform's own code (contract EVT2, EVT11). */
import { assertEquals, assertNotEquals } from "@std/assert";
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from "jose";
import type { PlatformKeys } from "testing/answers.ts";
import { authorised } from "testing/authorization_flow.ts";
import { AUTH_URL } from "testing/environment.ts";
import { good } from "testing/flows.ts";
import { canRun, PAYMENT_EXAMPLES } from "support/payment_examples.ts";
import { type EventClaims, poll } from "./poll.ts";
import { away, openReceiver, type ReceiverEnvironment } from "./receiver.ts";

const SCRIPT = new URL("verify_set.py", import.meta.url).pathname;

const PYTHON = PAYMENT_EXAMPLES.find(({ language }) => language === "Python");

/** Prints a warning if not. */
function hasJwcrypto(): boolean {
  return PYTHON !== undefined && canRun(PYTHON);
}

/** Both tokens of one event, and the platform's published keys. */
async function tokensOfOneEvent(): Promise<
  { jwks: JSONWebKeySet; tokens: readonly string[]; env: ReceiverEnvironment }
> {
  const env = await openReceiver(away);
  await authorised(env);
  await env.platform.deliverEvents();
  const { sets } = await good(poll(env), 200);
  const jwks = await good<PlatformKeys>(env.browser(new Request(`${AUTH_URL}/jwks`)), 200);
  return { jwks, tokens: [env.received[0]?.token ?? "", String(Object.values(sets)[0])], env };
}

Deno.test("the tokens of a poll and of a push verify with jose alone [EVT2, EVT11]", async () => {
  const { jwks, tokens, env } = await tokensOfOneEvent();
  await using _ = env;
  const verified = await Promise.all(
    tokens.map(async (token) =>
      (await jwtVerify(token, createLocalJWKSet(jwks), {
        algorithms: ["PS256"],
        typ: "secevent+jwt",
        issuer: `${AUTH_URL}/BANKA`,
        audience: env.tpp.clientId,
        currentDate: new Date(env.now),
      })).payload
    ),
  );
  assertEquals(verified[0], verified[1]);
});

Deno.test({
  name:
    "the tokens of a poll and of a push verify with Python's jwcrypto, and a changed one does not [EVT2, EVT11]",
  ignore: !hasJwcrypto(),
  async fn() {
    const { jwks, tokens, env } = await tokensOfOneEvent();
    await using _ = env;
    const [code, claims] = await verifyInPython({ jwks, tokens });
    assertEquals([code, claims.length, claims[0]?.aud], [0, 2, env.tpp.clientId]);
    assertEquals(claims[0], claims[1]);
    const changed = tokens.map((token) => {
      const [header, payload = "", signature] = token.split(".");
      const other = btoa(atob(payload.replaceAll("-", "+").replaceAll("_", "/")).replace("BANKA", "BANKB"));
      return [header, other.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", ""), signature].join(
        ".",
      );
    });
    assertNotEquals((await verifyInPython({ jwks, tokens: changed }))[0], 0);
  },
});

async function verifyInPython(input: unknown): Promise<[code: number, claims: EventClaims[]]> {
  const [python = ""] = PYTHON?.needs[0] ?? [];
  const pipes = { stdin: "piped", stdout: "piped", stderr: "piped" } as const;
  const child = new Deno.Command(python, { args: [SCRIPT], ...pipes }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(JSON.stringify(input)));
  await writer.close();
  const { code, stdout } = await child.output();
  const text = new TextDecoder().decode(stdout);
  return [code, text === "" ? [] : JSON.parse(text) as EventClaims[]];
}
