/** The form of a POST to a resource endpoint: media type, coding, size, bytes and JSON; methods and addresses. */
import { assertEquals } from "@std/assert";
import { call, clientToken, consentBody, pay, paymentBody } from "testing/flows.ts";
import { authorised } from "testing/authorization_flow.ts";
import { assertBare, assertFaults, type ExpectedFault, unchanged } from "testing/resource_answers.ts";
import { CONSENTS, PAYMENTS, type ResourceCall, resourceCalls } from "support/resource_calls.ts";
import { BASE_URL, type Environment, openEnvironment } from "testing/environment.ts";

const FORMAT: readonly ExpectedFault[] = [["Resource.InvalidFormat"]];
const MAX_BYTES = 65_536;

async function postCalls(env: Environment): Promise<readonly (ResourceCall & { body: string })[]> {
  return (await resourceCalls(env)).flatMap((endpoint) =>
    endpoint.body === undefined ? [] : [{ ...endpoint, body: endpoint.body }]
  );
}

/** Signed bodies that are not acceptable JSON. */
const BAD_BODIES: Readonly<Record<string, (body: string) => string | Uint8Array<ArrayBuffer>>> = {
  "an empty body [RP-N15]": () => "",
  "half a body [RP-N15]": (body) => body.slice(0, -10),
  "trailing garbage [CON-20]": (body) => `${body}x`,
  "a second value [CON-20]": (body) => `${body}{}`,
  "a comment [RP-N15]": (body) => `${body}/* */`,
  "single quotes [RP-N15]": (body) => body.replaceAll('"', "'"),
  "a member twice [CON-20] [RP-N10]": (body) =>
    body.replace('"Amount":"165.88"', '"Amount":"1.00","Amount":"165.88"'),
  "a member twice, escaped once [CON-20] [RP-N10]": (body) =>
    body.replace('"Amount":"165.88"', '"Amount":"165.88","\\u0041mount":"999.00"'),
  "a member twice at the top [CON-20] [RP-N10]": (body) => `${body.slice(0, -1)},"Risk":{}}`,
  "invalid UTF-8 [CON-20]": (body) => withByte(body, "ACME", 0xff),
  "a truncated UTF-8 sequence [CON-20]": (body) => withByte(body, "ACME", 0xe2),
  "a byte order mark [CON-20]": (body) => `\ufeff${body}`,
  "a lone surrogate [CON-20]": (body) => body.replace("ACME", "\\ud800"),
  "an infinite number [CON-20]": (body) => body.replace('"165.88"', "1e999"),
  "nesting of 17 levels [RP-N15]": (body) => body.replace('"165.88"', "[".repeat(17) + "]".repeat(17)),
  "nesting of 20,000 levels [RP-N15]": () => "[".repeat(20_000) + "]".repeat(20_000),
};

Deno.test("POST endpoints reject a signed body that is not acceptable JSON [CON-20] [RP-N10] [RP-N15] [RP2]", async (t) => {
  await using env = await openEnvironment();
  for (const endpoint of await postCalls(env)) {
    for (const [name, spoilt] of Object.entries(BAD_BODIES)) {
      await t.step(`${endpoint.name}: ${name}`, async () => {
        const response = await unchanged(env, () => endpoint.send({ body: spoilt(endpoint.body) }));
        await assertFaults(response, 400, FORMAT);
      });
    }
  }
});

Deno.test("POST endpoints take application/json in UTF-8 only [CON-22] [RP-N12] [RP1]", async (t) => {
  await using env = await openEnvironment();
  for (const endpoint of await postCalls(env)) {
    const types = [
      undefined,
      "text/plain",
      "application/jose",
      "application/json, application/json",
      "application/json; charset=latin1",
      "application/x-www-form-urlencoded",
      "multipart/form-data",
    ];
    for (const type of types) {
      await t.step(`${endpoint.name}: ${type ?? "none"}`, async () => {
        const body = new TextEncoder().encode(endpoint.body);
        const response = await unchanged(
          env,
          () => endpoint.send({ body, headers: { "content-type": type } }),
        );
        await assertFaults(response, 415, [["Header.Invalid", "Content-Type"]]);
      });
    }
  }
  const [consents] = await postCalls(env);
  for (
    const type of ["Application/JSON", "application/json; charset=utf-8", 'application/json;charset="UTF-8"']
  ) {
    await t.step(`takes ${type}`, async () => {
      assertEquals((await consents?.send({ headers: { "content-type": type } }))?.status, 201);
    });
  }
});

Deno.test("POST endpoints reject content codings [RP-N13] [RP1]", async (t) => {
  await using env = await openEnvironment();
  for (const endpoint of await postCalls(env)) {
    for (const coding of ["gzip", "br", "identity, gzip", "GZIP"]) {
      await t.step(`${endpoint.name}: ${coding}`, async () => {
        const zipped = new Response(endpoint.body).body?.pipeThrough(new CompressionStream("gzip"));
        const body = new Uint8Array(await new Response(zipped ?? null).arrayBuffer());
        const response = await unchanged(
          env,
          () => endpoint.send({ body, headers: { "content-encoding": coding } }),
        );
        await assertFaults(response, 415, [["Header.Invalid", "Content-Encoding"]]);
      });
    }
  }
  const [consents] = await postCalls(env);
  await t.step("takes identity", async () => {
    assertEquals((await consents?.send({ headers: { "content-encoding": "identity" } }))?.status, 201);
  });
});

