/** Planted faults of the shop and of the client library, with one change each. */
import type { TppFault } from "./tpp_faults.ts";

const FETCH = 'fetch(url, { method, headers, body, redirect: "manual", signal: signal ?? null, client }),';

function repeating(isRepeated: string): string {
  const send = FETCH.replace(/,$/, "");
  return `${send}.then(async (response) => {
    if (${isRepeated}) await (await ${send}).body?.cancel();
    return response;
  }),`;
}

/** Faults of the shop and of the client library. Files are below `src`. */
export const SHOP_FAULTS: readonly TppFault[] = [
  {
    finds: "TPP-R02",
    what: "the HTTP client repeats pushed requests by itself",
    changes: [{
      file: "client/party/mutual_tls.ts",
      from: FETCH,
      to: repeating('url.endsWith("/par.oauth2/v1")'),
    }],
  },
  {
    finds: "TPP-R04",
    what: "the HTTP client repeats reads by itself",
    changes: [{
      file: "client/party/mutual_tls.ts",
      from: FETCH,
      to: repeating('url.includes("/domestic-payments/v1/")'),
    }],
  },
  {
    finds: "TPP-R07",
    what: "a token is tried at every bank",
    changes: [{
      file: "sandbox/shop/checkout.ts",
      from: "const token = await again(() => grantClientToken(flow));",
      to: `const known = (globalThis as any).knownToken;
  if (known) await createConsent(flow, known, order.request).catch(() => {});
  const token = (globalThis as any).knownToken = await again(() => grantClientToken(flow));`,
    }],
  },
  {
    finds: "TPP-B08",
    what: "a return is used each time that it arrives",
    changes: [{
      file: "sandbox/shop/callback.ts",
      from: 'deps.orders.moveTo(order, { phase: "paying" });',
      to: "order;",
    }],
  },
  {
    finds: "TPP-A03",
    what: "the library accepts answers without a signature",
    changes: [{
      file: "client/party/payload_signature.ts",
      from: "  await verifyPayload(signature, body, keys);\n  return JSON",
      to: "  if (signature !== null) await verifyPayload(signature, body, keys);\n  return JSON",
    }, {
      file: "client/party/payload_signature.ts",
      from: "if (signature === null) throw",
      to: "if (false) throw",
    }],
  },
  {
    finds: "TPP-A06",
    what: "the shop makes a new idempotency key for each attempt",
    changes: [{
      file: "sandbox/shop/checkout.ts",
      from: "createConsent(flow, token, order.request, key)",
      to: "createConsent(flow, token, order.request)",
    }],
  },
  {
    finds: "TPP-A07",
    what: "the shop ignores Retry-After",
    changes: [{
      file: "sandbox/shop/callback.ts",
      from: "pause = Math.max(usual ?? 0, asked);",
      to: "pause = usual ?? 0;",
    }],
  },
  {
    finds: "TPP-K01",
    what: "the library does not fetch a key set again while it is fresh",
    changes: [{
      file: "client/party/platform_keys.ts",
      from: "if (found !== undefined || !isFresh) return found;",
      to: "if (found !== undefined || isFresh !== undefined) return found;",
    }],
  },
];
