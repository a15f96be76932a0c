/** The console's page of event pushes shows each subscriber, and operators have events pushed again. */
import { assert, assertEquals } from "@std/assert";
import { openConsole } from "testing/console_browser.ts";
import { authorised } from "testing/authorization_flow.ts";
import { acknowledges, away, openReceiver, pushedLater, rejects } from "../../events/receiver.ts";
import { waiting } from "../../events/poll.ts";
import { CALLBACK } from "../../events/subscribing.ts";

Deno.test("events that were given up are pushed again in the console [OP15, EVT16]", async () => {
  await using env = await openReceiver(rejects());
  await authorised(env);
  for (let pushes = 0; pushes < 12; pushes++) await pushedLater(env, 700_000);
  const browser = await openConsole(env, "viewer");
  const { html: seen } = await browser.get("/console/events");
  assert(seen.includes(CALLBACK) && seen.includes("Has rejected events") && seen.includes("err invalid_key"));
  const redrive = `/console/event-deliveries/${env.tpp.clientId}/BANKA/redrive`;
  assert(!seen.includes(redrive), "a viewer changes nothing");
  assertEquals((await browser.get(redrive)).status, 403);

  await browser.signIn("operator");
  assert((await browser.get("/console/events")).html.includes(redrive));
  env.answer = acknowledges;
  const done = await browser.submit(redrive);
  assertEquals([done.status, done.headers.get("location")], [
    303,
    "/console/events?done=action.redriveEvents",
  ]);
  await pushedLater(env, 2000);
  assertEquals(await waiting(env), []);
  const { html: after } = await browser.get("/console/events?done=action.redriveEvents");
  assert(after.includes("The events are due again.") && !after.includes(redrive), after);
});

Deno.test("a receiver that does not answer is shown in the console [EVT16]", async () => {
  await using env = await openReceiver(away);
  const browser = await openConsole(env, "viewer");
  await authorised(env);
  assert((await browser.get("/console/events")).html.includes("Works"));
  await env.platform.deliverEvents();
  assert((await browser.get("/console/events")).html.includes("Fails"));
  for (let count = 0; count < 5; count++) await authorised(env);
  await env.platform.deliverEvents();
  assert((await browser.get("/console/events")).html.includes("Does not answer"));
});
