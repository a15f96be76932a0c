/**
 * Which redirect URLs a client may register [DC9], the words about metadata that its statement excludes [G8], and the
 * whole of a client.
 */
import { assertEquals } from "@std/assert";
import { checkMetadata, isRedirectUri } from "../../../../src/platform/core/registration/client_metadata.ts";
import { explanation } from "../../../../src/base/kernel/result.ts";
import { digest } from "../../../../src/platform/evidence/digest.ts";
import {
  applyStatement,
  asBank,
  type Client,
  clientFrom,
  isNewerThan,
  nameOfClient,
} from "../../../../src/platform/core/registration/client.ts";

/** Each URL: whether it is accepted in production, and with redirects to this computer (the sandbox). */
const URLS: Readonly<Record<string, readonly [production: boolean, sandbox: boolean]>> = {
  "https://shop.example/callback?tenant=1": [true, true],
  "https://localhost/callback": [true, true],
  "http://localhost:8080/callback": [false, true],
  "http://127.0.0.1:8080/callback": [false, true],
  "http://[::1]:8080/callback": [false, true],
  "http://shop.example/callback": [false, false],
  "http://localhost.shop.example/callback": [false, false],
  "http://127.0.0.1.shop.example/callback": [false, false],
  "ftp://localhost/callback": [false, false],
  "shop:/callback": [false, false],
  "callback": [false, false],
  "https://shop.example/callback#part": [false, false],
  "https://shop.example/*": [false, false],
  "https://user@shop.example/callback": [false, false],
  "https://:password@shop.example/callback": [false, false],
  "https://shop.example/callback?state=1": [false, false],
  "https://shop.example/callback?code=1": [false, false],
};

Deno.test("a redirect URL is https without fragment, wildcard, credentials and the answer's parameters; http only on this computer's loopback in the sandbox [DC9]", () => {
  for (const [url, expected] of Object.entries(URLS)) {
    assertEquals([false, true].map((loopback) => isRedirectUri(url, "PISP", loopback)), [...expected], url);
  }
});

type Metadata = Parameters<typeof checkMetadata>[0];
type Statement = Parameters<typeof checkMetadata>[1];

const TPP = "client_credentials authorization_code".split(" ");
const LONG = `https://shop.example/${"a".repeat(2048)}`;
const STATED = ["https://shop.example/1", "https://shop.example/2?n=2", "https://shop.example/3#top", LONG];
const STATED_TEXT =
  "'https://shop.example/1' or 'https://shop.example/2?n=2' or 'https://shop.example/3#top'";

/** What the participant reads about metadata of a role; undefined if they are accepted. */
function words(role: "PISP" | "ASPSP", changes: Partial<Metadata>, stated: readonly string[] = STATED) {
  const statement: Partial<Statement> = {
    role,
    orgName: "Shop Ltd",
    orgId: "shop",
    softwareId: "app",
    redirectUris: stated,
  };
  const metadata: Partial<Metadata> = {
    aud: "https://platform.example",
    iss: "shop",
    scope: role === "PISP" ? "payments" : "bank",
    grant_types: role === "PISP" ? TPP : ["authorization_code"],
    redirect_uris: stated.slice(0, 1),
    ...changes,
  };
  const rules = { audience: "https://platform.example", loopbackRedirects: false };
  const checked = checkMetadata(metadata as Metadata, statement as Statement, rules);
  if (checked.ok) return undefined;
  const { reason, description } = checked.fault;
  return [reason.replace("registration.invalid_", ""), description, explanation(checked.fault)];
}

Deno.test("metadata that the statement excludes are rejected in words that name the expected value [DC9] [DC10] [G8]", () => {
  const uris = (
    rest: string,
  ) => ["redirect_uri", undefined, `registration JWT redirect_uris must be ${rest}.`];
  const other = (description: string, rest: string) => [
    "client_metadata",
    description,
    `registration JWT ${rest}.`,
  ];
  const [one = "", two = "", fragment = ""] = STATED;
  const urls = (value: unknown, stated?: readonly string[]) =>
    words("PISP", { redirect_uris: value }, stated);
  const plain = (n: number): string[] => Array.from({ length: n }, (_, i) => `https://shop.example/${i}`);
  for (const good of [[one], [two, one]]) assertEquals(urls(good), undefined);
  assertEquals(urls(plain(4), plain(4)), undefined);
  assertEquals(urls([LONG.slice(0, 2048)], [LONG.slice(0, 2048)]), undefined);
  assertEquals(urls(undefined), uris("1 to 4 URLs"));
  assertEquals(urls("https://shop.example/1"), uris("1 to 4 URLs; got 'https://shop.example/1'"));
  for (const bad of [[], [1], plain(5), [LONG.slice(0, 2049)]]) {
    assertEquals(urls(bad), uris("1 to 4 URLs; got an array"));
  }
  assertEquals(urls([one, one]), uris("without duplicates"));
  assertEquals(
    urls([one, "https://evil.example/"], STATED.slice(0, 3)),
    uris(`those of the software statement: ${STATED_TEXT}; got 'https://evil.example/'`),
  );
  assertEquals(
    urls([one, fragment]),
    uris(`https URLs without fragment, wildcard and user name; got '${fragment}'`),
  );
  for (const [role, name] of [["PISP", "state"], ["ASPSP", "oAuthUrl"]] as const) {
    const odd = `https://shop.example/?${name}=1`;
    const without = `https URLs without the parameter ${name}, which the platform adds; got '${odd}'`;
    assertEquals(words(role, {}, [odd]), uris(without));
  }
  assertEquals(words("ASPSP", { redirect_uris: [one, two] }), uris("1 to 1 URLs; got an array"));
  assertEquals(
    words("PISP", { aud: "x" }),
    other(
      "aud is not this platform's registration audience.",
      "aud must be 'https://platform.example' (the registration audience); got 'x'",
    ),
  );
  assertEquals(words("PISP", { iss: "Shop Ltd", software_id: "app" }), undefined);
  assertEquals(
    words("PISP", { iss: "x" }),
    other("iss is not the participant.", "iss must be 'Shop Ltd' or 'shop'; got 'x'"),
  );
  assertEquals(
    words("PISP", { software_id: "x" }),
    other("software_id differs from the software statement.", "software_id must be 'app'; got 'x'"),
  );
  for (const scope of ["bank", "", "payments bank"]) {
    assertEquals(
      words("PISP", { scope }),
      other("scope must be payments for this role.", `scope must be 'payments'; got '${scope}'`),
    );
  }
  assertEquals(words("PISP", { scope: " payments  payments " }), undefined);
  for (const grant_types of [TPP.slice(1), [...TPP, "implicit"], [...TPP, ...TPP]]) {
    assertEquals(
      words("PISP", { grant_types }),
      other(
        "grant_types must be client_credentials and authorization_code for this role.",
        `grant_types must be client_credentials and authorization_code; got '${grant_types.join(" ")}'`,
      ),
    );
  }
  assertEquals(words("ASPSP", { grant_types: TPP }), undefined);
});

