/** Identifiers, scopes, PKCE values and documents fetched from others: total functions with one idea of what is good. */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import {
  asBankCode,
  asClientId,
  asConsentId,
  asPaymentId,
  base64url,
  isUuid,
} from "../../src/base/kernel/identifiers.ts";
import { ApiError } from "../../src/base/kernel/api_error.ts";
import { isSha256Text, matchesChallenge } from "../../src/platform/core/oauth/pkce.ts";
import { requireScope } from "../../src/platform/core/oauth/token_response.ts";
import { guardedFetch } from "../../src/platform/core/participants/guarded_fetch.ts";
import type { Caller } from "../../src/platform/guards/security/caller.ts";
import { attempt, mutated, runs } from "./runs.ts";

const UUID = "58923a3a-2f0c-4d6e-9b1e-3c1f7f0d8a11";
const anything = fc.oneof(
  fc.anything(),
  fc.string(),
  fc.uuid(),
  mutated(UUID, "-0aF\n \u0660"),
  mutated(`SC-${UUID}`, "-0aFSC\n "),
  mutated("BANK-A_1", "-_0a\n .%/"),
);

Deno.test("identifiers are taken in one form, and their form is a fixed point", () => {
  fc.assert(
    fc.property(anything, (value) => {
      const id = asConsentId(value);
      assertEquals(id !== undefined, isUuid(value));
      assertEquals<unknown>(asPaymentId(value), id);
      if (id !== undefined) {
        assertEquals([id.length, id, asConsentId(id)], [36, String(value).toLowerCase(), id]);
      }
      const client = asClientId(value);
      if (client !== undefined) {
        assert(client === value && isUuid(client.slice(3)) && client.startsWith("SC-"));
      }
      const bank = asBankCode(value);
      if (bank !== undefined) {
        assert(bank === value && encodeURIComponent(bank) === bank && bank.length <= 32);
      }
    }),
    runs(5000),
  );
});

Deno.test("matchesChallenge holds for a well-formed verifier and its own SHA-256 alone [PA6] [TA5]", async () => {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  const verifier = fc.array(fc.constantFrom(...alphabet), { minLength: 40, maxLength: 132 }).map((letters) =>
    letters.join("")
  );
  await fc.assert(
    fc.asyncProperty(fc.oneof(verifier, verifier.chain((text) => mutated(text, "=+/ \n"))), async (text) => {
      const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
      const challenge = base64url(digest);
      assert(isSha256Text(challenge));
      const formed = text.length >= 43 && text.length <= 128 &&
        [...text].every((letter) => alphabet.includes(letter));
      assertEquals(await matchesChallenge(text, challenge), formed);
      assertEquals(await matchesChallenge(text, text.slice(0, 43)), false);
    }),
    runs(500),
  );
});

const CALLER = {
  orgId: "BANKA",
  softwareId: "x",
  registration: 1,
  statementSha256: "x",
  jwksUri: "x",
  revokedJwksUri: "x",
};

Deno.test("requireScope gives the role's one scope, however often and in whatever order, or rejects [TC3]", () => {
  const [clientId, bank] = [asClientId(`SC-${UUID}`), asBankCode("BANKA")];
  if (clientId === undefined || bank === undefined) throw new Error("the ids are wrong");
  const text = fc.oneof(
    fc.string(),
    fc.array(fc.constantFrom("payments", "bank", "openid", "", "PAYMENTS"), { maxLength: 4 }).map((all) =>
      all.join(" ")
    ),
    mutated("payments payments", " \t,payments"),
  );
  for (const [role, scope] of [["PISP", "payments"], ["ASPSP", "bank"]] as const) {
    const caller: Caller = { ...CALLER, clientId, role };
    fc.assert(
      fc.property(fc.option(text, { nil: undefined }), (asked) => {
        const given = attempt(() => requireScope(asked, caller, bank));
        const words = (asked ?? "").split(" ").filter((word) => word !== "");
        if (given instanceof ApiError) assertEquals(given.reason, "oauth.invalid_scope");
        assertEquals(given === scope, words.length > 0 && words.every((word) => word === scope));
      }),
      runs(1000),
    );
  }
});

Deno.test("guardedFetch makes a document or a reason of any answer, in any pieces", async () => {
  const body = fc.oneof(fc.uint8Array(), fc.json().map((text) => new TextEncoder().encode(text)));
  const status = fc.constantFrom(200, 200, 200, 201, 301, 404, 500);
  await fc.assert(
    fc.asyncProperty(body, status, fc.boolean(), async (bytes, code, broken) => {
      const stream = new ReadableStream({
        start(controller): void {
          for (const octet of bytes) controller.enqueue(new Uint8Array([octet]));
          if (broken) controller.error(new TypeError("connection reset"));
          else controller.close();
        },
      });
      const fetchJson = guardedFetch({
        fetch: () => Promise.resolve(new Response(stream, { status: code })),
        allowedHosts: ["directory.example"],
        loopbackHttp: false,
      });
      const fetched = await fetchJson("https://directory.example/jwks");
      if (fetched.ok) assertEquals(JSON.parse(new TextDecoder().decode(bytes)), fetched.value);
      assert(!fetched.ok || (code === 200 && !broken));
    }),
    runs(200),
  );
});
