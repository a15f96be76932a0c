/** Which configurations of data keys are rejected. */
import { assertEquals, assertThrows } from "@std/assert";
import { ConfigError, type Environment, readConfig } from "../../../../src/platform/config/config.ts";
import { SOUND_CONFIGURATION } from "support/sound_configuration.ts";

const REJECTED: readonly (readonly [string, Environment, string])[] = [
  [
    "PostgreSQL without a data key store",
    { PLATFORM_STORE_URL: "postgres://platform:secret@db.example.com/platform" },
    "PLATFORM_DATA_KEYS_STORE: set it to a database for the data keys alone",
  ],
  [
    "data keys in the store's own database",
    { PLATFORM_DATA_KEYS_STORE: SOUND_CONFIGURATION.PLATFORM_STORE_URL },
    "PLATFORM_DATA_KEYS_STORE: must be another database than PLATFORM_STORE_URL",
  ],
  [
    "data keys in memory",
    { PLATFORM_DATA_KEYS_STORE: ":memory:" },
    "PLATFORM_DATA_KEYS_STORE: :memory: loses every data key at a restart; set another database",
  ],
  [
    "no wrapping keys",
    { PLATFORM_WRAPPING_KEYS: "" },
    "PLATFORM_WRAPPING_KEYS: set it to the path of the keys that wrap data keys",
  ],
  [
    "no retention period",
    { PLATFORM_KEEP_CASES_DAYS: "0" },
    "PLATFORM_KEEP_CASES_DAYS: 0 is for the sandbox; set the retention period that the law requires",
  ],
  [
    "an erasure before the legal retention period",
    { PLATFORM_ERASE_CASES_DAYS: "1825" },
    "PLATFORM_ERASE_CASES_DAYS: must be at least PLATFORM_KEEP_CASES_DAYS",
  ],
  [
    "a history that goes before its case",
    { PLATFORM_ERASE_CASES_DAYS: "2000", PLATFORM_DELETE_HISTORIES_DAYS: "1999" },
    "PLATFORM_DELETE_HISTORIES_DAYS: must be at least PLATFORM_KEEP_CASES_DAYS and PLATFORM_ERASE_CASES_DAYS",
  ],
];

for (const [name, changes, fault] of REJECTED) {
  Deno.test(`readConfig rejects: ${name} [P3]`, () => {
    assertEquals(assertThrows(() => readConfig({ ...SOUND_CONFIGURATION, ...changes }), ConfigError).faults, [
      fault,
    ]);
  });
}

Deno.test("data keys are beside the database file, or where PLATFORM_DATA_KEYS_STORE says [P3]", () => {
  const place = (changes: Environment): string =>
    readConfig({ ...SOUND_CONFIGURATION, ...changes }).dataKeysStore;
  assertEquals(place({}), "/var/lib/payment-platform/platform.kv.keys");
  assertEquals(place({ PLATFORM_DATA_KEYS_STORE: "/d.keys" }), "/d.keys");
});
