/** Every alert of docs/operations/prometheus/rules.yml fires on Debian's Prometheus when its fault is caused. */
import { assert, assertEquals } from "@std/assert";
import { authorised } from "testing/authorization_flow.ts";
import { clientToken, createConsent, good, pay, requestToken } from "testing/flows.ts";
import { AUTH_URL } from "testing/environment.ts";
import { OPERATOR_TOKENS, operatorsFile } from "testing/operators.ts";
import { platformKeySet } from "testing/platform_keys.ts";
import { testKey } from "testing/keys.ts";
import {
  asTheProxy,
  openFixture,
  type ServedEnvironment,
  type ServedFixture,
  settle,
} from "testing/served_environment.ts";
import { freePort } from "../../../../scripts/command_line/free_ports.ts";
import { startPlatform } from "testing/served_platform.ts";
import { issue, serverIdentity, webAuthority } from "testing/web_authority.ts";
import type { Write } from "../../../../src/base/store/store.ts";
import { openDenoKv } from "../../../../src/base/store/deno_kv.ts";
import { hasPrometheus, type Prometheus, RULES, startPrometheus } from "support/prometheus.ts";
import { failWrites, lockDatabase, withoutSizeSignal } from "support/store_faults.ts";
import { stepsOf } from "support/steps.ts";

const DAY_MS = 86_400_000;
const BANK_HOST = "bank-a.example";
const CONNECTIONS = 40;
const OPEN_CONSENTS = 20;

interface Scene extends AsyncDisposable {
  readonly env: ServedEnvironment;
  readonly prometheus: Prometheus;
  readonly port: number;
}

/** A platform whose bank A gets its orders by push, watched by Prometheus. */
async function openScene(): Promise<Scene> {
  const fixture = await openFixture();
  const [port, operationsPort] = [freePort(), freePort()];
  await Deno.writeTextFile(`${fixture.folder}/operators.json`, await operatorsFile(), { mode: 0o600 });
  await spoilBank(fixture.env["PLATFORM_STORE_URL"] ?? "");
  const process = await startPlatform(
    fixture.folder,
    {
      ...fixture.env,
      PORT: String(port),
      PLATFORM_OPERATIONS_PORT: String(operationsPort),
      PLATFORM_OPERATORS: `${fixture.folder}/operators.json`,
      PLATFORM_MAX_CONNECTIONS: String(CONNECTIONS),
      PLATFORM_MAX_OPEN_CONSENTS: String(OPEN_CONSENTS),
      PLATFORM_REQUESTS_IN_WORK: "4",
      PLATFORM_REQUEST_WAIT_SECONDS: "1",
    },
    {},
    withoutSizeSignal,
  );
  await process.ready;
  const send = asTheProxy(String(port));
  const people = await settle(fixture, send, { paymentOrdersUri: `https://${BANK_HOST}/orders` });
  const prometheus = await startPrometheus(`127.0.0.1:${operationsPort}`, OPERATOR_TOKENS.viewer);
  const env: ServedEnvironment = {
    get now(): number {
      return Date.now();
    },
    ...people,
    fixture,
    process,
    api: send,
    browser: (request) => send(request),
    async [Symbol.asyncDispose](): Promise<void> {
      process.kill("SIGKILL");
      await process.ended;
      await fixture[Symbol.asyncDispose]();
    },
  };
  return {
    env,
    prometheus,
    port,
    async [Symbol.asyncDispose](): Promise<void> {
      await prometheus[Symbol.asyncDispose]();
      await env[Symbol.asyncDispose]();
    },
  };
}

/** A record that does not fit its schema: requests that read it fail. */
async function spoilBank(storePath: string): Promise<void> {
  const store = await openDenoKv(storePath);
  await store.commit({
    checks: [],
    writes: [
      { kind: "set", key: ["bank", "SPOILT"], value: 7 },
      unreconciled(Date.now() - 3_600_000),
      ...deadEvent(Date.now() - 7_200_000),
    ],
  });
  await store.close();
}

