/** The clients of an organisation that the directory lists with much software. */
import { assertEquals } from "@std/assert";
import type { ClientId } from "../../../../src/base/kernel/identifiers.ts";
import { openClientStore } from "../../../../src/platform/core/registration/client_store.ts";
import { organisationsOf } from "../../../../src/platform/operations/participant_views/organisation_of.ts";
import { openEnvironment } from "testing/environment.ts";

Deno.test("an organisation sees its registered software behind fifty others that it no longer uses [OWN1]", async () => {
  await using env = await openEnvironment();
  const { clientId, orgId } = env.tpp;
  const withdrawn = Array.from({ length: 60 }, () => `SC-${crypto.randomUUID()}` as ClientId);
  const organisationOf = organisationsOf({
    store: env.store,
    clients: openClientStore(),
    softwareOf: () => Promise.resolve([...withdrawn, clientId as ClientId]),
  });
  const { clients } = await organisationOf(orgId);
  assertEquals(clients.map((one) => one.clientId as string), [clientId]);
});