const STATEMENT = {
  clientId: "SC-1",
  orgId: "ORG-1",
  orgName: "Shop Ltd",
  softwareId: "software",
  softwareName: "Shop",
  role: "PISP",
  redirectUris: ["https://shop.example/one", "https://shop.example/two"],
  jwksUri: "https://directory.example/jwks",
  revokedJwksUri: "https://directory.example/revoked",
  consentManagedByBank: false,
  resultsOnBackChannel: true,
  issuedAt: 100,
  text: "statement",
};
const OPTIONAL = {
  registrationNumber: "R1",
  clientUri: "https://shop.example",
  logoUri: "https://shop.example/logo.png",
  paymentOrdersUri: "https://bank.example/orders",
  eventNotificationUri: "https://shop.example/events",
};

Deno.test("a client has the whole of its statement, and a newer one keeps the times and the redirect URLs that it states [G5]", () => {
  const metadata = { redirectUris: ["https://shop.example/two"], grantTypes: ["authorization_code"] };
  const times = { registeredAt: 1, updatedAt: 2, registration: 3 };
  const { issuedAt, text, ...stated } = STATEMENT;
  const expected = {
    ...stated,
    ...metadata,
    ...times,
    scope: "payments",
    statementIssuedAt: issuedAt,
    statementSha256: digest(text),
  };
  const made = (more: object): Client => clientFrom({ ...STATEMENT, ...more } as never, metadata, times);
  assertEquals<unknown>(made({}), expected);
  assertEquals<unknown>(made(OPTIONAL), { ...expected, ...OPTIONAL });
  assertEquals(made({ role: "ASPSP" }).scope, "bank");
  const newer = { ...STATEMENT, issuedAt: 101, text: "newer", orgName: "Shop plc" } as never;
  const applied = {
    ...expected,
    orgName: "Shop plc",
    updatedAt: 9,
    statementIssuedAt: 101,
    registeredWith: 100,
  };
  assertEquals<unknown>(applyStatement(made({}), newer, 9), { ...applied, statementSha256: digest("newer") });
  const twice = applyStatement({ ...made({}), registeredWith: 50 }, newer, 9);
  assertEquals(twice?.registeredWith, 50);
  const moved = (role: string, redirectUris: readonly string[]): readonly string[] | undefined =>
    applyStatement(made({ role }), { ...STATEMENT, role, redirectUris } as never, 9)?.redirectUris;
  const [one, two] = STATEMENT.redirectUris as [string, string];
  assertEquals([moved("PISP", [one]), moved("PISP", [two, one])], [[], [two]]);
  assertEquals([moved("ASPSP", [one]), moved("ASPSP", [two])], [[one], [two]]);
  assertEquals([moved("ASPSP", [one, "https://shop.example/three"]), moved("ASPSP", [])], [
    undefined,
    undefined,
  ]);
});

Deno.test("a statement is new if it is no older than the current one and was not registered with [G5]", () => {
  const isNew = (issuedAt: number, registeredWith?: number): boolean =>
    isNewerThan(
      issuedAt,
      { statementIssuedAt: 100, ...registeredWith !== undefined && { registeredWith } } as Client,
    );
  assertEquals([isNew(99), isNew(100), isNew(101)], [false, false, true]);
  assertEquals([isNew(99, 98), isNew(100, 98), isNew(100, 100), isNew(101, 98)], [false, true, false, true]);
});

Deno.test("a bank is a client with the role of one, by its org_id [A4]", () => {
  const client = clientFrom({ ...STATEMENT, orgId: "BANKA", role: "ASPSP" } as never, {
    redirectUris: [],
    grantTypes: [],
  }, { registeredAt: 1, updatedAt: 2, registration: 3 });
  assertEquals<unknown>(asBank(client), { ...client, role: "ASPSP", code: "BANKA" });
  assertEquals([asBank({ ...client, role: "PISP" }), asBank({ ...client, orgId: "no code" })], [null, null]);
  assertEquals(nameOfClient(client), "Shop Ltd · Shop");
});
