/** `readConfig`: what a deployment may be, the defaults, and conveniences of the sandbox. */
import { assert, assertEquals } from "@std/assert";
import { type Config, type Environment, readConfig, VARIABLES } from "../../../src/platform/config/config.ts";
import { DEFAULT_SCHEMES } from "../../../src/base/values/account.ts";
import { faultsOf, SOUND_CONFIGURATION } from "support/sound_configuration.ts";

Deno.test("readConfig gives the defaults where a variable is unset or empty", () => {
  const expected: Config = {
    baseUrl: "https://api.example.com",
    authUrl: "https://auth.example.com",
    host: "127.0.0.1",
    port: 8080,
    maxConnections: 400,
    maxOpenConsents: 20_000,
    storeUrl: "/var/lib/payment-platform/platform.kv",
    cells: new Map(),
    cell: "home",
    keys: '{"keys":[]}',
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
    processName: undefined,
    operationsUrl: "http://localhost:80",
    environment: "Production",
    logLevel: "info",
    requestsInWork: 8,
    requestWaitSeconds: 2,
    lameDuckSeconds: 0,
    unsettledHours: 24,
    keepUnauthorisedDays: 30,
    keepCasesDays: 1826,
    ...{ eraseCasesDays: undefined, deleteHistoriesDays: undefined },
    dataKeysStore: "/var/lib/payment-platform/platform.kv.keys",
    fourEyes: ["release-restored", "unblock-organisation", "unblock-software", "release-bank"],
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
    signatureClaims: [],
    currencies: ["COP", "EUR", "GBP", "USD"],
    accountSchemes: DEFAULT_SCHEMES,
    operator: { name: undefined, logo: undefined, support: undefined, timeZone: "UTC" },
    repositoryUrl: undefined,
  };
  assertEquals(readConfig(SOUND_CONFIGURATION), expected);
  const empty = {
    HOST: "",
    PORT: "",
    PLATFORM_CLIENT_CERT_SOURCE: "",
    PLATFORM_ENVIRONMENT: "",
    PLATFORM_LOG_LEVEL: "",
    PLATFORM_CURRENCIES: "",
    PLATFORM_ACCOUNT_SCHEMES: "",
  };
  assertEquals(readConfig({ ...SOUND_CONFIGURATION, ...empty }), expected);
});

Deno.test("readConfig takes every variable and ignores others", () => {
  const config = readConfig({
    ...SOUND_CONFIGURATION,
    HOST: "::1",
    PORT: "65535",
    PLATFORM_PROCESS_NAME: "hub-1",
    PLATFORM_MAX_CONNECTIONS: "2000",
    PLATFORM_DIRECTORY_HOSTS: " directory.example.com , keys.example.com:8443,",
    PLATFORM_CLIENT_CERT_SOURCE: "x-ssl-client-cert",
    PLATFORM_ENVIRONMENT: "Sandbox",
    PLATFORM_LOG_LEVEL: "error",
    PLATFORM_SIGNATURE_CLAIMS: "iat, tan",
    PLATFORM_CURRENCIES: "COP, USD",
    PLATFORM_ACCOUNT_SCHEMES: "UK.OBIE.PAN, CO.Redeban.Account=digits:6-20",
    PLATFORM_OPERATIONS_HOST: "::1",
    PLATFORM_OPERATIONS_PORT: "8081",
    PLATFORM_OPERATORS: "/etc/operators.json",
    PLATFORM_OPERATIONS_URL: "https://operations.example.com",
    PLATFORM_OPERATIONS_OIDC_ISSUER: "https://id.example.com",
    PLATFORM_OPERATIONS_OIDC_AUDIENCE: "https://operations.example.com",
    PLATFORM_OPERATIONS_OIDC_ROLES: "groups",
    PLATFORM_OPERATIONS_OIDC_ACR_VALUES: "urn:phr urn:mfa",
    PLATFORM_OPERATIONS_OIDC_CLIENT_ID: "console",
    PLATFORM_OPERATIONS_OIDC_CLIENT_SECRET: "0123456789abcdefghijklmnopqrstuv",
    PLATFORM_RATE_LIMITS: "payments=5/9, funds=2/4",
    PLATFORM_MAX_OPEN_CONSENTS: "7",
    PLATFORM_KEEP_UNAUTHORISED_DAYS: "90",
    PLATFORM_UNSETTLED_HOURS: "48",
    PLATFORM_KEEP_CASES_DAYS: "0",
    PLATFORM_TRACE_DAYS: "0",
    PLATFORM_EVENT_DAYS: "30",
    UNHEARD_OF: "x",
  });
  assertEquals(config.unsettledHours, 48);
  assertEquals([config.keepUnauthorisedDays, config.traceDays, config.keepCasesDays, config.eventDays], [
    90,
    0,
    0,
    30,
  ]);
  assertEquals([config.host, config.port], ["::1", 65_535]);
  assertEquals([config.processName, config.logLevel], ["hub-1", "error"]);
  assertEquals(config.directoryHosts, ["directory.example.com", "keys.example.com:8443"]);
  assertEquals([config.clientCertSource, config.environment], ["x-ssl-client-cert", "Sandbox"]);
  assertEquals([config.maxConnections, config.currencies], [2000, ["COP", "USD"]]);
  assertEquals(config.maxOpenConsents, 7);
  assertEquals(config.signatureClaims, ["iat", "tan"]);
  assertEquals([...config.accountSchemes.keys()], ["UK.OBIE.PAN", "CO.Redeban.Account"]);
  assertEquals([config.operationsHost, config.operationsPort], ["::1", 8081]);
  assertEquals(config.operationsUrl, "https://operations.example.com");
  assertEquals(config.operatorsOidc, {
    issuer: "https://id.example.com",
    audience: "https://operations.example.com",
    rolesClaim: "groups",
    client: { id: "console", secret: "0123456789abcdefghijklmnopqrstuv", acrValues: ["urn:phr", "urn:mfa"] },
  });
  const { payments, funds, reads } = config.rateLimits;
  assertEquals([payments, funds], [{ perSecond: 5, burst: 9 }, { perSecond: 2, burst: 4 }]);
  assertEquals(reads, { perSecond: 100, burst: 200 });
  assertEquals(VARIABLES.length, 60);
});

