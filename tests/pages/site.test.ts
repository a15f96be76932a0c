/** The operator's logo, support contact and time zone, as configured. */
import { assertEquals } from "@std/assert";
import { isTimeZone, readLogo, readSupport } from "../../src/pages/site.ts";

Deno.test("readSupport takes an e-mail address, a telephone number or an https address, and nothing else", () => {
  assertEquals(readSupport("help@pay.example"), {
    text: "help@pay.example",
    href: "mailto:help@pay.example",
  });
  assertEquals(readSupport("+57 601 555-0199"), { text: "+57 601 555-0199", href: "tel:+576015550199" });
  assertEquals(readSupport("https://pay.example/help/"), {
    text: "pay.example/help",
    href: "https://pay.example/help/",
  });
  const rejected = [
    "",
    "help",
    "http://pay.example",
    "javascript:alert(1)",
    "https://u:p@pay.example",
    "a@b",
    "601 555",
    "help@pay.example?subject=x",
  ];
  for (const text of rejected) assertEquals(readSupport(text), undefined, text);
});

Deno.test("readLogo takes PNG and SVG up to 64 KiB", () => {
  const url = (type: string, size: number): string =>
    `data:${type};base64,${new Uint8Array(size).toBase64()}`;
  assertEquals(readLogo(url("image/png", 65_536))?.bytes.length, 65_536);
  assertEquals(readLogo(url("image/svg+xml", 3))?.type, "image/svg+xml");
  for (
    const text of [url("image/png", 65_537), url("text/html", 3), "logo.png", "data:image/png;base64,A", ""]
  ) {
    assertEquals(readLogo(text), undefined, text.slice(0, 40));
  }
});

Deno.test("isTimeZone takes names, not offsets", () => {
  assertEquals(["UTC", "America/Bogota", "Europe/Madrid"].filter((name) => !isTimeZone(name)), []);
  assertEquals(["Bogota", "+05:00", "", "America/Nowhere"].filter(isTimeZone), []);
});
