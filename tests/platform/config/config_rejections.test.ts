/** `readConfig` names every fault of a configuration, and none with its value. */
import { assert, assertEquals } from "@std/assert";
import type { Environment } from "../../../src/platform/config/config.ts";
import { faultsOf, SOUND_CONFIGURATION } from "support/sound_configuration.ts";

const REJECTED: readonly (readonly [string, Environment, readonly string[]])[] = [
  ["path in BASE_URL", { BASE_URL: "https://api.example.com/" }, [
    "BASE_URL: must be an origin such as https://host, without a path or slash",
  ]],
  ["default port written out", { AUTH_URL: "https://auth.example.com:443" }, [
    "AUTH_URL: must be an origin such as https://host, without a path or slash",
  ]],
  ["capital letters", { BASE_URL: "https://API.example.com" }, [
    "BASE_URL: must be an origin such as https://host, without a path or slash",
  ]],
  ["a change that two operators cannot make", { FOUR_EYES: "redrive,everything" }, [
    "FOUR_EYES: set it to none, or to changes, comma separated: erase-case, close-order, release-restored, revoke-tokens, block-organisation, block-software, unblock-organisation, unblock-software, release-bank, reconcile, redrive",
  ]],
  ["blocks of two operators that one can end [FE7]", {
    FOUR_EYES: "block-software,block-organisation,unblock-organisation",
  }, [
    "FOUR_EYES: block-software needs unblock-software too; without it one person alone can do what block-software leaves to two",
  ]],
  ["no URL and no name", { DIRECTORY_ISSUER: "directory", PROCESS_NAME: "hub 1" }, [
    "PROCESS_NAME: must be 1 to 64 visible characters of ASCII",
    "DIRECTORY_ISSUER: must be an absolute URL",
  ]],
  ["http in production", { REGISTRATION_AUDIENCE: "http://localhost/registration" }, [
    "REGISTRATION_AUDIENCE: must be https",
  ]],
  ["http of another host in the sandbox", { ENVIRONMENT: "Sandbox", BASE_URL: "http://api.example.com" }, [
    "BASE_URL: must be https (http only on loopback)",
  ]],
  ["one host for both", { AUTH_URL: "https://api.example.com" }, [
    "BASE_URL and AUTH_URL: must be different hosts, only one asks for client certificates",
  ]],
  ["a provider of operators without an audience", { OPERATIONS_OIDC_ISSUER: "https://id.example.com" }, [
    "OPERATIONS_OIDC_ISSUER and OPERATIONS_OIDC_AUDIENCE: set both, or neither",
  ]],
  ["operators without a port", { OPERATORS: "/etc/operators.json" }, [
    "OPERATORS: set OPERATIONS_PORT too, the port on which operators are answered",
  ]],
  ["one port for participants and operators", { OPERATIONS_PORT: "8080" }, [
    "PORT and OPERATIONS_PORT: must be different, proxies reach only one",
  ]],
  ["an operations port that is no port", { OPERATIONS_PORT: "65536" }, [
    "OPERATIONS_PORT: set it to a port number",
  ]],
  ["a key set host of no directory", { DIRECTORY_HOSTS: "keys.example.com" }, [
    "DIRECTORY_HOSTS: must list directory.example.com, the host of DIRECTORY_ISSUER",
    "DIRECTORY_HOSTS: must list directory.example.com, the host of DIRECTORY_JWKS_URI",
  ]],
  ["a URL as host", { DIRECTORY_HOSTS: "https://directory.example.com" }, [
    "DIRECTORY_HOSTS: must be host or host:port values, comma separated, without scheme or path",
  ]],
  ["no host", { DIRECTORY_HOSTS: " , " }, [
    "DIRECTORY_HOSTS: must be host or host:port values, comma separated, without scheme or path",
  ]],
  ["port 0", { PORT: "0" }, ["PORT: set it to a port number"]],
  ["port above the last", { PORT: "65536" }, ["PORT: set it to a port number"]],
  ["connections without a bound", { MAX_CONNECTIONS: "0" }, [
    "MAX_CONNECTIONS: set it to a number from 10 to 99999",
  ]],
  ["port in another notation", { PORT: "0x1F90" }, ["PORT: set it to a port number"]],
  ["unknown source", { CLIENT_CERT_SOURCE: "x-client-cert" }, [
    "CLIENT_CERT_SOURCE: set it to one of client-cert, x-forwarded-client-cert, x-ssl-client-cert",
  ]],
  ["unknown environment, still judged as production", { ENVIRONMENT: "Staging", STORE_URL: ":memory:" }, [
    "ENVIRONMENT: set it to Production or Sandbox",
    "STORE_URL: :memory: loses every payment at a restart; set the path of a file",
  ]],
  ["unknown log level", { LOG_LEVEL: "verbose" }, ["LOG_LEVEL: set it to debug, info, warn or error"]],
  ["an account scheme without a format", { ACCOUNT_SCHEMES: "UK.OBIE.IBAN,CO.Redeban.Account" }, [
    "ACCOUNT_SCHEMES: set it to schemes, comma separated: UK.OBIE.IBAN, UK.OBIE.BBAN, UK.OBIE.SortCodeAccountNumber, UK.OBIE.PAN, UK.OBIE.Paym, UK.OBIE.Wallet, or others with their format, such as CO.Redeban.Account=digits:6-20 or CO.Redeban.Key=alphanumeric:4-20",
  ]],
  ["an operator that cannot be shown", {
    OPERATOR_NAME: "\u3164",
    OPERATOR_LOGO: "/no/such/logo.png",
    OPERATOR_SUPPORT: "javascript:alert(1)",
    OPERATOR_TIME_ZONE: "Bogota",
  }, [
    "OPERATOR_NAME: must be a name that can be read",
    "OPERATOR_LOGO: set it to the path of a PNG or SVG file of at most 64 KiB",
    "OPERATOR_SUPPORT: set it to an e-mail address, a telephone number with + or an https address",
    "OPERATOR_TIME_ZONE: set it to the IANA name of a time zone, such as America/Bogota",
  ]],
  ["a repository that is no folder on the web", { REPOSITORY_URL: "https://code.example.com/platform" }, [
    "REPOSITORY_URL: set it to the https address below which this version's files are, with / at its end",
  ]],
  ["no currencies", { CURRENCIES: "euro" }, [
    "CURRENCIES: set it to active ISO 4217 codes, comma separated; not one: euro",
  ]],
  ["currencies that do not exist, or have three decimals [CF23]", { CURRENCIES: "EUR,ZZZ,KWD,JPY,OMR" }, [
    "CURRENCIES: set it to active ISO 4217 codes, comma separated; not one: ZZZ",
    "CURRENCIES: leave out currencies with three decimals, because amounts have two: KWD, OMR",
  ]],
  ["short secret", { PROXY_SECRET: "0123456789abcdefghij" }, [
    "PROXY_SECRET: must have at least 32 characters",
  ]],
  ["secret with a quote", { PROXY_SECRET: `${SOUND_CONFIGURATION.PROXY_SECRET}"` }, [
    "PROXY_SECRET: must be of letters, digits and . _ ~ + / = -",
  ]],
  ["typed secret", { PROXY_SECRET: "change-me".repeat(5) }, ["PROXY_SECRET: must be random"]],
  ["unknown rate group", { RATE_LIMITS: "everything=1/1" }, [
    "RATE_LIMITS: set it to group=perSecond/burst pairs, comma separated; the groups are authorization, " +
    "registration, consents, payments, reads, lists, back_channel, funds",
  ]],
  ["a KV Connect URL as the store [G10]", { STORE_URL: "https://kv.example.com" }, [
    "STORE_URL: must be the path of a database file, or postgres://…; other URLs are not supported",
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
    faultsOf({ BASE_URL: undefined, PORT: "x", AUTH_URL: "auth", STORE_URL: ":memory:" }, [
      "PLATFORM_KEYS: is not JSON",
    ]),
    [
      "BASE_URL: set it to the API host, such as https://api.example.com",
      "PORT: set it to a port number",
      "AUTH_URL: must be an origin such as https://host, without a path or slash",
      "STORE_URL: :memory: loses every payment at a restart; set the path of a file",
      "PLATFORM_KEYS: is not JSON",
    ],
  );
});

Deno.test("readConfig never quotes the secret or the keys", () => {
  const faults = faultsOf({
    PROXY_SECRET: "secret text",
    PLATFORM_KEYS: '{"environment":"sandbox","keys":["key text"]}',
  });
  assert(faults.length > 0 && !faults.join().includes("secret text") && !faults.join().includes("key text"));
});
