/**
 * A customer's journey continues on a copy of its database: after a move to another engine as if nothing had happened,
 * after PostgreSQL's point-in-time recovery as after a restored backup.
 */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { storeCommand } from "../../scripts/operators/store/main.ts";
import type { LogLine, Payment } from "testing/answers.ts";
import { authorise, authorised, codeOf, redeem, toBank } from "testing/authorization_flow.ts";
import { BASE_URL, type Environment, openEnvironment } from "testing/environment.ts";
import { type BoundToken, call, clientToken, good, pay, requestToken } from "testing/flows.ts";
import { dpopProof } from "testing/jwts.ts";
import { postgresPrograms } from "testing/postgres_node.ts";
import { type MovingStore, openMovingStore } from "support/moving_store.ts";
import { endHolds } from "support/restored_store.ts";
import { newPostgresDatabase, postgresServer, test } from "support/postgres.ts";

interface Journey extends AsyncDisposable {
  readonly env: Environment;
  readonly store: MovingStore;
  readonly folder: string;
}

async function openJourney(url: (folder: string) => Promise<string> | string): Promise<Journey> {
  const folder = await Deno.makeTempDir();
  const store = await openMovingStore(await url(folder));
  const env = await openEnvironment({ store });
  return {
    env,
    store,
    folder,
    async [Symbol.asyncDispose]() {
      await env[Symbol.asyncDispose]();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

const command = (...args: string[]): Promise<string> =>
  storeCommand(args, { storeUrl: undefined, now: Date.now() });

function statusOfConsent(env: Environment, bound: BoundToken, id: string): Promise<string> {
  const path = `/BANKA/domestic-payment-consents/v1/${id}`;
  return good<Payment>(call(env, env.tpp, bound, path), 200).then(({ Data }) => Data.Status);
}

/** A customer pays, another has authorised, a third is at the bank; then the database is moved. */
async function continuesAfter({ env, store }: Journey, move: () => Promise<string>): Promise<void> {
  const [paid, unpaid, atBank] = [await authorised(env), await authorised(env), await toBank(env)];
  const again = { idempotencyKey: crypto.randomUUID() };
  const first = await good(pay(env, paid, again), 201);
  const own = await clientToken(env, env.tpp);
  const path = `/BANKA/domestic-payments/v1/${first.Data.DomesticPaymentId}`;
  const proof = await dpopProof(env, own.key, {
    method: "GET",
    url: `${BASE_URL}${path}`,
    accessToken: own.token,
  });
  await good(call(env, env.tpp, own, path, { proof }), 200);
  await env.platform.writeTraces();
  const before = await env.snapshot();

  await store.move(env, move);

  const after = await env.snapshot();
  const content = (entries: typeof before): unknown =>
    entries.map(({ key, value }) => [key, ownValue(value)]);
  assertEquals(content(after), content(before));
  assertEquals((await call(env, env.tpp, own, path, { proof })).status, 401, "a proof that was used before");
  assertEquals(await good(pay(env, paid, again), 201), first, "the original response");
  assertEquals((await good(pay(env, unpaid), 201)).Data.ConsentId, unpaid.consentId);
  const code = codeOf(await authorise(env, atBank));
  await good(redeem(env, { consentId: atBank.consentId, code }), 200);
  assertEquals((await redeem(env, { consentId: atBank.consentId, code })).status, 400, "a code is used once");
  assertEquals(await store.list({ prefix: ["order_hold"], limit: 1 }), [], "a move is not a restore");
}

/** A value without the replay records that share its row in a file, and have rows of their own on PostgreSQL. */
function ownValue(value: unknown): unknown {
  const { spent: _spent, ...own } = value as { readonly spent?: unknown };
  return own;
}

test("a journey goes on after its database was moved from a Deno KV file to PostgreSQL, and to a SQLite file", async () => {
  await using journey = await openJourney((folder) => `${folder}/platform.kv`);
  const [file, back] = [`${journey.folder}/platform.kv`, `${journey.folder}/back.sqlite`];
  const database = await newPostgresDatabase();
  await continuesAfter(journey, async () => {
    await command("copy", "--from", file, "--to", database);
    return database;
  });
  await continuesAfter(journey, async () => {
    await command("copy", "--from", database, "--to", back);
    return back;
  });
});

test("PostgreSQL after a recovery: marked, it begins a new epoch as a restored file does [G9]", async () => {
  const original = await newPostgresDatabase();
  await using journey = await openJourney(() => original);
  const { env, store, folder } = journey;
  const [kept, unpaid] = [await authorised(env), await authorised(env)];
  const first = await good(pay(env, kept), 201);
  const lost = await authorised(env);
  await program("pg_dump", ["-Fc", "-f", `${folder}/dump`, uri(original)]);
  const takenAt = new Date(env.now).toISOString();
  const afterwards = await good(pay(env, lost), 201);

  await store.move(env, async () => {
    const recovered = await postgresServer().newDatabase();
    await program("pg_restore", ["--exit-on-error", "-d", uri(recovered), `${folder}/dump`]);
    const said = await command("restored", "--at", recovered, "--taken-at", takenAt);
    assertStringIncludes(said, "The platform begins a new epoch when it starts.");
    return recovered;
  });

  assertEquals((await pay(env, lost)).status, 401, "tokens of before are void");
  assertEquals((await requestToken(env, env.tpp)).status, 503, "held until it is reconciled");
  const restored = env.logged.map((line) => JSON.parse(line) as LogLine).find(({ event }) =>
    event === "store.restored"
  );
  assertEquals([restored?.banksHeld, restored?.consentsVoided], [2, 2]);
  await endHolds(env);
  const own = await clientToken(env, env.tpp);
  const statuses = [kept, unpaid, lost].map(({ consentId }) => statusOfConsent(env, own, consentId));
  assertEquals(await Promise.all(statuses), ["Consumed", "Rejected", "Rejected"]);
  const read = (payment: Payment): Promise<Response> =>
    call(env, env.tpp, own, `/BANKA/domestic-payments/v1/${payment.Data.DomesticPaymentId}`);
  assertEquals([(await read(first)).status, (await read(afterwards)).status], [200, 400]);
});

test("PostgreSQL under another address is rejected until it is assigned", async () => {
  const database = await newPostgresDatabase();
  await using journey = await openJourney(() => database);
  await journey.env.platform.stop();
  await journey.store.close();
  await command("assign", "--at", database, "--issuer", "https://auth.other.example");
  const opening = openMovingStore(database).then(() => "", (error: Error) => error.message);
  assertStringIncludes(await opening, "belongs to the platform at https://auth.other.example");
  await journey.store.move(journey.env, async () => {
    await command("assign", "--at", database, "--issuer", "https://auth.platform.example");
    return database;
  });
});

async function program(name: string, args: readonly string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(`${postgresPrograms()}/${name}`, { args: [...args] })
    .output();
  assertEquals([success, new TextDecoder().decode(stderr)], [true, ""]);
}

/** The URL as PostgreSQL's programs take it. */
function uri(url: string): string {
  return url.replace(/\?.*/, "");
}
