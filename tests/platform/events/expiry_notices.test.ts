/** A TPP is told of the ends of its statement, keys and certificates, once each (contract EVT17). */
import { assertEquals } from "@std/assert";
import type { NoticeEvent } from "../../../src/platform/events/event.ts";
import { firstOf } from "testing/answers.ts";
import { AUTH_URL, DIRECTORY_URL, type Environment } from "testing/environment.ts";
import { good } from "testing/flows.ts";
import type { Participant } from "testing/participants.ts";
import { addKey, revokeKey, setOrganisation } from "support/directory_network.ts";
import { anotherProcess } from "support/processes.ts";
import { test } from "support/environment_test.ts";
import { beforeCommit } from "./interrupted.ts";
import { poll, type Polled, waiting } from "./poll.ts";

const DAY = 86_400_000;
const STATEMENT_DAYS = 365;
const CERTIFICATE_DAYS = 397;

/** Moves the clock to so many days before the end of what was issued at the start, and sweeps all clients. */
async function sweepBefore(env: Environment, start: number, end: number, days: number): Promise<void> {
  env.now = start + (end - days) * DAY;
  await env.platform.followDirectory();
  await env.platform.notifyExpiries();
}

function said(events: readonly Polled[]): readonly string[] {
  return events.map(({ claims }) => {
    const own = Object.entries(claims.events).find(([name]) => name.startsWith(AUTH_URL));
    return `${own?.[0].split("/").at(-1)} ${own?.[1].use ?? "-"} ${own?.[1].within_days}`;
  }).toSorted();
}

async function acknowledge(env: Environment, bank?: string): Promise<readonly Polled[]> {
  const events = await waiting(env, bank === undefined ? {} : { bank });
  const ack = events.map(({ jti }) => jti);
  await good(
    poll(env, { ack, returnImmediately: true, maxEvents: 0 }, bank === undefined ? {} : { bank }),
    200,
  );
  return events;
}

test("a TPP is told 30, 7 and 1 days before its statement, its keys and its certificates end [EVT17]", async ({ env }) => {
  const start = env.now;
  await sweepBefore(env, start, STATEMENT_DAYS, 31);
  assertEquals(await waiting(env), []);
  const seen: string[] = [];
  for (const end of [STATEMENT_DAYS, CERTIFICATE_DAYS]) {
    for (const days of [30, 29, 7, 6, 1, 0.5]) {
      await sweepBefore(env, start, end, days);
      seen.push(...said(await acknowledge(env)).map((line) => `${days}: ${line}`));
    }
  }
  assertEquals(seen, [
    "30: software-statement-expiring - 30",
    "7: software-statement-expiring - 7",
    "1: software-statement-expiring - 1",
    "30: certificate-expiring tls 30",
    "30: key-expiring sig 30",
    "7: certificate-expiring tls 7",
    "7: key-expiring sig 7",
    "1: certificate-expiring tls 1",
    "1: key-expiring sig 1",
  ]);
});

test("the notice names the key and its end, comes at every bank, and is finished for all by one acknowledgement [EVT17, EVT2]", async ({ env }) => {
  const start = env.now;
  await sweepBefore(env, start, STATEMENT_DAYS, 5);
  const [statement] = await waiting(env);
  assertEquals(
    [
      statement?.claims.events[`${AUTH_URL}/events/software-statement-expiring`]?.within_days,
      statement?.claims.sub,
    ],
    [7, `${DIRECTORY_URL}/participants/${env.tpp.orgId}/statement`],
  );
  await sweepBefore(env, start, CERTIFICATE_DAYS, 30);
  const [here, there] = [await waiting(env), await waiting(env, { bank: "BANKB" })];
  const key = here.find(({ what }) => what === "key-expiring expiring");
  const link = `${DIRECTORY_URL}/participants/${env.tpp.orgId}/jwks`;
  const ends = new Date(start + CERTIFICATE_DAYS * DAY).toISOString().replace(/\.\d+Z$/, "+00:00");
  const { iat, jti, txn, ...claims } = firstOf(here.filter((one) => one === key)).claims;
  assertEquals([iat, jti, txn, (jti?.length ?? 999) <= 128], [env.now / 1000, key?.jti, key?.resource, true]);
  assertEquals<object>(claims, {
    iss: `${AUTH_URL}/BANKA`,
    aud: env.tpp.clientId,
    sub: link,
    toe: env.now / 1000,
    events: {
      "urn:uk:org:openbanking:events:resource-update": {
        subject: {
          subject_type: "http://openbanking.org.uk/rid_http://openbanking.org.uk/rty",
          "http://openbanking.org.uk/rid": key?.resource,
          "http://openbanking.org.uk/rty": "key",
          "http://openbanking.org.uk/rlk": [{ version: "v1", link }],
        },
      },
      [`${AUTH_URL}/events/key-expiring`]: {
        status: "expiring",
        status_at: new Date(env.now).toISOString().replace(/\.\d+Z$/, "+00:00"),
        expires_at: ends,
        within_days: 30,
        kid: env.tpp.signing.kid,
        use: "sig",
      },
    },
  });
  assertEquals(there.map((event) => event.jti), here.map((event) => event.jti));
  const atBankB = there.find((event) => event.jti === jti)?.claims;
  assertEquals(atBankB, { ...key?.claims, iss: `${AUTH_URL}/BANKB` });
  await acknowledge(env, "BANKB");
  assertEquals(await waiting(env), []);
  assertEquals(said(await waiting(env, { by: env.otherTpp })), said(here), "another TPP has its own");
});

