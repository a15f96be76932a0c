/** A configuration for tests, and its faults after changes. */
import { assertThrows } from "@std/assert";
import { ConfigError, type Environment, readConfig } from "../../src/platform/config/config.ts";

/** The smallest configuration of a platform that is accepted. */
export const SOUND_CONFIGURATION = {
  PLATFORM_BASE_URL: "https://api.example.com",
  PLATFORM_AUTH_URL: "https://auth.example.com",
  PLATFORM_STORE_URL: "/var/lib/payment-platform/platform.kv",
  PLATFORM_KEYS: '{"keys":[]}',
  PLATFORM_DIRECTORY_ISSUER: "https://directory.example.com",
  PLATFORM_DIRECTORY_JWKS_URI: "https://directory.example.com/jwks",
  PLATFORM_DIRECTORY_HOSTS: "directory.example.com",
  PLATFORM_REGISTRATION_AUDIENCE: "https://directory.example.com/registration",
  PLATFORM_PROXY_SECRET: "0123456789abcdefghijABCDEFGHIJ._~+/=-",
  PLATFORM_WRAPPING_KEYS: "/etc/payment-platform/wrapping.keys",
};

/** The faults of the sound configuration with changes. */
export function faultsOf(changes: Environment, elsewhere: readonly string[] = []): readonly string[] {
  return assertThrows(() => readConfig({ ...SOUND_CONFIGURATION, ...changes }, elsewhere), ConfigError)
    .faults;
}
