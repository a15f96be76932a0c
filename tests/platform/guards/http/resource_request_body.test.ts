/** The form of a POST to a resource endpoint: media type, coding, size, bytes and JSON; methods and addresses. */
import { assertEquals } from "@std/assert";
import { assertFaults, type ExpectedFault } from "testing/resource_answers.ts";
import { type ResourceCall, resourceCalls } from "support/resource_calls.ts";
import { type Environment } from "testing/environment.ts";
import { stepsOf } from "support/steps.ts";
import { test } from "support/environment_test.ts";
import { unchanged } from "testing/store_contents.ts";

const FORMAT: readonly ExpectedFault[] = [["Resource.InvalidFormat"]];

const MAX_BYTES = 65_536;

async function postCalls(env: Environment): Promise<readonly (ResourceCall & { body: string })[]> {
  return (await resourceCalls(env)).flatMap((endpoint) =>
    endpoint.body === undefined ? [] : [{ ...endpoint, body: endpoint.body }]
  );
}

/** Signed bodies that are not acceptable JSON. Others: tests/base/kernel/strict_json.test.ts. */
const BAD_BODIES: Readonly<Record<string, (body: string) => string | Uint8Array<ArrayBuffer>>> = {
  "an empty body [RP-N15]": () => "",
  "trailing garbage [CON-20]": (body) => `${body}x`,
  "a member twice, escaped once [CON-20] [RP-N10]": (body) =>
    body.replace('"Amount":"165.88"', '"Amount":"165.88","\\u0041mount":"999.00"'),
  "invalid UTF-8 [CON-20]": (body) => withByte(body, "ACME", 0xff),
  "nesting of 20,000 levels [RP-N15]": () => "[".repeat(20_000) + "]".repeat(20_000),
};

test("POST endpoints reject a signed body that is not acceptable JSON [CON-20] [RP-N10] [RP-N15] [RP2]", async ({ env, t }) => {
  for (const endpoint of await postCalls(env)) {
    for (const [name, spoilt] of Object.entries(BAD_BODIES)) {
      await t.step(`${endpoint.name}: ${name}`, async () => {
        const response = await unchanged(env, () => endpoint.send({ body: spoilt(endpoint.body) }));
        await assertFaults(response, 400, FORMAT);
      });
    }
  }
});

test("POST endpoints take application/json in UTF-8 only [CON-22] [RP-N12] [RP1]", async ({ env, t }) => {
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
    await stepsOf(t, types, (type) => `${endpoint.name}: ${type ?? "none"}`, async (type) => {
      const body = new TextEncoder().encode(endpoint.body);
      const response = await unchanged(env, () => endpoint.send({ body, headers: { "content-type": type } }));
      await assertFaults(response, 415, [["Header.Invalid", "Content-Type"]]);
    });
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

test("POST endpoints reject content codings [RP-N13] [RP1]", async ({ env, t }) => {
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

test("POST endpoints take 64 KiB and not a byte more [RP-N14]", async ({ env, t }) => {
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

/** The body's bytes with one byte in the place of the first of `text`. */
function withByte(body: string, text: string, byte: number): Uint8Array<ArrayBuffer> {
  const bytes = new TextEncoder().encode(body);
  bytes[body.indexOf(text)] = byte;
  return bytes;
}
