/** Mistakes in the payload signature of a consent, and in its idempotency key and headers. */
import { call, consentBody } from "testing/flows.ts";
import { payloadSignature, seconds } from "testing/jwts.ts";
import { type Area, membersOf, type Mistake, mistake } from "./mistake.ts";
import { consenting, CONSENTS, type Workbench } from "./workbench.ts";

const OBIE = "http://openbanking.org.uk/";
const body = (): string => JSON.stringify(consentBody());

/** A signature with a changed header. */
async function signing(bench: Workbench, header: Readonly<Record<string, unknown>>): Promise<Response> {
  const { env } = bench;
  const text = body();
  const signature = await payloadSignature(env, env.tpp, text, { header });
  return await consenting(bench, text, { signature });
}

const member = membersOf("x-jws-signature", signing);

const SIGNING_KID: Mistake["expected"] = ({ env }) => `'${env.tpp.signing.kid}'`;

export const SIGNATURES: Area = {
  name: "payload signatures",
  role: "TPP",
  mistakes: [
    member("kid", ({ env }) => env.tpp.transport.kid, SIGNING_KID, "is the transport key's"),
    member("kid", () => "my-key", SIGNING_KID, "is a name of one's own"),
    member("kid", () => undefined, "kid of your signing key", "is missing"),
    member("typ", () => "JWT", "JOSE or absent", "is JWT"),
    member("cty", () => "text/json", "application/json or absent", "is another type"),
    member(
      `${OBIE}tan`,
      () => "openbanking.org.uk",
      ({ addresses }) => `'${new URL(addresses.directoryUrl).host}'`,
      "is the standard's",
    ),
    member(
      `${OBIE}iss`,
      () => "CN=Example Shop",
      ({ env }) => `'${env.tpp.orgId}'`,
      "is a distinguished name",
    ),
    member(`${OBIE}iat`, ({ env }) => seconds(env) * 1000, "at most 3600 s old", "is in milliseconds"),
    member(`${OBIE}iat`, ({ env }) => String(seconds(env)), "a number of Unix seconds", "is a string"),
    mistake(
      ["crit without the claims", "x-jws-signature crit", `${OBIE}iat, ${OBIE}iss, ${OBIE}tan`],
      (bench) => signing(bench, { crit: [`${OBIE}iat`] }),
    ),
    mistake(
      ["an unknown member", "x-jws-signature x5c", "absent"],
      (bench) => signing(bench, { x5c: ["MII"] }),
    ),
    mistake(
      ["signed before the body was serialized again", "x-jws-signature", "the exact bytes of the body"],
      async (bench) => {
        const { env } = bench;
        const signature = await payloadSignature(env, env.tpp, JSON.stringify(consentBody(), null, 2));
        return await consenting(bench, body(), { signature });
      },
    ),
    mistake(["signed with the transport key", "x-jws-signature", "the key that kid names"], async (bench) => {
      const { env } = bench;
      const key = { key: env.tpp.transport.key, kid: env.tpp.signing.kid };
      const signature = await payloadSignature(env, env.tpp, body(), { key });
      return await consenting(bench, body(), { signature });
    }),
    mistake([
      "signed before the body was changed: what arrived can be compared",
      "x-jws-signature",
      "bytes with the SHA-256",
    ], async (bench) => {
      const signature = await payloadSignature(bench.env, bench.env.tpp, body());
      return await consenting(bench, `${body()} `, { signature });
    }),
    mistake(["in padded base64url", "x-jws-signature", "without padding"], async (bench) => {
      const signature = await payloadSignature(bench.env, bench.env.tpp, body());
      return await consenting(bench, body(), { signature: `${signature}==` });
    }),
    mistake(["not detached", "x-jws-signature", "an empty payload segment"], async (bench) => {
      const signature = await payloadSignature(bench.env, bench.env.tpp, body());
      return await consenting(bench, body(), { signature: signature.replace("..", ".e30.") });
    }),
    mistake(
      ["no signature", "x-jws-signature", "a detached JWS over the body"],
      (bench) => consenting(bench, body(), { signature: null }),
    ),
  ],
};

/** A request with one wrong header. */
function header(name: string, value: string | undefined, expected: string, how: string): Mistake {
  return {
    name: `${name} ${how}`,
    part: name,
    expected,
    make: (bench) => consenting(bench, body(), { headers: { [name]: value } }),
  };
}

export const HEADERS: Area = {
  name: "headers of resources",
  role: "TPP",
  mistakes: [
    header("x-idempotency-key", undefined, "required", "is missing"),
    header("x-idempotency-key", "k".repeat(41), "1 to 40 visible characters", "is too long"),
    header("Content-Type", "text/plain", "'application/json'", "is text/plain"),
    header("Content-Encoding", "gzip", "absent", "is gzip"),
    header("x-fapi-interaction-id", "1", "a UUID", "is a number"),
    header("x-fapi-auth-date", "2040-01-15T12:00:00Z", "an HTTP date", "is an ISO date"),
    header("x-fapi-customer-ip-address", "localhost", "an IP address", "is a host name"),
    mistake(
      ["an idempotency key for another body", "x-idempotency-key", "a new key for a new body"],
      async (bench) => {
        const idempotencyKey = crypto.randomUUID();
        await (await consenting(bench, body(), { idempotencyKey })).body?.cancel();
        const other = consentBody({ initiation: { EndToEndIdentification: "another" } });
        return await consenting(bench, other, { idempotencyKey });
      },
    ),
    mistake(
      ["an unknown consent", "the id", "returned to your client"],
      async (bench) =>
        call(bench.env, bench.env.tpp, await bench.token(), `${CONSENTS}/${crypto.randomUUID()}`),
    ),
  ],
};
