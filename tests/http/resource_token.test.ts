/** The token guard of the TPP's resource endpoints: the same wrong thing at all five of them. */
import { assertEquals, assertNotEquals } from "@std/assert";
import {
  authorise,
  authorised,
  call,
  clientToken,
  codeOf,
  consentBody,
  dpopKey,
  good,
  pay,
  redeem,
  toBank,
} from "../support/flows.ts";
import { dpopProof } from "../support/jwts.ts";
import { assertBare, assertChallenge, unchanged } from "../support/resource_answers.ts";
import { CONSENTS, PAYMENTS, type ResourceCall, resourceCalls } from "../support/resource_calls.ts";
import { openWorld, type World } from "../support/world.ts";

const NO_ERROR = 'DPoP algs="PS256"';
const INVALID_REQUEST = 'DPoP error="invalid_request", algs="PS256"';
const INVALID_TOKEN = 'DPoP error="invalid_token", algs="PS256"';
const FORBIDDEN = 'DPoP error="insufficient_scope", scope="payments", algs="PS256"';

type Attempt = (endpoint: ResourceCall, world: World) => Promise<Response>;

/** One wrong thing at every endpoint: the same refusal, and nothing changes. */
function atEveryEndpoint(
  name: string,
  expected: readonly [400 | 401 | 403, string],
  attempt: Attempt,
): void {
  Deno.test(`resource endpoints ${name}`, async (t) => {
    await using world = await openWorld();
    for (const endpoint of await resourceCalls(world)) {
      await t.step(endpoint.name, async () => {
        const response = await unchanged(world, () => attempt(endpoint, world));
        await assertChallenge(response, ...expected);
      });
    }
  });
}

Deno.test("resource endpoints answer a good call [RG-N7]", async (t) => {
  await using world = await openWorld();
  for (const endpoint of await resourceCalls(world)) {
    await t.step(endpoint.name, async () => {
      const response = await endpoint.send();
      assertEquals(response.status, endpoint.status, await response.text());
      assertEquals(response.headers.get("cache-control"), "no-store");
    });
  }
});

atEveryEndpoint(
  "want an Authorization header [RG-N1] [RP-N1]",
  [401, NO_ERROR],
  ({ send }) => send({ headers: { authorization: undefined } }),
);

atEveryEndpoint(
  "refuse Bearer with a good proof [RG-N2] [RP-N1]",
  [401, NO_ERROR],
  ({ send, bound }) => send({ headers: { authorization: `Bearer ${bound.token}` } }),
);

atEveryEndpoint(
  "refuse Bearer without a proof [RG-N2] [RP-N1]",
  [401, NO_ERROR],
  ({ send, bound }) => send({ proof: null, headers: { authorization: `Bearer ${bound.token}` } }),
);

for (
  const [name, value] of [
    ["DPoP twice", (token: string): string => `DPoP ${token}, DPoP ${token}`],
    ["DPoP and Bearer", (token: string): string => `DPoP ${token}, Bearer ${token}`],
    ["Bearer and DPoP", (token: string): string => `Bearer ${token}, DPoP ${token}`],
  ] as const
) {
  atEveryEndpoint(
    `refuse Authorization with ${name} [RG-N3] [RP-N1]`,
    [400, INVALID_REQUEST],
    ({ send, bound }) => send({ headers: { authorization: value(bound.token) } }),
  );
}

atEveryEndpoint("refuse a token in the query, with the header or without [RG-N4] [RP-N1]", [
  400,
  INVALID_REQUEST,
], (endpoint, world) => sendWithQuery(endpoint, world, true));

atEveryEndpoint(
  "refuse a token in the query alone [RG-N4] [RP-N1]",
  [400, INVALID_REQUEST],
  (endpoint, world) => sendWithQuery(endpoint, world, false),
);

async function sendWithQuery(endpoint: ResourceCall, world: World, withHeader: boolean): Promise<Response> {
  const { method, url, bound, body } = endpoint;
  const headers = new Headers({
    dpop: await dpopProof(world, bound.key, { method, url, accessToken: bound.token }),
  });
  if (withHeader) headers.set("authorization", `DPoP ${bound.token}`);
  const init = body === undefined ? { method, headers } : { method, headers, body };
  return await world.api(new Request(`${url}?access_token=${bound.token}`, init), world.tpp);
}

