/** Why a payment failed, as the demo shop tells its customers in their language [G6] [G7]. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { LANGUAGES } from "../../../src/pages/language.ts";
import { CATALOGUES, type MessageKey } from "../../../src/sandbox/shop/phrase.ts";
import { paymentAnswer, paymentId } from "support/sandbox_tpp_platform.ts";
import { callback, get, goToBank, issuer, openShop, paymentsPath } from "support/shop_environment.ts";
import { steps } from "support/steps.ts";

/** The order's page after the bank's return and, if the customer came with a code, this answer to the payment. */
async function orderPage(
  back: Readonly<Record<string, string>>,
  { language = "en", answer }: {
    readonly language?: string;
    readonly answer?: (status: number) => Response;
  } = {},
): Promise<string> {
  const env = await openShop();
  if (answer !== undefined) {
    env.answers.set(paymentsPath, [() => answer(201)]);
    env.answers.set(`${paymentsPath}/${paymentId}`, [() => answer(200)]);
  }
  const { cookie, state } = await goToBank(env);
  const response = await env.fetch(callback({ ...back, state, iss: issuer }, cookie));
  const path = `${response.headers.get("location")}?lang=${language}`;
  return await (await env.fetch(get(path, cookie))).text();
}

function rejected(StatusReasonCode: string, StatusReason?: string): (status: number) => Response {
  return (status) => paymentAnswer(status, "Rejected", { StatusReasonCode, StatusReason });
}

const denials: Readonly<Record<string, MessageKey>> = {
  AM04: "outcome.denied_funds.text",
  AC06: "outcome.denied_blocked.text",
  NOAS: "outcome.denied_late.text",
};

Deno.test("Why the bank ended the visit is said to the customer, in every language of the shop", async () => {
  for (const [reason_code, key] of Object.entries(denials)) {
    for (const language of LANGUAGES) {
      const back = { error: "access_denied", reason_code };
      assertStringIncludes(await orderPage(back, { language }), CATALOGUES[language][key]);
    }
  }
  const other = await orderPage({ error: "access_denied", reason_code: "am04" });
  assertStringIncludes(other, CATALOGUES.en["outcome.denied.text"]);
});

const reasons: Record<string, readonly [code: string, text: string | undefined, MessageKey]> = {
  "insufficient funds": ["AM04", "Insufficient funds", "outcome.rejected_funds.text"],
  "a closed account": ["AC04", "Account closed", "outcome.rejected_closed.text"],
  "a code that the shop has no words for": ["RR04", "Regulatory reason", "outcome.Rejected.text"],
  "a text that looks like a code": ["NARR", "AM04: or so", "outcome.Rejected.text"],
  "no text": ["MS03", undefined, "outcome.Rejected.text"],
};

Deno.test("The bank's reason for a rejected payment is said in plain words where the shop has some, and quoted", async (t) => {
  await steps(t, reasons, async ([code, reason, key]) => {
    for (const language of LANGUAGES) {
      const page = await orderPage({ code: "secret-code" }, { language, answer: rejected(code, reason) });
      assertStringIncludes(page, CATALOGUES[language][key]);
      assertEquals(page.includes('class="detail"'), reason !== undefined);
      if (reason !== undefined) assertStringIncludes(page, reason);
    }
  });
});

Deno.test("The bank's reason is text on the shop's page, never markup", async () => {
  const page = await orderPage({ code: "secret-code" }, {
    answer: rejected("NARR", "<img src=x onerror=alert(1)>"),
  });
  assertEquals(page.includes("<img"), false);
  assertStringIncludes(page, "&lt;img src=x");
});
