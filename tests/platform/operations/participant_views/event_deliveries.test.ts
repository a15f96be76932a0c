/** A TPP's people see how the pushes to its software stand. Those of other organisations do not. */
import { assert, assertEquals } from "@std/assert";
import type { EventDeliveries } from "testing/operation_answers.ts";
import { consoleOf } from "testing/console_browser.ts";
import { authorised } from "testing/authorization_flow.ts";
import { good } from "testing/flows.ts";
import { OPERATIONS_URL } from "testing/operators.ts";
import { personOf, testPeople } from "testing/participants_people.ts";
import { openReceiver, pushedLater, rejects } from "../../events/receiver.ts";
import { CALLBACK, OTHER_CALLBACK, subscribed } from "../../events/subscribing.ts";

Deno.test("people of a TPP see the pushes to its software, and no other organisation does [OWN6, OWN2]", async () => {
  await using env = await openReceiver(rejects(), { operators: await testPeople() });
  await subscribed(env, { by: env.otherTpp, callback: OTHER_CALLBACK });
  await authorised(env);
  await pushedLater(env, 1000);
  const seenBy = async (orgId: string): Promise<EventDeliveries["Data"]["EventDelivery"]> => {
    const request = new Request(`${OPERATIONS_URL}/operations/own/event-deliveries`, {
      headers: personOf(orgId),
    });
    return (await good<EventDeliveries>(env.platform.operations.fetch(request), 200)).Data.EventDelivery;
  };
  const [own, ...more] = await seenBy(env.tpp.orgId);
  assertEquals([own?.ClientId, own?.BankId, own?.CallbackUrl], [env.tpp.clientId, "BANKA", CALLBACK]);
  assertEquals([own?.Waiting, own?.Dead, more], [1, 0, []]);
  assert(own?.LastFailure?.startsWith("status 400, err invalid_key"), own?.LastFailure);
  const others = await seenBy(env.otherTpp.orgId);
  assertEquals(others.map(({ ClientId, Waiting }) => [ClientId, Waiting]), [[env.otherTpp.clientId, 0]]);
  assertEquals([await seenBy("BANKA"), await seenBy("BANKB")], [[], []]);

  const browser = consoleOf(env);
  const token = personOf(env.tpp.orgId).authorization.replace("Bearer ", "");
  await browser.submit("/console/sign-in", { token, next: "/console" });
  const { html } = await browser.get("/console/own");
  assert(html.includes(CALLBACK) && !html.includes(OTHER_CALLBACK) && !html.includes("redrive"), html);
});
