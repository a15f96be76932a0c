/** Mails about what ends: to whom, when, once, and what happens if the mail server does not take them. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { openLog } from "../../../src/base/observability/log.ts";
import { StoreFailure } from "../../../src/base/store/store.ts";
import type { DirectoryParts } from "../../../src/directory/process/compose_directory.ts";
import { type LogLine, present } from "testing/answers.ts";
import {
  contacts,
  type DirectoryEnvironment,
  openDirectoryEnvironment,
  thirdParty,
} from "testing/directory_environment.ts";
import { openSmtpServer, type SmtpServer, type SmtpServerOptions } from "support/smtp_server.ts";
import { openCertified, reportOf } from "../certification/certified.ts";

const DAY = 86_400_000;
const ADMINISTRATORS = "administrators@directory.example";
const FROM = "no-reply@directory.example";

interface Reminding extends AsyncDisposable {
  readonly env: DirectoryEnvironment;
  readonly server: SmtpServer;
  readonly logged: LogLine[];
}

const mailTo = (port: number): DirectoryParts["mail"] => ({
  smtp: { host: "127.0.0.1", port, security: "none" },
  from: FROM,
  administrators: ADMINISTRATORS,
  days: [30, 7, 1],
});

/** A directory with SHOP, whose certificates end after 397 and whose statement ends after 365 days. */
async function openReminding(options: SmtpServerOptions = {}): Promise<Reminding> {
  const server = openSmtpServer(options);
  const logged: LogLine[] = [];
  const log = openLog({
    clock: () => 0,
    sink: (line) => void logged.push(JSON.parse(line) as LogLine),
    level: "info",
  });
  const env = await openDirectoryEnvironment({ mail: mailTo(server.port), log });
  await env.admin("POST", "/participants", await thirdParty([0, 1]));
  return {
    env,
    server,
    logged,
    async [Symbol.asyncDispose]() {
      await env[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** Moves to so many days before the end of the statement, and sends what is due. */
async function daysBefore({ env }: Reminding, days: number): Promise<void> {
  const { software } = (await env.admin("GET", "/participants/SHOP")).body;
  env.now = Date.parse(software.statement_issued_at ?? "") + (365 - days) * DAY;
  await env.remind();
}

const idOf = ({ source }: { source: string }): string =>
  /^Message-ID: (.+)$/im.exec(source)?.[1]?.trim() ?? "";

Deno.test("contacts and administrators get a mail 30, 7 and 1 days before something ends, each once [DRM1, DRM2, E9]", async () => {
  await using all = await openReminding();
  const { server } = all;
  await daysBefore(all, 31);
  assertEquals(server.mails, []);
  for (
    const [days, mails] of [[30, 1], [29, 1], [8, 1], [7, 2], [2, 2], [1, 3], [0.5, 3], [0, 3], [
      -1,
      3,
    ]] as const
  ) {
    await daysBefore(all, days);
    await all.env.remind();
    assertEquals(server.mails.length, mails, `${days} days`);
  }
  const [mail] = server.mails;
  assertEquals([mail?.from, mail?.to], [FROM, ["luis@shop.example", ADMINISTRATORS]]);
  for (
    const words of [
      "Subject: [Sandbox] SHOP: expires within 30 days",
      "The newest software statement",
      "/console/own",
    ]
  ) {
    assertStringIncludes(mail?.source ?? "", words);
  }
  assertEquals(new Set(server.mails.map(idOf)).size, 3);
  assertMatch(idOf(mail ?? { source: "" }), /^<[\w-]{43}@directory\.example>$/);
});

Deno.test("certificates are reminded of by kid, and what is revoked, renewed or of an inactive participant is not [DRM1]", async () => {
  await using all = await openReminding();
  const { env, server } = all;
  env.now += 300 * DAY;
  await env.admin("POST", "/participants/SHOP/statement");
  const { keys: [first, second] } = (await env.admin("GET", "/participants/SHOP")).body;
  await env.admin("POST", `/participants/SHOP/keys/${first?.kid}/revoke`, { reason: "lost" });
  env.now = Date.parse(second?.not_after ?? "") - 5 * DAY;
  await env.admin("PUT", "/participants/SHOP/software/status", { status: "Inactive", reason: "audit" });
  await env.remind();
  assertEquals(server.mails, []);
  await env.admin("PUT", "/participants/SHOP/software/status", { status: "Active", reason: "audit" });
  await env.remind();
  assertEquals(server.mails.length, 1, "and not for 30 days as well");
  const text = server.mails[0]?.source.replaceAll("=\r\n", "") ?? "";
  assertStringIncludes(
    text,
    `The certificate of the ${second?.use === "sig" ? "signing" : "transport"} key ${second?.kid}`,
  );
  assertStringIncludes(text, "within 7 days");
});

Deno.test("the certification that a statement needs is reminded of [DRM1]", async () => {
  await using server = openSmtpServer();
  const mail = mailTo(server.port);
  const { env: opened, onboarded: { software_client_id } } = await openCertified({ requiredDays: 90 }, {
    mail,
  });
  await using env = opened;
  const report = await reportOf(env, software_client_id);
  await env.admin("POST", "/participants/SHOP/certifications", { report });
  env.now += 61 * DAY;
  await env.remind();
  assertEquals(server.mails.length, 1);
  assertStringIncludes(server.mails[0]?.source ?? "", "The certification (");
});

Deno.test("passes at the same time send a mail once, and a mail whose mark was lost is sent again with its id [DRM2]", async () => {
  await using all = await openReminding();
  const { env, server } = all;
  env.now += 350 * DAY;
  await Promise.all([env.remind(), env.remind(), env.remind()]);
  assertEquals(server.mails.length, 1);
  env.now += 10 * DAY;
  const { commit } = env.store;
  let commits = 0;
  env.store.commit = (staged) => ++commits > 1 ? Promise.reject(new StoreFailure("killed")) : commit(staged);
  await env.remind().catch(() => {});
  env.store.commit = commit;
  assertEquals([server.mails.length, commits], [2, 2], "sent, and not marked");
  await env.remind();
  assertEquals(server.mails.length, 2, "claimed by the process that ended");
  env.now += 5 * 60_000;
  await env.remind();
  assertEquals(server.mails.length, 3);
  assertEquals(idOf(server.mails[1] ?? { source: "" }), idOf(server.mails[2] ?? { source: "" }));
  await env.remind();
  assertEquals(server.mails.length, 3);
});

Deno.test("a mail that the server rejects is given up after eight passes, and the next date has its own [DRM3]", async () => {
  let isOpen = false;
  const answer = (command: string): string | undefined =>
    command.startsWith("RCPT") && !isOpen ? "550 nobody here: luis@shop.example" : undefined;
  await using all = await openReminding({ answer });
  const { env, server, logged } = all;
  env.now += 350 * DAY;
  for (let pass = 0; pass < 10; pass++) await env.remind();
  const failures = logged.filter(({ event }) => event === "directory.reminder_not_sent");
  assertEquals(failures.map(({ state }) => state), [...Array(7).fill("waiting"), "given up"]);
  assertEquals(failures[0]?.why, "EENVELOPE 550");
  assert(!JSON.stringify(logged).includes("luis@"), "no address is logged");
  isOpen = true;
  env.now += 9 * DAY;
  await env.remind();
  assertEquals(server.mails.length, 1);
});

Deno.test("one address that the server rejects does not keep the mail from the others [DRM3]", async () => {
  const answer = (command: string): string | undefined =>
    command.startsWith("RCPT TO:<luis") ? "550 nobody here" : undefined;
  await using all = await openReminding({ answer });
  await daysBefore(all, 20);
  assertEquals(all.server.mails.map(({ to }) => to), [[ADMINISTRATORS]]);
  const sent = all.logged.find(({ event }) => event === "directory.reminder_sent");
  assertEquals(sent?.rejectedAddresses, 1);
});

Deno.test("a server that cannot be reached, rejects the login or ends the connection ends the pass, and costs nothing [DRM3]", async () => {
  let answer: SmtpServerOptions["answer"] = () => "421 too busy";
  await using all = await openReminding({ answer: (command) => answer?.(command) });
  const { env, server, logged } = all;
  await env.admin("POST", "/participants", await thirdParty([2, 3], { org_id: "OTHER" }));
  env.now += 350 * DAY;
  for (let pass = 0; pass < 9; pass++) await env.remind();
  assertEquals(logged.filter(({ event }) => event === "directory.reminder_not_sent").length, 9, "one a pass");
  answer = (command) => {
    if (command.startsWith("DATA")) throw new Error("the connection ends");
    return undefined;
  };
  await env.remind();
  assertEquals([server.mails.length, logged.at(-1)?.state], [0, "waiting"]);
  answer = undefined;
  await env.remind();
  assertEquals(server.mails.length, 2);
});

Deno.test("a mail that the server postpones, or on which it hangs up, keeps no other participant from theirs [DRM3]", async () => {
  for (const answer of ["452 mailbox full", "421 closing"]) {
    let isPostponed = true;
    let isAlphas = false;
    await using all = await openReminding({
      answer: (command) => {
        if (command.startsWith("MAIL")) isAlphas = false;
        if (command.includes("@alpha.example")) isAlphas = true;
        return isPostponed && isAlphas && command.startsWith("DATA") ? answer : undefined;
      },
    });
    const { env, server, logged } = all;
    const alphas = contacts().map((contact) => ({ ...contact, email: "ana@alpha.example" }));
    await env.admin("POST", "/participants", await thirdParty([2, 3], { org_id: "ALPHA", contacts: alphas }));
    env.now += 350 * DAY;
    for (let pass = 0; pass < 10; pass++) await env.remind();
    const left = logged.filter(({ event }) => event === "directory.reminder_not_sent");
    assertEquals([server.mails.length, left.length > 5, left.every(({ state }) => state === "waiting")], [
      1,
      true,
      true,
    ], answer);
    isPostponed = false;
    await env.remind();
    assertEquals(server.mails.length, 2, answer);
  }
});

Deno.test("a restored directory sends no mail until an administrator confirms [DRM2]", async () => {
  await using all = await openReminding();
  const { env, server } = all;
  const write = { kind: "set", key: ["store_copy"], value: { takenAt: env.now } } as const;
  await env.store.commit({ checks: [], writes: [write] });
  await using restored = await openDirectoryEnvironment({
    store: env.store,
    clock: () => env.now,
    mail: mailTo(server.port),
  });
  env.now += 350 * DAY;
  await restored.remind();
  assertEquals(server.mails, []);
  await using other = await openDirectoryEnvironment({
    store: env.store,
    clock: () => env.now,
    mail: mailTo(server.port),
  });
  await restored.admin("POST", "/restored/confirm");
  assertEquals((await other.admin("GET", "/restored")).body, { restored: false }, "another process");
  await other.remind();
  assertEquals(server.mails.length, 1);
});

Deno.test("no participant's text becomes a header or a receiver of a mail [DRM4]", async () => {
  await using all = await openReminding();
  const { env, server } = all;
  const key = ["directory", "participant", "shop"];
  const { value } = present(await env.store.get<{ readonly contacts: object[] }>(key) ?? undefined);
  const bad = "luis@shop.example\r\nBcc: evil@example.com";
  const orgName = "Shop\r\nBcc: evil@example.com\r\n\r\n.\r\nQUIT";
  const contacts = [
    { ...value.contacts[0], type: "technical", email: bad },
    { ...value.contacts[0], type: "technical", email: "evil@example.com>, <x@example.com" },
  ];
  await env.store.commit({
    checks: [],
    writes: [{ kind: "set", key, value: { ...value, orgName, contacts } }],
  });
  await daysBefore(all, 20);
  const [mail] = server.mails;
  assertEquals(mail?.to, [ADMINISTRATORS]);
  const [headers = "", text = ""] = [mail?.source.slice(0, mail.source.indexOf("\r\n\r\n")), mail?.source];
  assert(!/evil/i.test(headers), headers);
  assertStringIncludes(text, "evil@example.com");
  assertEquals(
    (await env.admin("POST", "/participants", {
      ...await thirdParty([4, 5], { org_id: "EVIL" }),
      contacts,
    })).status,
    400,
  );
});

Deno.test("contacts get a mail about a new certificate, statement and login, once, also while suspended [DRM5]", async () => {
  await using all = await openReminding();
  const { env, server } = all;
  await env.remind();
  assertEquals(server.mails, [], "the onboarding's own keys and statement are no news");
  await env.admin("POST", "/participants/SHOP/logins", { name: "luis" });
  await env.admin("POST", "/participants/SHOP/statement");
  const { csrs } = await thirdParty([2, 3]) as { readonly csrs: unknown };
  assertEquals((await env.admin("POST", "/participants/SHOP/certificates", { csrs })).status, 201);
  await env.admin("PUT", "/participants/SHOP/status", { status: "Suspended", reason: "audit" });
  await env.remind();
  await env.remind();
  const texts = server.mails.map(({ source }) => source.replaceAll(/=\r?\n/g, ""));
  assertEquals(texts.length, 3);
  for (const [index, words] of ["A login for a person", "A software statement", "A certificate"].entries()) {
    assertStringIncludes(texts[index] ?? "", `${words} was issued for`);
    assertStringIncludes(texts[index] ?? "", "by ana.");
    assertStringIncludes(texts[index] ?? "", "Subject: [Sandbox] SHOP: something was issued");
  }
  assertEquals(server.mails.map(({ to }) => to), Array(3).fill(["luis@shop.example", ADMINISTRATORS]));
  assertEquals(new Set(server.mails.map(idOf)).size, 3);
});

Deno.test("an issue is told of behind more than two hundred other changes [DRM5]", async () => {
  await using all = await openReminding();
  const { env, server } = all;
  await env.remind();
  const before = server.mails.length;
  await env.admin("POST", "/participants/SHOP/logins", { name: "eve" });
  for (let change = 0; change < 202; change++) {
    const status = change % 2 === 0 ? "Inactive" : "Active";
    await env.admin("PUT", "/participants/SHOP/software/status", { status, reason: "audit" });
  }
  await env.remind();
  assertEquals(server.mails.length, before + 1);
});

Deno.test("a mail about what was issued is sent when the mail server is back, and not after a week [DRM5]", async () => {
  for (const [days, mails] of [[6.9, 1], [7, 0]] as const) {
    await using all = await openReminding();
    const { env, server } = all;
    await env.admin("POST", "/participants/SHOP/logins", { name: "luis" });
    env.now += days * DAY;
    await env.remind();
    assertEquals(server.mails.length, mails, `${days} days`);
  }
});
