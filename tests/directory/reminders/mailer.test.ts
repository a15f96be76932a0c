/** Mails on the wire: TLS, servers that hang, and the permissions that sending needs. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { openMailer, type SmtpSettings } from "../../../src/directory/reminders/mailer.ts";
import { serverIdentity, webAuthority } from "testing/web_authority.ts";
import { openSmtpServer } from "support/smtp_server.ts";

const ADMINISTRATORS = "administrators@directory.example";
const FROM = "no-reply@directory.example";
const MAIL = {
  to: ["luis@shop.example"],
  cc: [ADMINISTRATORS],
  subject: "SHOP: expires within 7 days",
  text: "Pronto:\n.\nfin",
  messageId: "<a@directory.example>",
};

const sender = (
  smtp: Partial<SmtpSettings> & { port: number },
  deadlineMs = 8000,
): ReturnType<typeof openMailer> =>
  openMailer({ host: "localhost", security: "starttls", ...smtp }, {
    from: FROM,
    name: "directory.example",
    timeoutMs: deadlineMs / 2,
    deadlineMs,
  });

Deno.test("mails go out with TLS or STARTTLS to a server whose certificate is right, and to no other [DRM4]", async () => {
  const [identity, { certificatePem: ca }] = [await serverIdentity(["localhost"]), await webAuthority()];
  let verdict = "235 welcome";
  const answer = (command: string): string | undefined =>
    command.startsWith("EHLO")
      ? "250-tls\r\n250 AUTH PLAIN"
      : command.startsWith("AUTH")
      ? verdict
      : undefined;
  await using tls = openSmtpServer({ identity, answer });
  await using upgraded = openSmtpServer({ identity, isUpgraded: true });
  await using plain = openSmtpServer();
  await using wrongName = openSmtpServer({
    identity: await serverIdentity(["mail.example"]),
    isUpgraded: true,
  });
  const login = { user: "directory", password: "a secret of the directory" };
  assertEquals((await sender({ port: tls.port, security: "tls", ca, login })(MAIL)).outcome, "sent");
  const sent = btoa(`\0${login.user}\0${login.password}`);
  assertEquals(tls.commands.find((command) => command.startsWith("AUTH")), `AUTH PLAIN ${sent}`);
  assertEquals((await sender({ port: upgraded.port, ca })(MAIL)).outcome, "sent");
  for (const { mails } of [tls, upgraded]) {
    assertStringIncludes(mails[0]?.source ?? "", "Pronto:\r\n.\r\nfin");
  }
  verdict = `535 not you: ${login.password}`;
  const unknown = await sender({ port: tls.port, security: "tls", ca, login })(MAIL);
  assertEquals(unknown, { outcome: "unreachable", why: "EAUTH 535" });
  const rejected = [
    await sender({ port: tls.port, security: "tls" })(MAIL), // an unknown authority
    await sender({ port: upgraded.port })(MAIL),
    await sender({ port: wrongName.port, ca })(MAIL),
    await sender({ port: plain.port, ca, login })(MAIL), // STARTTLS is not offered
  ];
  assertEquals(rejected.map(({ outcome }) => outcome), Array(4).fill("unreachable"));
  assertEquals([wrongName.mails.length, plain.mails.length, tls.mails.length, upgraded.mails.length], [
    0,
    0,
    1,
    1,
  ]);
  assert(!plain.commands.some((command) => /AUTH|MAIL/.test(command)), "nothing is said in the clear");
  assert(!JSON.stringify(rejected).includes(login.password));
});

Deno.test("a mail server is named by an IP address that its certificate has, and by no other [DRM4]", async () => {
  const { certificatePem: ca } = await webAuthority();
  for (const security of ["tls", "starttls"] as const) {
    for (const [name, outcome] of [["127.0.0.1", "sent"], ["localhost", "unreachable"]] as const) {
      const identity = await serverIdentity([name]);
      await using server = openSmtpServer({ identity, isUpgraded: security === "starttls" });
      const sent = await sender({ host: "127.0.0.1", port: server.port, security, ca })(MAIL);
      assertEquals(sent.outcome, outcome, `${security} ${name}`);
    }
  }
});

Deno.test("a server that hangs or is not there is given up after a bounded time [DRM3]", async () => {
  for (const hanging of ["CONNECT", "EHLO", "DATA."]) {
    const hangs = Promise.withResolvers<string>();
    await using server = openSmtpServer({
      answer: (command) => command.startsWith(hanging) ? hangs.promise : undefined,
    });
    const began = performance.now();
    const { outcome } = await sender({ port: server.port, security: "none" }, 600)(MAIL);
    assertEquals(outcome, "unreachable", hanging);
    assert(performance.now() - began < 2000, hanging);
    hangs.resolve("421 at last");
  }
  const closed = openSmtpServer();
  await closed[Symbol.asyncDispose]();
  assertEquals((await sender({ port: closed.port, security: "none" })(MAIL)).outcome, "unreachable");
});

Deno.test("a process that may use the mail server alone sends a mail [DRM4, F7]", async () => {
  await using server = openSmtpServer();
  const mailer = new URL("../../../src/directory/reminders/mailer.ts", import.meta.url);
  const code = `
    const { openMailer } = await import(${JSON.stringify(mailer.href)});
    const smtp = { host: "localhost", port: ${server.port}, security: "none" };
    const send = openMailer(smtp, { from: "${FROM}", name: "directory.example" });
    console.log(JSON.stringify(await send(${JSON.stringify(MAIL)})));`;
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "--no-check", `--allow-net=localhost:${server.port}`, "-"],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(code));
  await writer.close();
  const { stdout } = await child.output();
  assertEquals(new TextDecoder().decode(stdout), '{"outcome":"sent","rejectedAddresses":0}\n');
});
