/** Which addresses the directory vouches for. */
import { assertEquals } from "@std/assert";
import { addressFault } from "../../../src/directory/participants/web_address.ts";

const GOOD = [
  "https://shop.example",
  "https://shop.example/",
  "https://shop.example/callback?from=bank&x=%20y",
  "https://pay.shop.example:8443/a/b",
  "https://xn--caf-dma.example/",
];

const BAD: readonly [string, string][] = [
  ["", "must be a web address of printable ASCII characters"],
  ["shop.example/callback", "must be a web address that begins with https://"],
  ["/callback", "must be a web address that begins with https://"],
  ["javascript:alert(1)", "must be a web address that begins with https://"],
  ["com.shop.app:/callback", "must be a web address that begins with https://"],
  ["https:shop.example/", "must be a web address that begins with https://"],
  ["https://", "must be a web address that begins with https://"],
  ["http://shop.example/", "must be https"],
  ["https://shop.example/#", "must not have a fragment"],
  ["https://shop.example/#a", "must not have a fragment"],
  ["https://user@shop.example/", "must not have a user name or password"],
  ["https://@shop.example/", "must not have a user name or password"],
  ["https://shop.example:443/", "must be written in its normal form (WHATWG URL)"],
  ["HTTPS://shop.example/", "must be written in its normal form (WHATWG URL)"],
  ["https://Shop.example/", "must be written in its normal form (WHATWG URL)"],
  ["https://shop.example/a/../b", "must be written in its normal form (WHATWG URL)"],
  ["https://shop.example\\@evil.example/", "must not have a user name or password"],
  ["https://shop.example\\evil", "must be written in its normal form (WHATWG URL)"],
  ["https://shop.example/*", "must not have a wildcard"],
  ["https://shop.example/a b", "must be a web address of printable ASCII characters"],
  ["https://shop.example/ñ", "must be a web address of printable ASCII characters"],
  ["https://shop.example/\r\nx", "must be a web address of printable ASCII characters"],
  ["https://10.1.2.3/", "must name a public host, not an IP address or a local name"],
  ["https://[2001:db8::1]/", "must name a public host, not an IP address or a local name"],
  ["https://169.254.169.254/latest", "must name a public host, not an IP address or a local name"],
  ["https://bank/", "must name a public host, not an IP address or a local name"],
  ["https://bank.local/", "must name a public host, not an IP address or a local name"],
  ["https://x.localhost/", "must name a public host, not an IP address or a local name"],
  [`https://shop.example/${"a".repeat(2048)}`, "must have at most 2048 characters"],
];

Deno.test("addressFault accepts public https addresses in normal form [E1]", () => {
  for (const address of GOOD) assertEquals(addressFault(address, { loopback: false }), undefined, address);
});

Deno.test("addressFault names what is wrong with any other [E1]", () => {
  for (const [address, fault] of BAD) {
    assertEquals(addressFault(address, { loopback: false }), fault, address);
  }
});

Deno.test("addressFault lets loopback pass in the sandbox alone [E1]", () => {
  for (
    const address of [
      "http://localhost:8444/callback",
      "http://127.0.0.1/",
      "http://[::1]:9000/",
      "https://localhost/",
    ]
  ) {
    assertEquals(addressFault(address, { loopback: true }), undefined, address);
    assertEquals(addressFault(address, { loopback: false }), "must be https on a public host name", address);
  }
  assertEquals(
    addressFault("http://shop.example/", { loopback: true }),
    "must be https (http only on loopback)",
  );
  assertEquals(
    addressFault("http://localhost.shop.example/", { loopback: true }),
    "must be https (http only on loopback)",
  );
});
