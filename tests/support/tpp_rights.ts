/** Unusual TPPs that do what docs/tpp.md says: copies of `examples/first_payment.ts` and of the shop. A case must pass each. */
import type { TppFault } from "./tpp_faults.ts";

/** A program, and what its case says. */
export interface RightProgram extends TppFault {
  readonly seen: RegExp;
  readonly keyLeadSeconds?: number;
}

const REDEEM = "oauth.authorizationCodeGrantRequest";
const READ = 'payment = await call("GET", `/domestic-payments/v1/${paymentId}`, paymentToken.access_token);';
const LOST = "if (!isLost || attempt === 4) throw error;";

/** A request to the bank, as `oauth4webapi` sends it. */
function request(token: string, method: string, path: string, body = "undefined"): string {
  return `oauth.protectedResourceRequest(${token}.access_token, "${method}",
    new URL(\`\${endpoints.base_url}/\${bank}/${path}\`), new Headers({ "content-type": "application/json" }), ${body}, options)`;
}

export const RIGHT_PROGRAMS: readonly RightProgram[] = [
  {
    finds: "TPP-A10",
    what: "repeats the code once after a lost response",
    changes: [{
      from: `await ${REDEEM}(`,
      to: `await (async (...args) => await ${REDEEM}(...args).catch(() => ${REDEEM}(...args)))(`,
    }],
    seen: /^it sent the code twice/,
  },
  {
    finds: "TPP-A10",
    what: "sends its customer to a new consent after a lost response",
    changes: [{
      from: `await ${REDEEM}(`,
      to: `await (async (...args) => await ${REDEEM}(...args).catch(async () => {
        const again = await post("/domestic-payment-consents/v1", ownToken.access_token, consentBody);
        const code_challenge = await oauth.calculatePKCECodeChallenge(oauth.generateRandomCodeVerifier());
        const renewed = { ...parameters, consent_id: again.Data.ConsentId, code_challenge };
        const answered = await oauth.pushedAuthorizationRequest(server, client, authenticate, renewed, options);
        const { request_uri } = await oauth.processPushedAuthorizationResponse(server, client, answered);
        const query = new URLSearchParams({ client_id: me.client_id, request_uri });
        say(\`\${server.authorization_endpoint}?\${query}\`);
        return await new Promise((resolve) => setTimeout(resolve, 3_600_000));
      }))(`,
    }],
    seen: /^it sent the code once and its customer to a new consent/,
  },
  {
    finds: "TPP-A05",
    what: "looks a payment up whose answer is lost",
    changes: [{
      from: '"x-idempotency-key": crypto.randomUUID(),',
      to: '"x-idempotency-key": (globalThis.key = crypto.randomUUID()),',
    }, {
      from: LOST,
      to: `${LOST}\nif (sent) return ${
        request("paymentToken", "GET", "domestic-payments/v1?idempotency-key=${globalThis.key}")
      };`,
    }],
    seen: /^it looked the payment up/,
  },
  {
    finds: "TPP-A12",
    what: "reads events and never the payment",
    changes: [{
      from: READ,
      to: `const { sets } = await (await ${
        request(
          "ownToken",
          "POST",
          "events/v1",
          "JSON.stringify({ ack: globalThis.acks, maxEvents: 100, returnImmediately: true })",
        )
      }).json();
      globalThis.acks = Object.keys(sets);
      for (const set of Object.values(sets)) {
        const { payload } = await jose.jwtVerify(set, platformKeys, { algorithms: ["PS256"], typ: "secevent+jwt" });
        const changed = Object.entries(payload.events).find(([type]) => type.endsWith("/payment-status-changed"));
        if (JSON.stringify(payload).includes(paymentId) && changed) payment.Data.Status = changed[1].status;
      }`,
    }],
    seen: /^it read the status 0 times/,
  },
  {
    finds: "TPP-K01",
    what: "leaves time between two requests for the platform's keys",
    changes: [{ from: "{ cooldownDuration: 0 }", to: "{ cooldownDuration: 1500 }" }],
    keyLeadSeconds: 2,
    seen: /said paid$/,
  },
];

/** A shop that reads the metadata of each bank once and gets a token for an hour. */
export const KEEPS_TOKENS: TppFault = {
  finds: "",
  what: "",
  changes: [{
    file: "client/tpp/payment_journey.ts",
    from: "const server = await discover(tpp, bank, fetch);",
    to: `const known = ((globalThis as any).keptServers ??= new Map());
  const server = known.get(bank) ?? await discover(tpp, bank, fetch);
  known.set(bank, server);`,
  }, {
    file: "sandbox/shop/checkout.ts",
    from: "const token = await again(() => grantClientToken(flow));",
    to: `const kept = ((globalThis as any).keptTokens ??= new Map());
  const token = kept.get(order.bank) ?? await again(() => grantClientToken(flow));
  kept.set(order.bank, token);`,
  }],
};

/** A shop that begins again if a code is lost, and takes the second of two returns. */
export const BEGINS_AGAIN: TppFault = {
  finds: "",
  what: "",
  changes: [{
    file: "sandbox/shop/app.ts",
    from: "  if (order === undefined) return strayReturn(c);\n  try {",
    to: `  if (order === undefined) return strayReturn(c);
  const arrived = ((globalThis as any).arrivedReturns ??= new Set());
  const isFirst = !arrived.has(order.id);
  arrived.add(order.id);
  if (isFirst) await new Promise((resolve) => setTimeout(resolve, 300));
  const isWaiting = shop.orders.find(order.id, order.session)?.state.phase === "at_bank";
  if (!isWaiting) return strayReturn(c);
  try {
    const done = await finishCheckout(shop, order, callback);
    if (done.state.phase === "failed") {
      const again = await startCheckout(shop, { ...order, language: "en" });
      if (again.state.phase === "at_bank") return c.redirect(again.state.pending.url, 303);
    }
    return c.redirect(orderPath(done), 303);`,
  }],
};