/** A bank that has waited for its reconciliation since a restore. */
function unreconciled(restoredAt: number): Write {
  const comparison = { recovered: 0, updated: 0, agreed: 0, disagreements: [] };
  const value = { bank: "BANKZ", epoch: crypto.randomUUID(), restoredAt, since: restoredAt, comparison };
  return { kind: "set", key: ["order_hold", "BANKZ"], value };
}

/** An event that a subscriber has rejected until it was given up. */
function deadEvent(at: number): readonly Write[] {
  const [clientId, bank] = [`SC-${crypto.randomUUID()}`, "BANKZ"];
  const [id, consentId] = [crypto.randomUUID(), crypto.randomUUID()];
  const times = { createdAt: at, updatedAt: at };
  const callbackUrl = "https://away.example/events";
  const subscription = { id, clientId, bank, callbackUrl, namesTypes: false, ...times };
  const push = { failures: 11, rejections: 11, dueAt: at, dead: true, why: "status 400, err invalid_key" };
  const event = { type: "consent-authorised", consentId, status: "Authorized", at, stagedAt: at, push };
  const position = String(at).padStart(15, "0");
  return [
    { kind: "set", key: ["event_subscription", clientId, bank], value: subscription },
    { kind: "set", key: ["event", clientId, bank, position, consentId], value: event },
  ];
}

/** A server of this name, reached by the platform. */
async function serve(
  { names }: ServedFixture,
  host: string,
  answer: () => Response,
): Promise<AsyncDisposable> {
  const { certificatePem: cert, privateKeyPem: key } = await serverIdentity([host]);
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, cert, key, onListen: () => {} }, answer);
  names.ports.set(host, server.addr.port);
  return {
    async [Symbol.asyncDispose](): Promise<void> {
      names.ports.delete(host);
      await server.shutdown();
    },
  };
}

const payOnce = async (env: ServedEnvironment): Promise<unknown> =>
  await good(pay(env, await authorised(env)), 201);

/** A bank that rejects an order, and then cannot be reached by five more. */
async function troubleAtBank(env: ServedEnvironment): Promise<void> {
  {
    await using _bank = await serve(env.fixture, BANK_HOST, () => new Response("no", { status: 422 }));
    await payOnce(env);
  }
  for (let order = 0; order < 5; order++) await payOnce(env);
}

/** A TPP that creates consents without customers. */
async function fillConsents(env: ServedEnvironment): Promise<void> {
  const bound = await clientToken(env, env.tpp);
  for (let index = 1; index < OPEN_CONSENTS; index++) await createConsent(env, bound);
}

/** The directory answers 503, with a clock a minute ahead. */
function troubleAtDirectory({ fixture: { directory } }: ServedEnvironment): void {
  const fetch = (): Promise<Response> => {
    const date = new Date(Date.now() + 60_000).toUTCString();
    return Promise.resolve(new Response("down", { status: 503, headers: { date } }));
  };
  Object.assign(directory, { fetch });
}

/** A certificate of the TPP's own key that ends soon, and a signing certificate of the platform that ends soon. */
async function oldCertificates(env: ServedEnvironment): Promise<void> {
  const notAfter = new Date(Date.now() + 3 * DAY_MS);
  const order = { subject: `CN=${env.tpp.clientId}`, notAfter };
  const { certificatePem } = await issue(
    await webAuthority(),
    await testKey(10),
    env.tpp.transport.key,
    order,
  );
  const certificate = certificatePem.replaceAll(/-----[A-Z ]+-----|\n/g, "");
  await clientToken(env, { ...env.tpp, transport: { ...env.tpp.transport, certificate } });
  await Deno.writeTextFile(
    `${env.fixture.folder}/platform-keys.json`,
    await platformKeySet(12, 13, notAfter.getTime()),
  );
  env.process.kill("SIGHUP");
  await env.process.logged("platform_keys.renewed");
}

