/** Variables about operators that need others. */
import { assertEquals } from "@std/assert";
import { operatorFaults } from "../../../src/platform/config/operators_config.ts";
import { urlFaults } from "../../../src/platform/config/address_faults.ts";

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
  assertEquals(operatorFaults({ ...PROVIDER, ...CLIENT }), []);
  const {
    PLATFORM_OPERATIONS_OIDC_CLIENT_ID: OPERATIONS_OIDC_CLIENT_ID,
    PLATFORM_OPERATIONS_OIDC_CLIENT_SECRET: OPERATIONS_OIDC_CLIENT_SECRET,
  } = CLIENT;
  assertEquals(
    operatorFaults({ ...PROVIDER, PLATFORM_OPERATIONS_OIDC_CLIENT_ID: OPERATIONS_OIDC_CLIENT_ID }),
    [PAIR],
  );
  assertEquals(
    operatorFaults({ ...PROVIDER, PLATFORM_OPERATIONS_OIDC_CLIENT_SECRET: OPERATIONS_OIDC_CLIENT_SECRET }),
    [PAIR],
  );
  assertEquals(operatorFaults(CLIENT), [ALONE]);
});

Deno.test("the console's address is https, or http on loopback", () => {
  const faults = (OPERATIONS_URL: string): string[] => urlFaults({ PLATFORM_OPERATIONS_URL: OPERATIONS_URL });
  const plain = ["PLATFORM_OPERATIONS_URL: must be https (http only on loopback)"];
  assertEquals(faults("https://console.example.com"), []);
  assertEquals(faults("http://localhost:8081"), []);
  assertEquals(faults("http://console.example.com"), plain);
  assertEquals(faults("https://console.example.com/console"), [
    "PLATFORM_OPERATIONS_URL: must be an origin such as https://host, without a path or slash",
  ]);
});
