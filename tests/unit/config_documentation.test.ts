/** DEPLOYMENT.md tells of every variable, with the default that the code has, and gives the rights that are needed. */
import { assert, assertEquals } from "@std/assert";
import { readConfig, VARIABLES } from "../../src/config.ts";

const text = await Deno.readTextFile(new URL("../../DEPLOYMENT.md", import.meta.url));

Deno.test("DEPLOYMENT.md has a row for every variable, and for no other", () => {
  const rows = [...text.matchAll(/^\| `([A-Z_]+)` +\|/gm)].map(([, name = ""]) => name);
  assertEquals(rows.sort(), [...VARIABLES].sort());
});

Deno.test("DEPLOYMENT.md tells the defaults that readConfig gives", () => {
  const config = readConfig({
    BASE_URL: "https://api.example.com",
    AUTH_URL: "https://auth.example.com",
    STORE_URL: "/var/lib/payment-platform/platform.kv",
    PLATFORM_KEYS: '{"keys":[]}',
    DIRECTORY_ISSUER: "https://directory.example.com",
    DIRECTORY_JWKS_URI: "https://directory.example.com/jwks",
    DIRECTORY_HOSTS: "directory.example.com",
    REGISTRATION_AUDIENCE: "https://directory.example.com/registration",
    PROXY_SECRET: "0123456789abcdefghijABCDEFGHIJ._~+/=-",
  });
  const defaults: Readonly<Record<string, string>> = {
    HOST: config.host,
    PORT: String(config.port),
    CLIENT_CERT_SOURCE: config.clientCertSource,
    ENVIRONMENT: config.environment,
    LOG_LEVEL: config.logLevel,
    CURRENCIES: config.currencies.join(","),
  };
  for (const [name, value] of Object.entries(defaults)) {
    assert(RegExp(`^\\| \`${name}\` +\\| \`${value}\` +\\|`, "m").test(text), name);
  }
  for (const [group, { perSecond, burst }] of Object.entries(config.rateLimits)) {
    assert(text.includes(`\`${group}=${perSecond}/${burst}\``), group);
  }
});

Deno.test("DEPLOYMENT.md gives its service the right to read each variable and no other", () => {
  const allowed = /ExecStart=.* --allow-env=(\S+)/.exec(text)?.[1]?.split(",");
  assertEquals(allowed?.sort(), [...VARIABLES].sort());
});
