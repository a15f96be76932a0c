/** The TPP's connection and credentials, against the sandbox's real TLS front door and real files. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { exportPKCS8, generateKeyPair, SignJWT } from "jose";
import { openMutualTls, ownFetch } from "../../../src/client/party/mutual_tls.ts";
import { loadParticipant } from "../../../src/client/party/participant.ts";
import { withFrontDoor } from "support/front_door_environment.ts";
import { openTemporaryFolder } from "testing/temporary_folder.ts";

const softwareId = "SC-2f6e6d0c-64b0-4f5b-9a53-6f0c1c2d3e4f";

Deno.test("openMutualTls shows the participant's certificate and follows no redirect", () =>
  withFrontDoor(
    (request) => {
      const headers = {
        location: "https://localhost:1/elsewhere",
        "x-seen": request.headers.get("client-cert") ?? "",
      };
      return new Response(null, { status: 307, headers });
    },
    async (env) => {
      const identity = { certPem: env.alpha.cert, keyPem: env.alpha.key };
      const connection = openMutualTls(identity, env.ca);
      try {
        const request = { method: "POST", headers: {}, body: new URLSearchParams({ a: "b" }) };
        const response = await connection.fetch(`${env.url}/anything`, request);
        await response.body?.cancel();
        assertEquals(response.status, 307);
        assertEquals(response.headers.get("x-seen"), env.alpha.clientCertHeader);
      } finally {
        connection.close();
      }
    },
  ));

Deno.test("openMutualTls trusts no server of another authority", () =>
  withFrontDoor(() => new Response("in"), async (env) => {
    const identity = { certPem: env.alpha.cert, keyPem: env.alpha.key };
    const connection = openMutualTls(identity, env.outsider.cert);
    try {
      await assertRejects(() => connection.fetch(`${env.url}/`, { method: "GET", headers: {} }), TypeError);
    } finally {
      connection.close();
    }
  }));

Deno.test("a fetch of one's own is told not to follow redirects, and each call ends in time", async () => {
  const seen: RequestInit[] = [];
  const fetch = ownFetch((_url, init) => {
    seen.push(init);
    return Promise.resolve(new Response());
  });
  await fetch("https://api.example/", { method: "POST", headers: { accept: "a/b" }, body: "x" });
  const [{ signal, ...sent } = {}] = seen;
  assertEquals(sent, { method: "POST", headers: { accept: "a/b" }, body: "x", redirect: "manual" });
  assertEquals([signal instanceof AbortSignal, signal?.aborted], [true, false]);
});

Deno.test("an answer without an end is read to 1 MiB and not further, whoever fetches it", async () => {
  const part = new Uint8Array(65_536);
  let read = 0;
  const endless = (): Response =>
    new Response(
      new ReadableStream({
        pull(controller): void {
          read += part.length;
          controller.enqueue(part);
        },
      }),
    );
  const fetch = ownFetch(() => Promise.resolve(endless()));
  const response = await fetch("https://api.example/", { method: "GET", headers: {} });
  await assertRejects(() => readTo(response, 4_194_304), TypeError, "1048576 bytes");
  assert(read <= 1_048_576 + 4 * part.length, `${read}`);
  const whole = ownFetch(() => Promise.resolve(new Response("whole", { status: 201, headers: { a: "b" } })));
  const other = await whole("https://api.example/", { method: "GET", headers: {} });
  assertEquals([other.status, other.headers.get("a"), await other.text()], [201, "b", "whole"]);
});

/** Reads a body, but no more than `most` bytes. */
async function readTo(response: Response, most: number): Promise<number> {
  let length = 0;
  for await (const part of response.body ?? []) {
    length += part.length;
    if (length > most) break;
  }
  return length;
}

Deno.test("loadParticipant reads a folder as the sandbox writes it", () =>
  withParticipantFolder(async (folder) => {
    const participant = await loadParticipant(folder);
    assertEquals(participant.clientId, softwareId);
    assertEquals(participant.orgName, "Shop Ltd");
    assertEquals(participant.redirectUris, ["https://shop.example/callback"]);
    assertEquals(participant.transport, { certPem: "CERT", keyPem: "KEY" });
    assertEquals(participant.softwareStatement.endsWith("\n"), false);
    assertEquals(participant.signer.kid, "kid-1");
  }));

Deno.test("loadParticipant rejects a folder without its private key", () =>
  withParticipantFolder(async (folder) => {
    await Deno.remove(`${folder}/signing.key.pem`);
    await assertRejects(() => loadParticipant(folder), Error, "signing.key.pem");
  }));

async function withParticipantFolder(test: (folder: string) => Promise<void>): Promise<void> {
  await using folder = await openTemporaryFolder();
  const { privateKey } = await generateKeyPair("PS256", { extractable: true });
  const statement = await new SignJWT({ software_redirect_uris: ["https://shop.example/callback"] })
    .setProtectedHeader({ alg: "PS256" })
    .sign(privateKey);
  const facts = {
    name: "shop",
    org_id: "ORG-1",
    org_name: "Shop Ltd",
    role: "PISP",
    software_client_id: softwareId,
    signing_kid: "kid-1",
    transport_kid: "kid-2",
  };
  const files = {
    "participant.json": JSON.stringify(facts),
    "signing.key.pem": await exportPKCS8(privateKey),
    "transport.cert.pem": "CERT",
    "transport.key.pem": "KEY",
    [`${softwareId}.jks`]: `${statement}\n`,
  };
  for (const [name, text] of Object.entries(files)) await Deno.writeTextFile(`${folder.path}/${name}`, text);
  await test(folder.path);
}