Deno.test("readConfig lets a process serve on for 4 s after a signal if others share its database", () => {
  const seconds = (changes: Environment): number =>
    readConfig({ ...SOUND_CONFIGURATION, ...changes }).lameDuckSeconds;
  const STORE_URL = "postgres://platform:secret@db.example.com/platform";
  const DATA_KEYS_STORE = "postgres://platform:secret@db.example.com/data_keys";
  const shared = { PLATFORM_STORE_URL: STORE_URL, PLATFORM_DATA_KEYS_STORE: DATA_KEYS_STORE };
  assertEquals([seconds({}), seconds(shared)], [0, 4]);
  const given = [
    seconds({ ...shared, PLATFORM_LAME_DUCK_SECONDS: "0" }),
    seconds({ PLATFORM_LAME_DUCK_SECONDS: "30" }),
  ];
  assertEquals(given, [0, 30]);
  assertEquals(faultsOf({ PLATFORM_SIGNATURE_CLAIMS: "exp" }), [
    "PLATFORM_SIGNATURE_CLAIMS: set it to claims, comma separated: iat, iss, tan",
  ]);
  for (const EVENT_DAYS of ["0", "31"]) {
    assertEquals(faultsOf({ PLATFORM_EVENT_DAYS: EVENT_DAYS }), [
      "PLATFORM_EVENT_DAYS: set it to a whole number from 1 to 30",
    ]);
  }
  for (const KEEP_UNAUTHORISED_DAYS of ["0", "366", "-1", "1.5", "007"]) {
    assertEquals(faultsOf({ PLATFORM_KEEP_UNAUTHORISED_DAYS: KEEP_UNAUTHORISED_DAYS }), [
      "PLATFORM_KEEP_UNAUTHORISED_DAYS: set it to a whole number from 1 to 365",
    ]);
  }
  for (const LAME_DUCK_SECONDS of ["1", "2", "31", "-3", "3.5", "03", "300"]) {
    assertEquals(faultsOf({ PLATFORM_LAME_DUCK_SECONDS: LAME_DUCK_SECONDS }), [
      "PLATFORM_LAME_DUCK_SECONDS: set it to 0, or to a whole number from 3 to 30",
    ]);
  }
});

Deno.test("readConfig gives values that nothing can change", () => {
  const config = readConfig(SOUND_CONFIGURATION);
  assert(
    Object.isFrozen(config) && Object.isFrozen(config.directoryHosts) && Object.isFrozen(config.currencies),
  );
});

Deno.test("readConfig takes sandbox conveniences only in the sandbox", () => {
  const sandbox = {
    PLATFORM_ENVIRONMENT: "Sandbox",
    PLATFORM_BASE_URL: "https://localhost:8440",
    PLATFORM_AUTH_URL: "http://localhost:8441",
    PLATFORM_DIRECTORY_ISSUER: "http://127.0.0.1:8442",
    PLATFORM_DIRECTORY_JWKS_URI: "http://[::1]:8442/jwks",
    PLATFORM_DIRECTORY_HOSTS: "127.0.0.1:8442,[::1]:8442",
    PLATFORM_STORE_URL: ":memory:",
    PLATFORM_KEYS: '{"environment":"sandbox","keys":[]}',
  };
  assertEquals(readConfig({ ...SOUND_CONFIGURATION, ...sandbox }).environment, "Sandbox");
  assertEquals(faultsOf({ ...sandbox, PLATFORM_ENVIRONMENT: "Production" }).length, 5);
});

Deno.test("readConfig leaves what lifts a restriction to two operators in production, unless it is told otherwise [FE7, O11]", () => {
  const changes = (more: Environment): readonly string[] =>
    readConfig({ ...SOUND_CONFIGURATION, ...more }).fourEyes;
  assertEquals(changes({ PLATFORM_FOUR_EYES: "none" }), []);
  assertEquals(changes({ PLATFORM_FOUR_EYES: "redrive, reconcile" }), ["redrive", "reconcile"]);
  assertEquals(changes({ PLATFORM_ENVIRONMENT: "Sandbox" }), []);
  assertEquals(changes({ PLATFORM_FOUR_EYES: "" }), changes({}));
  assertEquals(changes({}).includes("unblock-software"), true);
});