test("processes that sweep at once, a restart and an acknowledgement make no second notice; a lost commit loses none [EVT17]", async ({ env }) => {
  const start = env.now;
  env.now = start + (CERTIFICATE_DAYS - 30) * DAY;
  const other = await anotherProcess(env);
  const revive = beforeCommit(env.store, "notified_expiries", () => {
    throw new Error("the process is killed");
  });
  await env.platform.notifyExpiries();
  revive();
  assertEquals(await env.store.list({ prefix: ["event_notice"], limit: 99 }), [], "neither notice nor mark");
  await env.restart();
  const mend = beforeCommit(env.store, "notified_expiries", async () => {
    mend();
    await other.notifyExpiries();
  });
  await env.platform.notifyExpiries();
  const events = await acknowledge(env);
  assertEquals(said(events), ["certificate-expiring tls 30", "key-expiring sig 30"]);
  assertEquals((await waiting(env, { by: env.otherTpp })).length, 2);
  for (let restarts = 0; restarts < 2; restarts++) {
    await env.restart();
    await env.platform.notifyExpiries();
  }
  env.now += 8 * DAY; // the event itself is deleted
  await env.platform.notifyExpiries();
  assertEquals(await waiting(env), []);
});

test("a revoked key and a TPP that is not active have no notice; a new key has its own [EVT17]", async ({ env }) => {
  const start = env.now;
  env.now += 100 * DAY;
  const added = await addKey(env, env.tpp, "signing", 9);
  await revokeKey(env, env.tpp, env.tpp.signing);
  await setOrganisation(env, env.otherTpp, "Suspended");
  await sweepBefore(env, start, STATEMENT_DAYS, 30);
  const of = async ({ clientId }: Participant): Promise<NoticeEvent[]> =>
    (await env.store.list<NoticeEvent>({ prefix: ["event_notice", clientId], limit: 99 })).map(({ value }) =>
      value
    );
  assertEquals((await of(env.tpp)).map(({ type }) => type), ["software-statement-expiring"]);
  assertEquals(await of(env.otherTpp), []);
  await sweepBefore(env, start, CERTIFICATE_DAYS, 30);
  await sweepBefore(env, start, CERTIFICATE_DAYS + 100, 30);
  const kids = (await of(env.tpp)).map(({ details }) => details?.kid);
  assertEquals(kids.toSorted(), [added.kid, env.tpp.transport.kid, undefined].toSorted());
});

test("a sweep that finds no fresh status list goes on as soon as there is one, and the next one is an hour later [EVT17]", async ({ env }) => {
  const { network } = env;
  env.now += DAY;
  env.network = () => Promise.reject(new TypeError("the directory is away"));
  assertEquals(await env.platform.notifyExpiries(), 0);
  env.network = network;
  env.now += 60_000;
  await env.platform.followDirectory();
  assertEquals(await env.platform.notifyExpiries(), 4);
  env.now += 3_599_999;
  await env.platform.followDirectory();
  assertEquals(await env.platform.notifyExpiries(), 0);
  env.now += 1;
  assertEquals(await env.platform.notifyExpiries(), 4);
});
