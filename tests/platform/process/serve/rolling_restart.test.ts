/**
 * Three processes on one PostgreSQL database are restarted one after the other, while payments go through a real
 * proxy with the reference configuration. No request may get an unexpected answer, and none may reach two processes.
 */
import { assert, assertEquals } from "@std/assert";
import { authorised } from "testing/authorization_flow.ts";
import { good, pay } from "testing/flows.ts";
import { isPostgresMissing, newPostgresDatabase } from "support/postgres.ts";
import { openProxiedEnvironment, type ProxiedEnvironment } from "support/proxied_environment.ts";
import { findProxy } from "support/proxy_program.ts";
import { until } from "support/raw_client.ts";

const PROCESSES = 3;
/** 1,000 on demand, with ROLLING_REQUESTS=1000. */
const MIN_REQUESTS = Number(Deno.env.get("ROLLING_REQUESTS") ?? 200);
const MAX_REQUESTS = MIN_REQUESTS + 1000;
/** Between two payments of a customer, once there were enough requests. */
const PAUSE_MS = 200;
/** Customers who pay at the same time. */
const CUSTOMERS = 4;
/** Above what the customers of the test can send. */
const RATE_LIMITS = "authorization=1000/1000,consents=1000/1000,payments=1000/1000,reads=1000/1000";

for (const { name, program } of await Promise.all([findProxy("haproxy"), findProxy("nginx")])) {
  Deno.test({
    name: `a restart of ${PROCESSES} processes, one after the other, loses no request through ${name} [H24]`,
    ignore: isPostgresMissing || program === undefined,
    async fn() {
      const STORE_URL = await newPostgresDatabase();
      const DATA_KEYS_STORE = await newPostgresDatabase();
      const variables = {
        PLATFORM_STORE_URL: STORE_URL,
        PLATFORM_DATA_KEYS_STORE: DATA_KEYS_STORE,
        PLATFORM_RATE_LIMITS: RATE_LIMITS,
        PLATFORM_ENVIRONMENT: "Sandbox",
      };
      await using env = await openProxiedEnvironment(name, program ?? "", { count: PROCESSES, variables });
      const load = openLoad(env);
      for (let index = 0; index < PROCESSES; index++) {
        await until(() => env.started[index]?.lines.some(isToken) ?? false);
        env.started[index]?.kill("SIGTERM");
        assertEquals(await env.started[index]?.ended, { code: 0, stderr: "" });
        await env.restart(index);
      }
      const { unexpected, requests, tokens } = await load.end();
      assertEquals(unexpected, []);
      assert(requests >= MIN_REQUESTS, `${requests}`);
      assert(haveAllServed(env), "every process has served");
      const arrived = (): number =>
        env.started.reduce((sum, { lines }) => sum + lines.filter(isToken).length, 0);
      for (const { ended, kill } of env.started) await (kill("SIGTERM"), ended); // then their logs are complete
      assertEquals(arrived(), tokens, "each token request has reached one process");
    },
  });
}

function haveAllServed({ started }: ProxiedEnvironment): boolean {
  return started.every(({ lines }) => lines.some(isToken));
}

const isToken = (line: Readonly<Record<string, unknown>>): boolean =>
  line["event"] === "request.answered" && line["path"] === "/BANKA/token.oauth2/v1";

interface Load {
  /** Lets the payments under way end, once there were enough requests. */
  end(): Promise<{ unexpected: string[]; requests: number; tokens: number }>;
}

function openLoad(env: ProxiedEnvironment): Load {
  const seen = { unexpected: [] as string[], requests: 0, tokens: 0 };
  let ending = false;
  const count = ({ url }: Request): void => {
    seen.requests += 1;
    if (url.endsWith("/BANKA/token.oauth2/v1")) seen.tokens += 1;
  };
  const counted: ProxiedEnvironment = Object.assign(Object.create(env), {
    api: (request: Request, as?: ProxiedEnvironment["tpp"]) => (count(request), env.api(request, as)),
    browser: (request: Request) => (count(request), env.browser(request)),
  });
  const customer = async (): Promise<void> => {
    while (!ending || seen.requests < MIN_REQUESTS || (seen.requests < MAX_REQUESTS && !haveAllServed(env))) {
      await authorised(counted).then((flow) => good(pay(counted, flow), 201))
        .catch((error: Error) => seen.unexpected.push(error.stack ?? error.message));
      if (seen.unexpected.length > 20) return;
      // Beside other work, the proxy's checks of the last process may be late.
      if (ending && seen.requests >= MIN_REQUESTS) await new Promise((done) => setTimeout(done, PAUSE_MS));
    }
  };
  const customers = Promise.all(Array.from({ length: CUSTOMERS }, customer));
  return {
    async end() {
      ending = true;
      await customers;
      return seen;
    },
  };
}
