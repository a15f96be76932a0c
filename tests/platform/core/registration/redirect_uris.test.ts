/** Which redirect URLs a client may register [DC9]. */
import { assertEquals } from "@std/assert";
import { isRedirectUri } from "../../../../src/platform/core/registration/client_metadata.ts";

/** Each URL: whether it is accepted in production, and with redirects to this computer (the sandbox). */
const URLS: Readonly<Record<string, readonly [production: boolean, sandbox: boolean]>> = {
  "https://shop.example/callback?tenant=1": [true, true],
  "https://localhost/callback": [true, true],
  "http://localhost:8080/callback": [false, true],
  "http://127.0.0.1:8080/callback": [false, true],
  "http://[::1]:8080/callback": [false, true],
  "http://shop.example/callback": [false, false],
  "http://localhost.shop.example/callback": [false, false],
  "http://127.0.0.1.shop.example/callback": [false, false],
  "ftp://localhost/callback": [false, false],
  "shop:/callback": [false, false],
  "callback": [false, false],
  "https://shop.example/callback#part": [false, false],
  "https://shop.example/*": [false, false],
  "https://user@shop.example/callback": [false, false],
  "https://:password@shop.example/callback": [false, false],
  "https://shop.example/callback?state=1": [false, false],
  "https://shop.example/callback?code=1": [false, false],
};

Deno.test("a redirect URL is https without fragment, wildcard, credentials and the answer's parameters; http only on this computer's loopback in the sandbox [DC9]", () => {
  for (const [url, expected] of Object.entries(URLS)) {
    assertEquals([false, true].map((loopback) => isRedirectUri(url, "PISP", loopback)), [...expected], url);
  }
});
