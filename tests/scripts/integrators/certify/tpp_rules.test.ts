/** The rules for a TPP's JWTs judge them as they were when they were sent, and as the platform compares them. */
import { assertEquals } from "@std/assert";
import type { Exchange } from "../../../../scripts/integrators/certify/tpp/exchange.ts";
import {
  judgeAssertion,
  judgeProof,
  type Seen,
} from "../../../../scripts/integrators/certify/tpp/request_rules.ts";

const CLIENT = "client";
const AUTH_URL = "http://localhost:8541";
const seen = {
  bench: { participant: { client_id: CLIENT }, endpoints: { auth_url: AUTH_URL } },
} as Seen;

function jwt(header: object, claims: object): string {
  const [first, second] = [header, claims].map((part) =>
    new TextEncoder().encode(JSON.stringify(part)).toBase64({ alphabet: "base64url", omitPadding: true })
  );
  return `${first}.${second}.c2lnbmF0dXJl`;
}

/** A token request, received so many seconds ago. */
function exchange(secondsAgo: number, dpop: string, body: string): Exchange {
  return {
    at: performance.now() - secondsAgo * 1000,
    endpoint: "token",
    bank: "BANKA",
    method: "POST",
    url: new URL("https://localhost:8540/BANKA/token.oauth2/v1"),
    headers: new Headers({ dpop }),
    body,
  };
}

Deno.test("a client assertion without iat is judged by the time of its request [SB11, CA10, CA11]", () => {
  const now = Math.floor(Date.now() / 1000);
  const sentAgo = (seconds: number, lifetime: number) => {
    const claims = { iss: CLIENT, sub: CLIENT, aud: `${AUTH_URL}/BANKA`, exp: now - seconds + lifetime };
    const form = new URLSearchParams({ client_assertion: jwt({ alg: "PS256" }, claims) });
    return judgeAssertion(exchange(seconds, "", form.toString()), seen);
  };
  assertEquals(sentAgo(100, 300), false);
  assertEquals(sentAgo(100, 330), "it is valid for 330 s");
});

Deno.test("the address in a DPoP proof is compared after normalisation [SB11, DP9]", () => {
  const judge = (htu: string) => {
    const claims = { htm: "POST", htu, iat: Math.floor(Date.now() / 1000) };
    return judgeProof(exchange(0, jwt({ typ: "dpop+jwt", alg: "PS256", jwk: {} }, claims), ""));
  };
  const fault = "htu is not the address without query and fragment";
  assertEquals([
    judge("https://localhost:8540/BANKA/token.oauth2/v1"),
    judge("HTTPS://LOCALHOST:8540/BANKA/./token.oauth2/v1"),
    judge("https://localhost:8540/BANKA/token.oauth2/v1?a=b"),
    judge("https://localhost:8540/BANKB/token.oauth2/v1"),
  ], [false, false, fault, fault]);
});