Deno.test("POST endpoints take 64 KiB and not a byte more [RP-N14]", async (t) => {
  await using env = await openEnvironment();
  for (const endpoint of await postCalls(env)) {
    await t.step(`${endpoint.name}: one byte more`, async () => {
      const body = endpoint.body.padEnd(MAX_BYTES + 1);
      const response = await unchanged(env, () => endpoint.send({ body }));
      await assertFaults(response, 413, [["Field.Invalid"]]);
    });
    await t.step(`${endpoint.name}: 10 MB of unknown length`, async () => {
      const body = new Uint8Array(10_000_000).fill(0x20);
      const response = await unchanged(env, () => endpoint.send({ body, signature: "x" }));
      await assertFaults(response, 413, [["Field.Invalid"]]);
    });
    await t.step(`${endpoint.name}: exactly so much`, async () => {
      const response = await endpoint.send({ body: endpoint.body.padEnd(MAX_BYTES) });
      assertEquals(response.status, 201, await response.text());
    });
  }
});

Deno.test("resource endpoints answer in application/json only [CON-22]", async (t) => {
  await using env = await openEnvironment();
  for (const endpoint of await resourceCalls(env)) {
    for (const accept of ["text/html", "application/xml", "image/*, text/plain;q=0.5"]) {
      await t.step(`${endpoint.name}: ${accept}`, async () => {
        await assertBare(await unchanged(env, () => endpoint.send({ headers: { accept } })), 406);
      });
    }
    const fit = endpoint.name === "POST domestic-payments" ? ["*/*"] : [
      "*/*",
      "application/*",
      "application/json; charset=utf-8",
      "text/html, application/json;q=0.1",
      "APPLICATION/JSON",
    ];
    for (const accept of fit) {
      await t.step(`${endpoint.name}: takes ${accept}`, async () => {
        assertEquals((await endpoint.send({ headers: { accept } })).status, endpoint.status);
      });
    }
  }
});

Deno.test("resource endpoints have no methods but their own [CON-22] [RG-N14]", async (t) => {
  await using env = await openEnvironment();
  const id = crypto.randomUUID();
  const addresses: Record<string, string> = {
    [CONSENTS]: "POST",
    [`${CONSENTS}/${id}`]: "GET",
    [`${CONSENTS}/${id}/funds-confirmation`]: "GET",
    [PAYMENTS]: "POST, GET",
    [`${PAYMENTS}/${id}`]: "GET",
  };
  for (const [path, allow] of Object.entries(addresses)) {
    const others = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"].filter((method) =>
      !allow.split(", ").includes(method)
    );
    for (const method of others) {
      await t.step(`${method} ${path}`, async () => {
        const response = await env.api(new Request(BASE_URL + path, { method }), env.tpp);
        assertEquals(response.headers.get("allow"), allow);
        await assertBare(response, 405);
      });
    }
  }
});

Deno.test("HEAD of a resource with a proof for GET gives nothing away [RG-N14]", async () => {
  await using env = await openEnvironment();
  const { bound, consentId } = await authorised(env);
  const response = await call(env, env.tpp, bound, `${CONSENTS}/${consentId}`, {
    method: "HEAD",
    proofChanges: { claims: { htm: "GET" } },
  });
  await assertBare(response, 405);
});

Deno.test("there is nothing at other addresses [VER-01] [RG-N13]", async (t) => {
  await using env = await openEnvironment();
  const flow = await authorised(env);
  const { Data } = await (await pay(env, flow)).json();
  const [consent, payment] = [flow.consentId, Data.DomesticPaymentId];
  const paths = [
    "/BANKA/domestic-payment-consents/v2",
    `/BANKA/domestic-payment-consents/v2/${consent}`,
    "/BANKA/domestic-payments/v2",
    `/BANKA/domestic-payments/v1/${payment}/payment-details`,
    `/BANKA/domestic-payment-consents/v1/${consent}/payment-details`,
    `/BANKA/domestic-payment-consents/v1/${consent}/`,
    "/BANKA/domestic-payment-consents/v1/",
    `/BANKA/Domestic-Payments/v1/${payment}`,
    `/BANKA//domestic-payments/v1/${payment}`,
    `/domestic-payments/v1/${payment}`,
    `/BANKA/domestic-payment-consents/v1/x/../../v1/${consent}/more`,
    "/BANKA/international-payments/v1",
  ];
  for (const path of paths) {
    for (const method of ["GET", "POST"]) {
      await t.step(`${method} ${path}`, async () => {
        const options = method === "POST" ? { body: JSON.stringify(consentBody()) } : {};
        const response = await unchanged(env, () => call(env, env.tpp, flow.bound, path, options));
        assertEquals(response.status, 404);
      });
    }
  }
});

Deno.test("POST endpoints take white space and escapes as JSON allows them [CON-20]", async () => {
  await using env = await openEnvironment();
  const bound = await clientToken(env, env.tpp);
  const body = `\r\n\t ${JSON.stringify(consentBody(), null, "\t")} \n`.replace(
    "ACME Inc",
    "\\u0041CME\\u0020Inc",
  );
  const response = await call(env, env.tpp, bound, CONSENTS, { body });
  assertEquals((await response.json()).Data.Initiation.CreditorAccount.Name, "ACME Inc");
  const flow = await authorised(env);
  const spaced = JSON.stringify(paymentBody(flow.consentId, flow.body), null, 4);
  assertEquals((await pay(env, flow, { body: spaced })).status, 201);
});

/** The body's bytes with one byte in the place of the first of `text`. */
function withByte(body: string, text: string, byte: number): Uint8Array<ArrayBuffer> {
  const bytes = new TextEncoder().encode(body);
  bytes[body.indexOf(text)] = byte;
  return bytes;
}