for (
  const [name, change] of [
    ["random", (): string => "f".repeat(43)],
    ["truncated", (token: string): string => token.slice(0, -1)],
    ["lengthened", (token: string): string => `${token}A`],
    ["of another letter case", (token: string): string => swapCase(token)],
    ["enormous", (): string => "A".repeat(20_000)],
  ] as const
) {
  atEveryEndpoint(
    `refuse a token that is ${name} [RG-N5] [RP-N1]`,
    [401, INVALID_TOKEN],
    ({ send, bound }) => send({ token: { ...bound, token: change(bound.token) } }),
  );
}

Deno.test("resource endpoints take a token until 3600 s after its issue and not then [RG-N5] [PAY-05]", async (t) => {
  await using world = await openWorld();
  const issued = world.now;
  const endpoints = await resourceCalls(world);
  for (const endpoint of endpoints.filter(({ method }) => method === "GET")) {
    await t.step(endpoint.name, async () => {
      world.now = issued + 3_599_999;
      const last = await endpoint.send();
      assertEquals(last.status, 200, await last.text());
      world.now = issued + 3_600_000;
      await assertChallenge(await endpoint.send(), 401, INVALID_TOKEN);
    });
  }
  for (const endpoint of endpoints.filter(({ method }) => method === "POST")) {
    await t.step(endpoint.name, async () => {
      world.now = issued + 3_600_000;
      await assertChallenge(await unchanged(world, () => endpoint.send()), 401, INVALID_TOKEN);
    });
  }
});

Deno.test("GET funds-confirmation and POST domestic-payments refuse a token revoked by reuse of its code [RG-N5]", async (t) => {
  await using world = await openWorld();
  const flow = await toBank(world);
  const code = codeOf(await authorise(world, flow));
  const first = await (await redeem(world, { consentId: flow.consentId, code })).json();
  const token = { token: first.access_token, key: await dpopKey() };
  const endpoints = (await resourceCalls(world)).filter(({ name }) => !name.includes("consents"));
  for (const endpoint of endpoints) {
    await t.step(`${endpoint.name} knows the token before`, async () => {
      assertNotEquals((await endpoint.send({ token })).status, 401);
    });
  }
  assertEquals((await redeem(world, { consentId: flow.consentId, code })).status, 400);
  for (const endpoint of endpoints) {
    await t.step(`${endpoint.name} refuses it after`, async () => {
      await assertChallenge(await unchanged(world, () => endpoint.send({ token })), 401, INVALID_TOKEN);
    });
  }
});

Deno.test("resource endpoints take the scheme in any case, several spaces, and the header DPOP [RG-N7]", async (t) => {
  await using world = await openWorld();
  const endpoints = (await resourceCalls(world)).filter(({ name }) => name !== "POST domestic-payments");
  for (const endpoint of endpoints) {
    for (const scheme of ["dPoP", "DPOP", "dpop", "DPoP  "]) {
      await t.step(`${endpoint.name} ${scheme}`, async () => {
        const { method, url, bound } = endpoint;
        const proof = await dpopProof(world, bound.key, { method, url, accessToken: bound.token });
        const response = await endpoint.send({
          proof: null,
          headers: { authorization: `${scheme} ${bound.token}`, DPOP: proof },
        });
        assertEquals(response.status, endpoint.status, await response.text());
      });
    }
  }
});

Deno.test("resource endpoints do not know another bank's token [RG-N8] [RP-N1]", async (t) => {
  await using world = await openWorld();
  const atB = await clientToken(world, world.tpp, "BANKB");
  for (const endpoint of await resourceCalls(world)) {
    await t.step(endpoint.name, async () => {
      const response = await unchanged(world, () => endpoint.send({ token: atB }));
      await assertChallenge(response, 401, INVALID_TOKEN);
    });
  }
});

Deno.test("resource endpoints of an unknown bank are nowhere [VER-01] [RG-N8]", async (t) => {
  await using world = await openWorld();
  for (const endpoint of await resourceCalls(world)) {
    for (const code of ["BANKC", "banka", "B", "x".repeat(33), "BANKA%2F", "%00"]) {
      await t.step(`${endpoint.name} ${code}`, async () => {
        const { method, bound, body } = endpoint;
        const url = endpoint.url.replace("BANKA", code);
        const proof = await dpopProof(world, bound.key, { method, url, accessToken: bound.token });
        const headers = { authorization: `DPoP ${bound.token}`, dpop: proof };
        const init = body === undefined ? { method, headers } : { method, headers, body };
        const response = await unchanged(world, () => world.api(new Request(url, init), world.tpp));
        await assertBare(response, 404);
      });
    }
  }
});

