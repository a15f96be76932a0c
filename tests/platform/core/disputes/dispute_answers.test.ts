/** The whole answer to a step of a dispute, and how its sender finds it in its traces (contract DSP5). */
import { assertEquals } from "@std/assert";
import { bodyOf } from "testing/answers.ts";
import { authorised } from "testing/authorization_flow.ts";
import { BASE_URL, openEnvironment } from "testing/environment.ts";
import { call, good, pay } from "testing/flows.ts";
import { sharedToken } from "testing/shared_token.ts";
import { wireDateTime } from "../../../../src/base/kernel/clock.ts";
import { tracesAt } from "../../operations/traces/read_traces.ts";

Deno.test("an opened dispute is answered whole, to both parties, and its step is found by the payment and by the consent [DSP5] [TRC1]", async () => {
  await using env = await openEnvironment();
  const { DomesticPaymentId, ConsentId } = (await good(pay(env, await authorised(env)), 201)).Data;
  const body = JSON.stringify({ Data: { DomesticPaymentId, Action: "Open", Statement: "It never came." } });
  const token = await sharedToken(env, env.tpp, "BANKA");
  const answer = await call(env, env.tpp, token, "/BANKA/disputes/v1", { body });
  const [time, due] = [wireDateTime(env.now), wireDateTime(env.now + 15 * 86_400_000)];
  const opened = {
    Data: {
      DomesticPaymentId,
      ConsentId,
      OpenedBy: "TPP",
      Status: "Open",
      CreationDateTime: time,
      StatusUpdateDateTime: time,
      DueDateTime: due,
      Statement: [{ By: "TPP", DateTime: time, Statement: "It never came." }],
    },
    Links: { Self: `${BASE_URL}/BANKA/disputes/v1/${DomesticPaymentId}` },
    Meta: {},
  };
  assertEquals([answer.status, await bodyOf<unknown>(answer)], [201, opened]);
  const path = `/BANKA/disputes/v1/${DomesticPaymentId}`;
  const read = await call(env, env.bankA, await sharedToken(env, env.bankA, "BANKA"), path);
  assertEquals([read.status, await bodyOf<unknown>(read)], [200, opened]);
  for (const query of [`?payment_id=${DomesticPaymentId}`, `?consent_id=${ConsentId}`]) {
    const endpoints = (await tracesAt(env, query)).map(({ Endpoint }) => Endpoint);
    assertEquals(endpoints.filter((endpoint) => endpoint === "/{bank}/disputes/v1").length, 1, query);
  }
});