const find = (env: ServedEnvironment, path: string): Promise<number> =>
  env.browser(new Request(`${AUTH_URL}${path}`)).then(async (answer) => {
    await answer.body?.cancel();
    return answer.status;
  });

/** More requests than their lane takes while another process holds the lock of the database. */
async function overload(env: ServedEnvironment): Promise<void> {
  const lock = lockDatabase(env.fixture.env["PLATFORM_STORE_URL"] ?? "");
  const answers = Array.from(
    { length: 30 },
    () => requestToken(env, env.tpp).then((answer) => answer.status),
  );
  await Promise.race([Promise.all(answers), new Promise((resolve) => setTimeout(resolve, 2000))]);
  await lock.mend();
  assert((await Promise.all(answers)).filter((status) => status === 503).length > 10);
}

/** More lines than the queue of the log holds while no one reads it. */
async function fillLog(env: ServedEnvironment): Promise<void> {
  env.process.output.stall();
  for (let volley = 0; volley < 6; volley++) {
    await Promise.all(Array.from({ length: 35 }, () => find(env, `/${"x".repeat(8000)}`)));
  }
}

/** Alerts of faults that can last side by side. */
const TOGETHER = [
  "OrdersDead",
  "OrdersDelayed",
  "EventsDead",
  "EventsDelayed",
  "BankUnreachable",
  "BankUnreconciled",
  "BreakerOpen",
  "RequestsFailing",
  "RequestsShed",
  "OpenConsentsNearLimit",
  "LogLinesDropped",
  "SigningCertificateExpires",
  "ClientCertificateExpires",
  "ClockDiffers",
  "DirectoryUnavailable",
  "StoreFailing",
  "BackgroundWorkFailing",
];

/**
 * Alerts that fire elsewhere: one that needs hours in `tests/browser/incident.test.ts`, whose clock the test moves, one that
 * needs a token in `signer.test.ts`, and in `tests/docs/alert_rules.yml` those of hours, of PostgreSQL, the edge, the disk and the probe.
 */
const ELSEWHERE = [
  "EdgeFailing",
  "EdgeServerDown",
  "DisputesOverdue",
  "ErrorBudgetBurns",
  "HandshakesFailing",
  "OrdersHeld",
  "PaymentsUnsettled",
  "ProbeAbsent",
  "ProbeFailing",
  "SignerFailing",
  "StoreHasOneCopy",
  "VolumeNearlyFull",
];

async function holdConnections(port: number): Promise<Disposable> {
  const open = await Promise.all(
    Array.from({ length: CONNECTIONS - 2 }, () => Deno.connect({ hostname: "127.0.0.1", port })),
  );
  return { [Symbol.dispose]: () => open.forEach((connection) => connection.close()) };
}

Deno.test({
  name: "every alert fires on Prometheus when its fault is caused [O2]",
  ignore: !hasPrometheus(),
  async fn(t) {
    const declared = [...(await Deno.readTextFile(RULES)).matchAll(/- alert: (\w+)/g)].map(([, name]) =>
      name
    );
    const last = ["ConnectionsNearLimit", "PlatformDown"];
    assertEquals(declared.toSorted(), [...TOGETHER, ...last, ...ELSEWHERE].toSorted());
    await using scene = await openScene();
    const { env, prometheus } = scene;
    const fires = (name: string): Promise<void> => prometheus.firing(name, 20).then(() => {});
    await troubleAtBank(env);
    await fillConsents(env);
    troubleAtDirectory(env);
    assertEquals(await find(env, "/.well-known/oauth-authorization-server/SPOILT"), 500);
    await overload(env);
    await oldCertificates(env);
    await fillLog(env);
    await failWrites(env.process.pid);
    await stepsOf(t, TOGETHER, (name) => name, fires);
    await t.step("ConnectionsNearLimit", async () => {
      using _held = await holdConnections(scene.port);
      await fires("ConnectionsNearLimit");
    });
    env.process.kill("SIGKILL");
    await t.step("PlatformDown", () => fires("PlatformDown"));
  },
});
