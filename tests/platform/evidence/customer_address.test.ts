import { assert, assertEquals } from "@std/assert";
import { authorised } from "testing/authorization_flow.ts";
import { good, pay } from "testing/flows.ts";
import { heldIn } from "support/raw_bytes.ts";
import { test } from "support/environment_test.ts";
import type { Bundle } from "../../../scripts/operators/case/bundle_schema.ts";
import { grownBundle } from "../../scripts/operators/case/bundles.ts";

const ADDRESS = { v4: "203.0.113.77", prefix: "203.0.113", v6: "2001:db8:77" };
const HEADERS = {
  "x-forwarded-for": "203.0.113.77, 2001:db8:77::1",
  forwarded: 'for=203.0.113.77;by="[2001:db8:77::1]"',
  "x-real-ip": "203.0.113.77",
};

test("neither the evidence of a decision nor another record has the address of the customer's browser [P5, EN8]", async ({ env }) => {
  const { browser } = env;
  env.browser = (request) => {
    const headers = new Headers(request.headers);
    for (const [name, value] of Object.entries(HEADERS)) headers.set(name, value);
    headers.set("user-agent", "a browser of the customer");
    return browser(new Request(request, { headers }));
  };
  const flow = await authorised(env);
  const { DomesticPaymentId } = (await good(pay(env, flow), 201)).Data;
  const bundle = JSON.parse(await grownBundle(env, DomesticPaymentId)) as Bundle;
  const bodies = bundle.entries.flatMap(({ bodies }) =>
    bodies.flatMap((body) =>
      body === null ? [] : [atob(body.bytes.replaceAll("-", "+").replaceAll("_", "/"))]
    )
  );
  assert(
    bodies.some((body) => body.includes("a browser of the customer")),
    "the decision was made by that browser",
  );
  const records = JSON.stringify(await env.store.list({ prefix: [], limit: 10_000 }));
  const all = [...bodies, records, ...env.logged].join("\n");
  assertEquals(heldIn(new TextEncoder().encode(all), ADDRESS), []);
});