Deno.test("resource endpoints of TPPs refuse a bank's token [RG-N9] [RP-N24]", async (t) => {
  await using world = await openWorld();
  const bank = await clientToken(world, world.bankA);
  for (const endpoint of await resourceCalls(world)) {
    await t.step(endpoint.name, async () => {
      const response = await unchanged(world, () => endpoint.send({ caller: world.bankA, token: bank }));
      await assertChallenge(response, 403, FORBIDDEN);
    });
  }
});

atEveryEndpoint(
  "refuse another participant's certificate [RG-N11] [RP-N1]",
  [401, INVALID_TOKEN],
  (endpoint, world) => endpoint.send({ as: world.otherTpp }),
);

atEveryEndpoint(
  "refuse the addressed bank's certificate [RG-N11] [RP-N1]",
  [401, INVALID_TOKEN],
  (endpoint, world) => endpoint.send({ as: world.bankA }),
);

atEveryEndpoint(
  "refuse a call without certificate [RG-N11] [RP-N1]",
  [401, INVALID_TOKEN],
  (endpoint) => endpoint.send({ as: null }),
);

atEveryEndpoint("refuse another TPP that holds token, key and its own certificate [RG-N11] [DP-N18]", [
  401,
  INVALID_TOKEN,
], (endpoint, world) => endpoint.send({ caller: world.otherTpp }));

Deno.test("POST domestic-payments refuses a client credentials token [RP-N16] [PAY-05]", async () => {
  await using world = await openWorld();
  const flow = await authorised(world);
  const response = await unchanged(world, () => pay(world, { ...flow, payment: flow.bound }));
  await assertChallenge(response, 403, FORBIDDEN);
});

Deno.test("POST and GET domestic-payment-consents refuse an authorization code token [RP-N17]", async (t) => {
  await using world = await openWorld();
  const { payment, consentId } = await authorised(world);
  await t.step("POST", async () => {
    const body = JSON.stringify(consentBody());
    const response = await unchanged(world, () => call(world, world.tpp, payment, CONSENTS, { body }));
    await assertChallenge(response, 403, FORBIDDEN);
  });
  await t.step("GET its own consent", async () => {
    const response = await unchanged(
      world,
      () => call(world, world.tpp, payment, `${CONSENTS}/${consentId}`),
    );
    await assertChallenge(response, 403, FORBIDDEN);
  });
});

Deno.test("an authorization code token is for its own consent alone [RP-N18] [PAY-05]", async (t) => {
  await using world = await openWorld();
  const mine = await authorised(world);
  const other = await authorised(world);
  const made = await good(pay(world, await authorised(world)), 201);
  const attempts: Record<string, () => Promise<Response>> = {
    "POST domestic-payments": () => pay(world, { ...other, payment: mine.payment }),
    "GET funds-confirmation": () =>
      call(world, world.tpp, mine.payment, `${CONSENTS}/${other.consentId}/funds-confirmation`),
    "GET domestic-payments/{id}": () =>
      call(world, world.tpp, mine.payment, `${PAYMENTS}/${made.Data.DomesticPaymentId}`),
  };
  for (const [name, attempt] of Object.entries(attempts)) {
    await t.step(name, async () => {
      await assertChallenge(await unchanged(world, attempt), 403, FORBIDDEN);
    });
  }
  await t.step("each token still pays for its own", async () => {
    assertEquals((await pay(world, mine)).status, 201);
    assertEquals((await pay(world, other)).status, 201);
  });
});

Deno.test("bank endpoints refuse a TPP's token, by client credentials or by code [RG-N9]", async (t) => {
  await using world = await openWorld();
  const { bound, payment, consentId } = await authorised(world);
  for (const [name, token] of Object.entries({ client_credentials: bound, authorization_code: payment })) {
    for (const path of [`/BANKA/back-channel-auth/v1/${consentId}`, "/BANKA/back-channel-payments/v1"]) {
      await t.step(`${name} ${path.split("/")[2]}`, async () => {
        const response = await unchanged(world, () => call(world, world.tpp, token, path));
        await assertChallenge(response, 403, 'DPoP error="insufficient_scope", scope="bank", algs="PS256"');
      });
    }
  }
});

function swapCase(text: string): string {
  return [...text].map((c) => c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase()).join("");
}
