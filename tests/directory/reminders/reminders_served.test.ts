/** The directory as a process of its own: it sends the mails that are due when it starts, with its task's permissions. */
import { assert, assertEquals } from "@std/assert";
import { thirdParty } from "testing/directory_environment.ts";
import { openDirectoryFixture } from "support/directory_process.ts";
import { openSmtpServer } from "support/smtp_server.ts";
import { until } from "support/raw_client.ts";

Deno.test("a directory that starts sends what is due, once, and logs no secret [DRM1, DRM2, DRM4]", async () => {
  await using fixture = await openDirectoryFixture();
  await using server = openSmtpServer();
  const settings = {
    DIRECTORY_ENVIRONMENT: "Sandbox",
    DIRECTORY_SMTP_URL: `smtp://127.0.0.1:${server.port}`,
    DIRECTORY_SMTP_USER: "directory",
    DIRECTORY_SMTP_PASSWORD: "the-secret-of-the-mail-server",
    DIRECTORY_MAIL_FROM: "no-reply@directory.example",
    DIRECTORY_MAIL_ADMINISTRATORS: "administrators@directory.example",
    DIRECTORY_REMINDER_DAYS: "365",
  };
  for (const mails of [0, 1, 1]) {
    const process = await fixture.start(settings);
    await process.ready;
    if (mails === 0) {
      const headers = { authorization: `Bearer ${fixture.token}`, "content-type": "application/json" };
      const body = JSON.stringify(await thirdParty([0, 1]));
      const made = await fetch(`${fixture.adminUrl}/participants`, { method: "POST", headers, body });
      assertEquals([made.status, (await made.text()).length > 0], [201, true]);
    } else await until(() => server.mails.length === mails);
    process.kill("SIGTERM");
    assertEquals((await process.ended).code, 0);
    assert(!JSON.stringify(process.lines).includes(settings.DIRECTORY_SMTP_PASSWORD));
  }
  assertEquals(server.mails.map(({ to }) => to), [["luis@shop.example", "administrators@directory.example"]]);
});
