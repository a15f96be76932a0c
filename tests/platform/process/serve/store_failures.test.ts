/** `deno task serve` on a database that cannot be written for a while: a full disk, I/O errors, the lock of another process. */
import { assert, assertEquals } from "@std/assert";
import { call, good, pay, requestToken } from "testing/flows.ts";
import { authorised } from "testing/authorization_flow.ts";
import type { Participant } from "testing/participants.ts";
import { openServedEnvironment, type ServedEnvironment } from "testing/served_environment.ts";
import {
  canMount,
  failWrites,
  type Fault,
  fillDisk,
  lockDatabase,
  onSmallDisk,
  withoutSizeSignal,
} from "support/store_faults.ts";
import { AUTH_URL } from "testing/environment.ts";

for (const ending of ["kv", "sqlite"]) {
  Deno.test(`.${ending}: serve answers 503 while its disk has I/O errors, and goes on without a restart [C7]`, async () => {
    await using environment = await openServedEnvironment(
      { PLATFORM_STORE_URL: `platform.${ending}` },
      undefined,
      withoutSizeSignal,
    );
    await outlast(environment, () => failWrites(environment.process.pid));
  });

  Deno.test({
    name: `.${ending}: serve answers 503 while its disk is full, and goes on without a restart [C7]`,
    ignore: !canMount(),
    async fn() {
      const disk = await Deno.makeTempDir({ prefix: "small-disk-" });
      await using environment = await openServedEnvironment(
        { PLATFORM_STORE_URL: `${disk}/platform.${ending}` },
        undefined,
        (command) => onSmallDisk(disk, command),
      );
      await outlast(environment, () => fillDisk(environment.process.pid, disk));
      await Deno.remove(disk);
    },
  });

  Deno.test(`.${ending}: serve waits for the lock of another process, and reads meanwhile`, async () => {
    await using environment = await openServedEnvironment({ PLATFORM_STORE_URL: `platform.${ending}` });
    const lock = lockDatabase(`${environment.fixture.folder}/platform.${ending}`);
    const token = requestToken(environment, environment.tpp);
    assertEquals(await statusOf(environment, "/.well-known/oauth-authorization-server/BANKA"), 200);
    await Promise.race([token, new Promise((resolve) => setTimeout(resolve, 500))]); // too early would prove less
    await lock.mend();
    await good(token, 200);
    assertEquals(eventsOf(environment), []);
  });
}

/** A payment, a token and a read under the fault, sent again as they were when it has been mended. */
async function outlast(environment: ServedEnvironment, begin: () => Promise<Fault>): Promise<void> {
  const flow = await authorised(environment);
  const read = `/BANKA/domestic-payment-consents/v1/${flow.consentId}`;
  const requests = [
    await repeatable(environment, (at) => pay(at, flow)),
    await repeatable(environment, (at) => requestToken(at, at.tpp)),
    await repeatable(environment, (at) => call(at, at.tpp, flow.bound, read)),
  ];
  assertEquals(await statusOf(environment, "/health/ready"), 200);
  const fault = await begin();
  for (const send of requests) await assertUnavailable(await send());
  assertEquals(await statusOf(environment, "/health/ready"), 503);
  assertEquals(await statusOf(environment, "/health/live"), 200);
  assertEquals(await statusOf(environment, "/.well-known/oauth-authorization-server/BANKA"), 200);
  for (const send of requests) await assertUnavailable(await send());
  await fault.mend();
  assertEquals(await Promise.all(requests.map(async (send) => (await send()).status)), [201, 200, 200]);
  while (await statusOf(environment, "/health/ready") !== 200) await new Promise((go) => setTimeout(go, 200));
  await environment.process.logged("store.working");
  assertEquals(eventsOf(environment), ["store.failing", "store.working"]);
}

/** The request that an act would send, to be sent as often as wanted. */
async function repeatable(
  environment: ServedEnvironment,
  act: (environment: ServedEnvironment) => Promise<unknown>,
): Promise<() => Promise<Response>> {
  const caught: [Request, Participant | undefined][] = [];
  const api = (request: Request, as?: Participant): Promise<Response> => {
    caught.push([request, as]);
    return Promise.resolve(new Response());
  };
  await act(Object.assign(Object.create(environment), { api }));
  const [request, as] = caught[0] ?? [];
  if (request === undefined || caught.length > 1) throw new Error(`${caught.length} requests instead of one`);
  return () => environment.api(request.clone(), as);
}

async function assertUnavailable(answer: Response): Promise<void> {
  const text = await answer.text();
  assertEquals([answer.status, answer.headers.get("retry-after")], [503, "5"], text);
  assert(text.includes("UnexpectedError") || text.includes("temporarily_unavailable"), text);
}

async function statusOf(environment: ServedEnvironment, path: string): Promise<number> {
  const answer = await environment.browser(new Request(`${AUTH_URL}${path}`));
  await answer.body?.cancel();
  return answer.status;
}

/** The log events about the store, and every error. */
function eventsOf({ process }: ServedEnvironment): unknown[] {
  return process.lines.filter(({ event, level }) => level === "error" || String(event).startsWith("store."))
    .map(({ event }) => event);
}
