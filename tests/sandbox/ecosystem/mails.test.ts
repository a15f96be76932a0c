/** The mails of the sandbox's directory: received on loopback, bounded, and shown as text. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { openMailer } from "../../../src/directory/reminders/mailer.ts";
import { openMailReceiver, withMails } from "../../../src/sandbox/ecosystem/mail_receiver.ts";

const MAIL = {
  to: ["luis@shop.example"],
  cc: ["administrators@sandbox.example"],
  subject: "[Sandbox] SHOP: expires within 7 days",
  text: "<b>bold</b>",
  messageId: "<a@localhost>",
};

Deno.test("the sandbox shows its newest 50 mails, and everything else is the directory's [F1, DRM1]", async () => {
  const receiver = openMailReceiver();
  const send = openMailer({ host: "127.0.0.1", port: receiver.port, security: "none" }, {
    from: "directory@sandbox.example",
    name: "localhost",
  });
  const handle = withMails(receiver, () => new Response("the directory's"));
  const shown = async (method = "GET", path = "/sandbox/mails"): Promise<Response> =>
    await handle(new Request(`http://localhost:8442${path}`, { method }));
  try {
    assertStringIncludes(await (await shown()).text(), "No mail was sent");
    assertEquals((await send(MAIL)).outcome, "sent");
    const page = await shown();
    assertEquals(page.headers.get("content-type"), "text/plain; charset=utf-8");
    const text = await page.text();
    for (
      const words of ["To: luis@shop.example, administrators@sandbox.example", MAIL.subject, "<b>bold</b>"]
    ) {
      assertStringIncludes(text, words);
    }
    assertEquals(await (await shown("POST")).text(), "the directory's");
    assertEquals(await (await shown("GET", "/status")).text(), "the directory's");
    for (let count = 0; count < 50; count++) await send({ ...MAIL, text: `mail ${count}.` });
    assertEquals(receiver.mails.length, 50);
    assert(!(await (await shown()).text()).includes("bold"), "the oldest has left");
    assertEquals((await send({ ...MAIL, text: "x ".repeat(40_000) })).outcome, "unreachable", "too large");
    assertEquals((await send(MAIL)).outcome, "sent", "and the next one is taken");
  } finally {
    receiver.stop();
  }
});
