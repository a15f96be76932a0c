/** `POST /register/v1`: software statements that must not be believed (contract DC2-DC4, DC-N2 to DC-N7, DC-N21). */
import type { Signer } from "testing/jwts.ts";
import { testKey } from "testing/keys.ts";
import { onboardOnly, type Participant } from "testing/participants.ts";
import {
  assertRejected,
  directorySigner,
  MANY_REGISTRATIONS,
  NEWCOMER,
  postRegistration,
  statementWith,
} from "testing/registration.ts";
import { DIRECTORY_URL, openEnvironment } from "testing/environment.ts";
import { claiming, type MakeStatement, rejectAll } from "./statements.ts";

function without(...names: readonly string[]): MakeStatement {
  return claiming(Object.fromEntries(names.map((name) => [name, undefined])));
}

Deno.test("POST register rejects a registration without a statement [DC-N2]", async (t) => {
  const values = {
    software_client_id: "SC-5b3c9e0e-7d0b-4a53-9d53-0c6f1b2a7c11",
    software_redirect_uris: ["https://new.example/callback"],
    org_id: "newshop",
  };
  await using env = await openEnvironment(MANY_REGISTRATIONS);
  const newcomer = await onboardOnly(env, NEWCOMER);
  for (
    const [name, claims] of Object.entries({
      "left out, its values put beside it": { software_statement: undefined, ...values },
      "an object": { software_statement: values },
      "null": { software_statement: null },
      "an empty string": { software_statement: "" },
    })
  ) {
    await t.step(name, async () => {
      const attempt = (): Promise<Response> => postRegistration(env, newcomer, { claims });
      await assertRejected(env, attempt, 400, "invalid_software_statement");
    });
  }
});

Deno.test("POST register rejects a statement by anybody but the directory [DC-N4] [DC2]", async (t) => {
  await rejectAll(t, "invalid_software_statement", {
    "the participant's signing key": (newcomer) => statementWith(newcomer, { signer: newcomer.signing }),
    "the participant's key under the directory's kid": async (newcomer) => {
      const { kid } = await directorySigner();
      return await statementWith(newcomer, { signer: { key: newcomer.signing.key, kid } });
    },
    "another participant's key": (newcomer, env) => statementWith(newcomer, { signer: env.bankA.signing }),
  });
});

Deno.test("POST register rejects a statement of another directory, state or environment [DC-N5] [DC3]", async (t) => {
  const otherDirectory = async (newcomer: Participant): Promise<string> => {
    const signer: Signer = { key: await testKey(15), kid: "other-directory" };
    return await statementWith(newcomer, { signer, claims: { iss: "https://other-directory.example" } });
  };
  await rejectAll(t, "unapproved_software_statement", {
    "another directory": otherDirectory,
    "another issuer, the directory's key": claiming({ iss: "https://other-directory.example" }),
    "the issuer with a slash": claiming({ iss: `${DIRECTORY_URL}/` }),
    "software Inactive": claiming({ software_client_status: "Inactive" }),
    "software Revoked": claiming({ software_client_status: "Revoked" }),
    "software active in lower case": claiming({ software_client_status: "active" }),
    "environment Sandbox": claiming({ software_environment: "Sandbox" }),
    "an unknown role": claiming({ software_roles: ["AISP"] }),
    "a bank whose org_id is no bank code": claiming({ software_roles: ["ASPSP"], org_id: "bank a" }),
    ...Object.fromEntries(
      ["health", "Operations", "docs", "jwks", "assets", "register", "problem", "__proto__", "toString"].map(
        (code) => [`a bank named ${code}`, claiming({ software_roles: ["ASPSP"], org_id: code })],
      ),
    ),
  });
});

Deno.test("POST register rejects a statement without one of its members [DC2]", async (t) => {
  const names = [
    "jti",
    "software_client_id",
    "software_id",
    "software_client_name",
    "software_client_status",
    "software_environment",
    "software_roles",
    "software_redirect_uris",
    "org_id",
    "org_name",
    "org_jwks_endpoint",
    "org_jwks_revoked_endpoint",
  ];
  await rejectAll(t, "invalid_software_statement", {
    ...Object.fromEntries(names.map((name) => [`${name} missing`, without(name)])),
    "iss missing": without("iss"),
    "a client id of another form [DC14]": claiming({ software_client_id: "SC-1" }),
    "a client id like a user name [DC14]": claiming({ software_client_id: "alice" }),
    "two roles [DC3]": claiming({ software_roles: ["PISP", "ASPSP"] }),
    "no role [DC3]": claiming({ software_roles: [] }),
    "a redirect URL of 2049 characters [DC9]": claiming({
      software_redirect_uris: ["https://new.example/callback", `https://new.example/${"a".repeat(2029)}`],
    }),
    "consent_managedby_bank as a string": claiming({ consent_managedby_bank: "true" }),
  });
});
