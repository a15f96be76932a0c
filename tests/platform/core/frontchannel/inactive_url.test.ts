/** Where the browser goes, and in which words, if a party is not active (Decision G5). */
import { assertEquals } from "@std/assert";
import { inactiveUrl } from "../../../../src/platform/core/frontchannel/tpp_redirect.ts";

const TO = { redirectUri: "https://shop.example/callback", issuer: "https://auth.example/BANKA" };

const CASES = [
  ["suspended", "temporarily_unavailable", "BANK_NOT_ACTIVE", "the directory has suspended it"],
  ["withdrawn", "access_denied", "BANK_WITHDRAWN", "the directory has withdrawn it"],
  ["blocked", "temporarily_unavailable", "BANK_NOT_ACTIVE", "the operator of this platform has blocked it"],
] as const;

for (const [standing, error, code, why] of CASES) {
  Deno.test(`a bank that is ${standing} leads to ${error} and ${code} [G5, RSN4]`, () => {
    const { searchParams } = new URL(inactiveUrl(TO, "bank", standing));
    assertEquals(Object.fromEntries(searchParams), {
      error,
      error_description: `The bank is not active: ${why}.`,
      reason_code: code,
      iss: TO.issuer,
    });
  });
}
