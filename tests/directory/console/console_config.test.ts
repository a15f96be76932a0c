/** The configuration of certifications and of the console. */
import { assertEquals, assertRejects } from "@std/assert";
import { DirectoryConfigError } from "../../../src/directory/process/config.ts";
import { CERTIFIER, CERTIFIER_KID } from "../certification/certified.ts";
import { read } from "../process/config_values.ts";

Deno.test("readDirectoryConfig reads the certifiers' keys, and how old a report may be [E5]", async () => {
  const DIRECTORY_CERTIFIERS = "certifiers.json";
  const { certification } = await read({ DIRECTORY_CERTIFIERS, DIRECTORY_REQUIRE_CERTIFICATION: "365" });
  assertEquals(certification.requiredDays, 365);
  assertEquals(certification.certifiers.find(CERTIFIER_KID)?.issuer, CERTIFIER);
  assertEquals((await read({ DIRECTORY_CERTIFIERS })).certification.requiredDays, undefined);
  const faulty = async (changes: Record<string, string>): Promise<readonly string[]> =>
    (await assertRejects(() => read(changes), DirectoryConfigError)).faults;
  assertEquals(await faulty({ DIRECTORY_REQUIRE_CERTIFICATION: "365" }), [
    "DIRECTORY_REQUIRE_CERTIFICATION: set DIRECTORY_CERTIFIERS too, or no participant can get a statement",
  ]);
  const sandbox = {
    DIRECTORY_ENVIRONMENT: "Sandbox",
    DIRECTORY_CERTIFIERS,
    DIRECTORY_REQUIRE_CERTIFICATION: "365",
  };
  assertEquals(await faulty(sandbox), [
    "DIRECTORY_REQUIRE_CERTIFICATION: statements of DIRECTORY_ENVIRONMENT=Sandbox need no certification; leave it out",
  ]);
  for (const days of ["0", "-1", "1.5", "on", "10000"]) {
    assertEquals(await faulty({ DIRECTORY_CERTIFIERS, DIRECTORY_REQUIRE_CERTIFICATION: days }), [
      "DIRECTORY_REQUIRE_CERTIFICATION: set it to the days that a passed report lets statements be issued, from 1 to 9999",
    ]);
  }
  assertEquals(await faulty({ DIRECTORY_CERTIFIERS: "nowhere.json" }), [
    "DIRECTORY_CERTIFIERS: the file nowhere.json cannot be read by this process",
  ]);
  assertEquals(await faulty({ DIRECTORY_CERTIFIERS: "administrators.json" }), [
    "DIRECTORY_CERTIFIERS: is not a JWK set whose keys have kid and iss (the certifier's address); look at: keys",
  ]);
});

Deno.test("readDirectoryConfig reads the console's address and its OpenID provider [DRC1]", async () => {
  const DIRECTORY_CONSOLE_URL = "https://directory-admin.example";
  const DIRECTORY_OIDC_ISSUER = "https://id.example/realm";
  const provider = {
    DIRECTORY_OIDC_ISSUER,
    DIRECTORY_OIDC_CLIENT_ID: "directory",
    DIRECTORY_OIDC_CLIENT_SECRET: "a-secret-of-at-least-32-characters",
  };
  const { console } = await read({
    DIRECTORY_CONSOLE_URL,
    ...provider,
    DIRECTORY_OIDC_ROLES: "groups",
    DIRECTORY_OIDC_ORGANISATION: "org",
  });
  assertEquals(console, {
    url: DIRECTORY_CONSOLE_URL,
    provider: {
      issuer: DIRECTORY_OIDC_ISSUER,
      rolesClaim: "groups",
      organisationClaim: "org",
      client: { id: "directory", secret: provider.DIRECTORY_OIDC_CLIENT_SECRET },
    },
  });
  const faulty = async (changes: Record<string, string>): Promise<readonly string[]> =>
    (await assertRejects(() => read(changes), DirectoryConfigError)).faults.map((fault: string) =>
      fault.slice(0, fault.indexOf(":"))
    );
  for (const url of ["http://admin.example", "https://admin.example/", "https://admin.example/x", "admin"]) {
    assertEquals(await faulty({ DIRECTORY_CONSOLE_URL: url }), ["DIRECTORY_CONSOLE_URL"], url);
  }
  for (const issuer of ["http://id.example", "http://localhost:9000", "https://id.example?x", "id"]) {
    assertEquals(await faulty({ ...provider, DIRECTORY_OIDC_ISSUER: issuer }), ["DIRECTORY_OIDC_ISSUER"]);
  }
  const all = "DIRECTORY_OIDC_ISSUER, DIRECTORY_OIDC_CLIENT_ID, DIRECTORY_OIDC_CLIENT_SECRET";
  assertEquals(await faulty({ DIRECTORY_OIDC_ISSUER }), [all]);
  assertEquals(await faulty({ ...provider, DIRECTORY_OIDC_CLIENT_SECRET: "short" }), [
    "DIRECTORY_OIDC_CLIENT_SECRET",
  ]);
});
