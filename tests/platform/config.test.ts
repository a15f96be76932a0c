/** `readConfig`: what a deployment may be, the defaults, and that every fault is named, none with its value. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  type Config,
  ConfigError,
  type Environment,
  readConfig,
  VARIABLES,
} from "../../src/platform/config.ts";
import { OBIE_SCHEMES } from "../../src/base/values/account_schemes.ts";
import { SOUND_CONFIGURATION } from "support/sound_configuration.ts";

function faultsOf(changes: Environment, elsewhere: readonly string[] = []): readonly string[] {
  return assertThrows(() => readConfig({ ...SOUND_CONFIGURATION, ...changes }, elsewhere), ConfigError)
    .faults;
}

Deno.test("readConfig gives the defaults where a variable is unset or empty", () => {
  const expected: Config = {
    baseUrl: "https://api.example.com",
    authUrl: "https://auth.example.com",
    host: "127.0.0.1",
    port: 8080,
    maxConnections: 400,
    storeUrl: "/var/lib/payment-platform/platform.kv",
    cells: new Map(),
    cell: "home",
    platformKeys: '{"keys":[]}',
    directoryIssuer: "https://directory.example.com",
    directoryJwksUri: "https://directory.example.com/jwks",
    directoryHosts: ["directory.example.com"],
    registrationAudience: "https://directory.example.com/registration",
    clientCertSource: "client-cert",
    proxySecret: "0123456789abcdefghijABCDEFGHIJ._~+/=-",
    operationsHost: "127.0.0.1",
    operationsPort: undefined,
    operatorsOidc: undefined,
    spanCollector: undefined,
    operationsUrl: "http://localhost:80",
    operatorsFile: undefined,
    environment: "Production",
    logLevel: "info",
    requestsInWork: 8,
    requestWaitSeconds: 2,
    lameDuckSeconds: 0,
    keepUnauthorisedDays: 30,
    keepCasesDays: 1826,
    ...{ eraseCasesDays: undefined, deleteHistoriesDays: undefined },
    dataKeysStore: "/var/lib/payment-platform/platform.kv.keys",
    sealsData: true,
    fourEyes: [],
    traceDays: 7,
    reportDays: 400,
    eventDays: 7,
    rateLimits: {
      authorization: { perSecond: 20, burst: 40 },
      registration: { perSecond: 1, burst: 5 },
      consents: { perSecond: 50, burst: 100 },
      payments: { perSecond: 50, burst: 100 },
      reads: { perSecond: 100, burst: 200 },
      lists: { perSecond: 2, burst: 10 },
      back_channel: { perSecond: 100, burst: 200 },
      funds: { perSecond: 1, burst: 3 },
    },
    currencies: ["COP", "EUR", "GBP", "USD"],
    accountSchemes: OBIE_SCHEMES,
    operator: { name: undefined, logo: undefined, support: undefined, timeZone: "UTC" },
  };
  assertEquals(readConfig(SOUND_CONFIGURATION), expected);
  const empty = {
    HOST: "",
    PORT: "",
    CLIENT_CERT_SOURCE: "",
    ENVIRONMENT: "",
    LOG_LEVEL: "",
    CURRENCIES: "",
    ACCOUNT_SCHEMES: "",
  };
  assertEquals(readConfig({ ...SOUND_CONFIGURATION, ...empty }), expected);
});

Deno.test("readConfig takes every variable and ignores others", () => {
  const config = readConfig({
    ...SOUND_CONFIGURATION,
    HOST: "::1",
    PORT: "65535",
    MAX_CONNECTIONS: "2000",
    DIRECTORY_HOSTS: " directory.example.com , keys.example.com:8443,",
    CLIENT_CERT_SOURCE: "x-ssl-client-cert",
    ENVIRONMENT: "Sandbox",
    LOG_LEVEL: "error",
    CURRENCIES: "COP, USD",
    ACCOUNT_SCHEMES: "UK.OBIE.PAN, CO.Redeban.Account=digits:6-20",
    OPERATIONS_HOST: "::1",
    OPERATIONS_PORT: "8081",
    OPERATORS: "/etc/operators.json",
    OPERATIONS_URL: "https://operations.example.com",
    OPERATIONS_OIDC_ISSUER: "https://id.example.com",
    OPERATIONS_OIDC_AUDIENCE: "https://operations.example.com",
    OPERATIONS_OIDC_ROLES: "groups",
    OPERATIONS_OIDC_CLIENT_ID: "console",
    OPERATIONS_OIDC_CLIENT_SECRET: "0123456789abcdefghijklmnopqrstuv",
    RATE_LIMITS: "payments=5/9, funds=2/4",
    KEEP_UNAUTHORISED_DAYS: "90",
    KEEP_CASES_DAYS: "0",
    TRACE_DAYS: "0",
    EVENT_DAYS: "30",
    UNHEARD_OF: "x",
  });
  assertEquals([config.keepUnauthorisedDays, config.traceDays, config.keepCasesDays, config.eventDays], [
    90,
    0,
    0,
    30,
  ]);
  assertEquals([config.host, config.port, config.logLevel], ["::1", 65_535, "error"]);
  assertEquals(config.directoryHosts, ["directory.example.com", "keys.example.com:8443"]);
  assertEquals([config.clientCertSource, config.environment], ["x-ssl-client-cert", "Sandbox"]);
  assertEquals([config.maxConnections, config.currencies], [2000, ["COP", "USD"]]);
  assertEquals([...config.accountSchemes.keys()], ["UK.OBIE.PAN", "CO.Redeban.Account"]);
  assertEquals([config.operationsHost, config.operationsPort, config.operatorsFile], [
    "::1",
    8081,
    "/etc/operators.json",
  ]);
  assertEquals(config.operationsUrl, "https://operations.example.com");
  assertEquals(config.operatorsOidc, {
    issuer: "https://id.example.com",
    audience: "https://operations.example.com",
    rolesClaim: "groups",
    client: { id: "console", secret: "0123456789abcdefghijklmnopqrstuv" },
  });
  const { payments, funds, reads } = config.rateLimits;
  assertEquals([payments, funds], [{ perSecond: 5, burst: 9 }, { perSecond: 2, burst: 4 }]);
  assertEquals(reads, { perSecond: 100, burst: 200 });
  assertEquals(VARIABLES.length, 50);
});

Deno.test("readConfig lets a process serve on for 4 s after a signal if others share its database", () => {
  const seconds = (changes: Environment): number =>
    readConfig({ ...SOUND_CONFIGURATION, ...changes }).lameDuckSeconds;
  const STORE_URL = "postgres://platform:secret@db.example.com/platform";
  const DATA_KEYS_STORE = "postgres://platform:secret@db.example.com/data_keys";
  const shared = { STORE_URL, DATA_KEYS_STORE };
  assertEquals([seconds({}), seconds(shared)], [0, 4]);
  const given = [seconds({ ...shared, LAME_DUCK_SECONDS: "0" }), seconds({ LAME_DUCK_SECONDS: "30" })];
  assertEquals(given, [0, 30]);
  for (const EVENT_DAYS of ["0", "31"]) {
    assertEquals(faultsOf({ EVENT_DAYS }), ["EVENT_DAYS: set it to a whole number from 1 to 30"]);
  }
  for (const KEEP_UNAUTHORISED_DAYS of ["0", "366", "-1", "1.5", "007"]) {
    assertEquals(faultsOf({ KEEP_UNAUTHORISED_DAYS }), [
      "KEEP_UNAUTHORISED_DAYS: set it to a whole number from 1 to 365",
    ]);
  }
  for (const LAME_DUCK_SECONDS of ["1", "2", "31", "-3", "3.5", "03", "300"]) {
    assertEquals(faultsOf({ LAME_DUCK_SECONDS }), [
      "LAME_DUCK_SECONDS: set it to 0, or to a whole number from 3 to 30",
    ]);
  }
});

Deno.test("readConfig gives values that nothing can change", () => {
  const config = readConfig(SOUND_CONFIGURATION);
  assert(
    Object.isFrozen(config) && Object.isFrozen(config.directoryHosts) && Object.isFrozen(config.currencies),
  );
});

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
  ["no URL at all", { DIRECTORY_ISSUER: "directory" }, ["DIRECTORY_ISSUER: must be an absolute URL"]],
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
  ["no currencies", { CURRENCIES: "euro" }, ["CURRENCIES: set it to ISO 4217 codes, comma separated"]],
  ["short secret", { PROXY_SECRET: "0123456789abcdefghij" }, [
    "PROXY_SECRET: must have at least 32 characters",
  ]],
  ["secret with a quote", { PROXY_SECRET: `${SOUND_CONFIGURATION.PROXY_SECRET}"` }, [
    "PROXY_SECRET: must be of letters, digits and . _ ~ + / = -",
  ]],
  ["typed secret", { PROXY_SECRET: "change-me".repeat(5) }, ["PROXY_SECRET: must be random"]],
  ["unknown rate group", { RATE_LIMITS: "everything=1/1" }, [
    "RATE_LIMITS: set it to group=perSecond/burst pairs, comma separated",
  ]],
  ["a KV Connect URL as the store [G10]", { STORE_URL: "https://kv.example.com" }, [
    "STORE_URL: must be the path of a Deno KV file, or postgres://…; other URLs are not supported",
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

Deno.test("readConfig takes sandbox conveniences only in the sandbox", () => {
  const sandbox = {
    ENVIRONMENT: "Sandbox",
    BASE_URL: "https://localhost:8440",
    AUTH_URL: "http://localhost:8441",
    DIRECTORY_ISSUER: "http://127.0.0.1:8442",
    DIRECTORY_JWKS_URI: "http://[::1]:8442/jwks",
    DIRECTORY_HOSTS: "127.0.0.1:8442,[::1]:8442",
    STORE_URL: ":memory:",
    PLATFORM_KEYS: '{"environment":"sandbox","keys":[]}',
  };
  assertEquals(readConfig({ ...SOUND_CONFIGURATION, ...sandbox }).environment, "Sandbox");
  assertEquals(faultsOf({ ...sandbox, ENVIRONMENT: "Production" }).length, 5);
});
