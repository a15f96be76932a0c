import { assertEquals } from "@std/assert";
import { VARIABLES } from "../../../src/platform/config/config.ts";
import { nameFaults } from "../../../src/platform/config/environment_file.ts";

Deno.test("a name in .env that the platform would pass over is a fault that names the right one [F7]", () => {
  const text = [
    "# PLATFORM_NOTHING=comment",
    "BASE_URL=https://api.example.com",
    " export LOG_LEVEL=debug",
    "PLATFORM_FOUR_EYE=none",
    "PLATFORM_FOUR_EYE=again",
    "PLATFORM_AUTH_URL=https://auth.example.com",
    "PLATFORM_PROXY_SECRET_FILE=/run/secret",
    "PLATFORM_BACKENDS=127.0.0.1:8080",
    "PORT=8080",
    "DIRECTORY_ISSUER=https://directory.example.com",
    "PGHOST=elsewhere",
  ].join("\n");
  assertEquals(nameFaults(text, VARIABLES), [
    "BASE_URL is not read; name it PLATFORM_BASE_URL",
    "LOG_LEVEL is not read; name it PLATFORM_LOG_LEVEL",
    "PLATFORM_FOUR_EYE is no variable of the platform",
  ]);
});
