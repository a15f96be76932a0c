/** Which redirect URLs a client may register [DC9], and the words about metadata that its statement excludes [G8]. */
import { assertEquals } from "@std/assert";
import { checkMetadata, isRedirectUri } from "../../../../src/platform/core/registration/client_metadata.ts";
import { explanation } from "../../../../src/base/kernel/result.ts";

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
