/** A configuration for tests, and its faults after changes. */
import { assertThrows } from "@std/assert";
import { ConfigError, type Environment, readConfig } from "../../src/platform/config/config.ts";

/** The smallest configuration of a platform that is accepted. */
export const SOUND_CONFIGURATION = {
  BASE_URL: "https://api.example.com",
  AUTH_URL: "https://auth.example.com",
  STORE_URL: "/var/lib/payment-platform/platform.kv",
  PLATFORM_KEYS: '{"keys":[]}',
  DIRECTORY_ISSUER: "https://directory.example.com",
  DIRECTORY_JWKS_URI: "https://directory.example.com/jwks",
  DIRECTORY_HOSTS: "directory.example.com",
  REGISTRATION_AUDIENCE: "https://directory.example.com/registration",
  PROXY_SECRET: "0123456789abcdefghijABCDEFGHIJ._~+/=-",
  WRAPPING_KEYS: "/etc/payment-platform/wrapping.keys",
};

/** The faults of the sound configuration with changes. */
export function faultsOf(changes: Environment, elsewhere: readonly string[] = []): readonly string[] {
  return assertThrows(() => readConfig({ ...SOUND_CONFIGURATION, ...changes }, elsewhere), ConfigError)
    .faults;
}
