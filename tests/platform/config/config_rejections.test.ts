/** `readConfig` names every fault of a configuration, and none with its value. */
import { assert, assertEquals } from "@std/assert";
import type { Environment } from "../../../src/platform/config/config.ts";
import { faultsOf, SOUND_CONFIGURATION } from "support/sound_configuration.ts";

const REJECTED: readonly (readonly [string, Environment, readonly string[]])[] = [
  ["path in PLATFORM_BASE_URL", { PLATFORM_BASE_URL: "https://api.example.com/" }, [
    "PLATFORM_BASE_URL: must be an origin such as https://host, without a path or slash",
  ]],
  ["default port written out", { PLATFORM_AUTH_URL: "https://auth.example.com:443" }, [
    "PLATFORM_AUTH_URL: must be an origin such as https://host, without a path or slash",
  ]],
  ["capital letters", { PLATFORM_BASE_URL: "https://API.example.com" }, [
    "PLATFORM_BASE_URL: must be an origin such as https://host, without a path or slash",
  ]],
  ["a change that two operators cannot make", { PLATFORM_FOUR_EYES: "redrive,everything" }, [
    "PLATFORM_FOUR_EYES: set it to none, or to changes, comma separated: erase-case, close-order, release-restored, revoke-tokens, block-organisation, block-software, unblock-organisation, unblock-software, release-bank, reconcile, redrive",
  ]],
  ["blocks of two operators that one can end [FE7]", {
    PLATFORM_FOUR_EYES: "block-software,block-organisation,unblock-organisation",
  }, [
    "PLATFORM_FOUR_EYES: block-software needs unblock-software too; without it one person alone can do what block-software leaves to two",
  ]],
  ["no URL and no name", { PLATFORM_DIRECTORY_ISSUER: "directory", PLATFORM_PROCESS_NAME: "hub 1" }, [
    "PLATFORM_PROCESS_NAME: must be 1 to 64 visible characters of ASCII",
    "PLATFORM_DIRECTORY_ISSUER: must be an absolute URL",
  ]],
  ["http in production", { PLATFORM_REGISTRATION_AUDIENCE: "http://localhost/registration" }, [
    "PLATFORM_REGISTRATION_AUDIENCE: must be https",
  ]],
  ["http of another host in the sandbox", {
    PLATFORM_ENVIRONMENT: "Sandbox",
    PLATFORM_BASE_URL: "http://api.example.com",
  }, ["PLATFORM_BASE_URL: must be https (http only on loopback)"]],
  ["one host for both", { PLATFORM_AUTH_URL: "https://api.example.com" }, [
    "PLATFORM_BASE_URL and PLATFORM_AUTH_URL: must be different hosts, only one asks for client certificates",
  ]],
  ["a provider of operators without an audience", {
    PLATFORM_OPERATIONS_OIDC_ISSUER: "https://id.example.com",
  }, ["PLATFORM_OPERATIONS_OIDC_ISSUER and PLATFORM_OPERATIONS_OIDC_AUDIENCE: set both, or neither"]],
  ["operators without a port", { PLATFORM_OPERATORS: "/etc/operators.json" }, [
    "PLATFORM_OPERATORS: set PLATFORM_OPERATIONS_PORT too, the port on which operators are answered",
  ]],
  ["one port for participants and operators", { PLATFORM_OPERATIONS_PORT: "8080" }, [
    "PORT and PLATFORM_OPERATIONS_PORT: must be different, proxies reach only one",
  ]],
  ["an operations port that is no port", { PLATFORM_OPERATIONS_PORT: "65536" }, [
    "PLATFORM_OPERATIONS_PORT: set it to a port number",
  ]],
  ["a key set host of no directory", { PLATFORM_DIRECTORY_HOSTS: "keys.example.com" }, [
    "PLATFORM_DIRECTORY_HOSTS: must list directory.example.com, the host of PLATFORM_DIRECTORY_ISSUER",
    "PLATFORM_DIRECTORY_HOSTS: must list directory.example.com, the host of PLATFORM_DIRECTORY_JWKS_URI",
  ]],
  ["a URL as host", { PLATFORM_DIRECTORY_HOSTS: "https://directory.example.com" }, [
    "PLATFORM_DIRECTORY_HOSTS: must be host or host:port values, comma separated, without scheme or path",
  ]],
  ["no host", { PLATFORM_DIRECTORY_HOSTS: " , " }, [
    "PLATFORM_DIRECTORY_HOSTS: must be host or host:port values, comma separated, without scheme or path",
  ]],
  ["port 0", { PORT: "0" }, ["PORT: set it to a port number"]],
  ["port above the last", { PORT: "65536" }, ["PORT: set it to a port number"]],
  ["connections without a bound", { PLATFORM_MAX_CONNECTIONS: "0" }, [
    "PLATFORM_MAX_CONNECTIONS: set it to a number from 10 to 99999",
  ]],
  ["port in another notation", { PORT: "0x1F90" }, ["PORT: set it to a port number"]],
  ["unknown source", { PLATFORM_CLIENT_CERT_SOURCE: "x-client-cert" }, [
    "PLATFORM_CLIENT_CERT_SOURCE: set it to one of client-cert, x-forwarded-client-cert, x-ssl-client-cert",
  ]],
  ["unknown environment, still judged as production", {
    PLATFORM_ENVIRONMENT: "Staging",
    PLATFORM_STORE_URL: ":memory:",
  }, [
    "PLATFORM_ENVIRONMENT: set it to Production or Sandbox",
    "PLATFORM_STORE_URL: :memory: loses every payment at a restart; set the path of a file",
  ]],
  ["unknown log level", { PLATFORM_LOG_LEVEL: "verbose" }, [
    "PLATFORM_LOG_LEVEL: set it to debug, info, warn or error",
  ]],
  ["an account scheme without a format", { PLATFORM_ACCOUNT_SCHEMES: "UK.OBIE.IBAN,CO.Redeban.Account" }, [
    "PLATFORM_ACCOUNT_SCHEMES: set it to schemes, comma separated: UK.OBIE.IBAN, UK.OBIE.BBAN, UK.OBIE.SortCodeAccountNumber, UK.OBIE.PAN, UK.OBIE.Paym, UK.OBIE.Wallet, or others with their format, such as CO.Redeban.Account=digits:6-20 or CO.Redeban.Key=alphanumeric:4-20",
  ]],
  ["an operator that cannot be shown", {
    PLATFORM_OPERATOR_NAME: "\u3164",
    PLATFORM_OPERATOR_LOGO: "/no/such/logo.png",
    PLATFORM_OPERATOR_SUPPORT: "javascript:alert(1)",
    PLATFORM_OPERATOR_TIME_ZONE: "Bogota",
  }, [
    "PLATFORM_OPERATOR_NAME: must be a name that can be read",
    "PLATFORM_OPERATOR_LOGO: set it to the path of a PNG or SVG file of at most 64 KiB",
    "PLATFORM_OPERATOR_SUPPORT: set it to an e-mail address, a telephone number with + or an https address",
    "PLATFORM_OPERATOR_TIME_ZONE: set it to the IANA name of a time zone, such as America/Bogota",
  ]],
  ["a repository that is no folder on the web", {
    PLATFORM_REPOSITORY_URL: "https://code.example.com/platform",
  }, [
    "PLATFORM_REPOSITORY_URL: set it to the https address below which this version's files are, with / at its end",
  ]],
  ["no currencies", { PLATFORM_CURRENCIES: "euro" }, [
    "PLATFORM_CURRENCIES: set it to active ISO 4217 codes, comma separated; not one: euro",
  ]],
  ["currencies that do not exist, or have three decimals [CF23]", {
    PLATFORM_CURRENCIES: "EUR,ZZZ,KWD,JPY,OMR",
  }, [
    "PLATFORM_CURRENCIES: set it to active ISO 4217 codes, comma separated; not one: ZZZ",
    "PLATFORM_CURRENCIES: leave out currencies with three decimals, because amounts have two: KWD, OMR",
  ]],
  ["short secret", { PLATFORM_PROXY_SECRET: "0123456789abcdefghij" }, [
    "PLATFORM_PROXY_SECRET: must have at least 32 characters",
  ]],
  ["secret with a quote", { PLATFORM_PROXY_SECRET: `${SOUND_CONFIGURATION.PLATFORM_PROXY_SECRET}"` }, [
    "PLATFORM_PROXY_SECRET: must be of letters, digits and . _ ~ + / = -",
  ]],
  ["typed secret", { PLATFORM_PROXY_SECRET: "change-me".repeat(5) }, [
    "PLATFORM_PROXY_SECRET: must be random",
  ]],
  ["unknown rate group", { PLATFORM_RATE_LIMITS: "everything=1/1" }, [
    "PLATFORM_RATE_LIMITS: set it to group=perSecond/burst pairs, comma separated; the groups are authorization, " +
    "registration, consents, payments, reads, lists, back_channel, funds",
  ]],
  ["a KV Connect URL as the store [G10]", { PLATFORM_STORE_URL: "https://kv.example.com" }, [
    "PLATFORM_STORE_URL: must be the path of a database file, or postgres://…; other URLs are not supported",
  ]],
  ["sandbox keys", { PLATFORM_KEYS: '{ "environment" : "sandbox", "keys": [] }' }, [
    "PLATFORM_KEYS: these are sandbox keys; make keys of your own with deno task platform-keys make",
  ]],
];

