/** Variables about operators that need others. */
import { assertEquals } from "@std/assert";
import { faultsOf, SOUND_CONFIGURATION } from "support/sound_configuration.ts";
import { readConfig, urlFaults } from "../../../src/platform/config/config.ts";

const PROVIDER = {
  PLATFORM_OPERATIONS_OIDC_ISSUER: "https://id.example.com",
  PLATFORM_OPERATIONS_OIDC_AUDIENCE: "https://operations.example.com",
};
const CLIENT = {
  PLATFORM_OPERATIONS_OIDC_CLIENT_ID: "console",
  PLATFORM_OPERATIONS_OIDC_CLIENT_SECRET: "0123456789abcdefghijklmnopqrstuv",
};
const PAIR =
  "PLATFORM_OPERATIONS_OIDC_CLIENT_ID and PLATFORM_OPERATIONS_OIDC_CLIENT_SECRET: set both, or neither";
const ALONE =
  "PLATFORM_OPERATIONS_OIDC_CLIENT_ID: set PLATFORM_OPERATIONS_OIDC_ISSUER too, where the client is registered";

Deno.test("the console's client needs a secret and a provider", () => {
  const { operatorsOidc } = readConfig({ ...SOUND_CONFIGURATION, ...PROVIDER, ...CLIENT });
  assertEquals(operatorsOidc?.client?.id, "console");
  for (const absent of Object.keys(CLIENT)) {
    assertEquals(faultsOf({ ...PROVIDER, ...CLIENT, [absent]: undefined }), [PAIR]);
  }
  assertEquals(faultsOf(CLIENT), [ALONE]);
});

Deno.test("the console's address is https, or http on loopback", () => {
  const faults = (operationsUrl: string): string[] => urlFaults({ operationsUrl });
  const plain = ["PLATFORM_OPERATIONS_URL: must be https (http only on loopback)"];
  assertEquals(faults("https://console.example.com"), []);
  assertEquals(faults("http://localhost:8081"), []);
  assertEquals(faults("http://console.example.com"), plain);
  assertEquals(faults("https://console.example.com/console"), [
    "PLATFORM_OPERATIONS_URL: must be an origin such as https://host, without a path or slash",
  ]);
});
