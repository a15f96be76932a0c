/** Requests of participants' people have places of their own: however slow they are, operators do not wait for them. */
import { assertEquals } from "@std/assert";
import { openEnvironment } from "testing/environment.ts";
import { OPERATIONS_URL } from "testing/operators.ts";
import { personOf, testPeople } from "testing/participants_people.ts";

Deno.test("slow requests of participants' people take no places of the operators [OWN4]", async () => {
  await using env = await openEnvironment({ operators: await testPeople() });
  const { list } = env.store;
  const gate = Promise.withResolvers<void>();
  const isHeld = Promise.withResolvers<void>();
  env.store.list = async (listing) => {
    if (listing.prefix[0] === "outbox_dead") {
      isHeld.resolve();
      await gate.promise;
    }
    return await list(listing);
  };
  const path = "/operations/own/payment-orders?state=dead";
  const people = Array.from({ length: 20 }, () =>
    env.platform.operations.fetch(
      new Request(`${OPERATIONS_URL}${path}`, { headers: personOf(env.tpp.orgId) }),
    ));
  await isHeld.promise;
  const read = env.asOperator("/operations/requests", {}, "viewer");
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => late.resolve(undefined), 3000);
  const answer = await Promise.race([read, late.promise]);
  clearTimeout(timer);
  gate.resolve();
  const statuses = (await Promise.all(people)).map(({ status, body }) => (body?.cancel(), status));
  await (await read).body?.cancel();
  assertEquals(answer?.status, 200, "the operator waits");
  assertEquals(new Set(statuses), new Set([200]));
});

Deno.test("what participants' people may call, and their page, have the people's traffic [OWN4]", async () => {
  await using env = await openEnvironment({ operators: await testPeople() });
  const theirs = env.platform.endpoints.operations.filter(({ traffic }) => traffic === "person");
  assertEquals(theirs.map(({ path }) => path).toSorted(), [
    "/console/own",
    "/operations/own/cases",
    "/operations/own/consents",
    "/operations/own/disputes",
    "/operations/own/event-deliveries",
    "/operations/own/funnel",
    "/operations/own/payment-orders",
    "/operations/own/payments",
    "/operations/own/registrations",
    "/operations/own/rejected-requests",
    "/operations/own/reports",
    "/operations/own/search",
  ]);
});