for (const [what, changes, faults] of REJECTED) {
  Deno.test(`readConfig rejects: ${what}`, () => assertEquals(faultsOf(changes), faults));
}

Deno.test("readConfig names faults of every kind at once, those found elsewhere too", () => {
  assertEquals(
    faultsOf({
      PLATFORM_BASE_URL: undefined,
      PORT: "x",
      PLATFORM_AUTH_URL: "auth",
      PLATFORM_STORE_URL: ":memory:",
      PLATFORM_KEEP_CASES_DAYS: "0",
    }, ["PLATFORM_KEYS: is not JSON"]),
    [
      "PLATFORM_BASE_URL: set it to the API host, such as https://api.example.com",
      "PORT: set it to a port number",
      "PLATFORM_AUTH_URL: must be an origin such as https://host, without a path or slash",
      "PLATFORM_KEEP_CASES_DAYS: 0 is for the sandbox; set the retention period that the law requires",
      "PLATFORM_STORE_URL: :memory: loses every payment at a restart; set the path of a file",
      "PLATFORM_KEYS: is not JSON",
    ],
  );
});

Deno.test("readConfig never quotes the secret or the keys", () => {
  const faults = faultsOf({
    PLATFORM_PROXY_SECRET: "secret text",
    PLATFORM_KEYS: '{"environment":"sandbox","keys":["key text"]}',
  });
  assert(faults.length > 0 && !faults.join().includes("secret text") && !faults.join().includes("key text"));
});
