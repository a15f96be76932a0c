/** Forms, media types and bodies as bytes: what is rejected, and agreement with WHATWG's own form parser. */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { Hono } from "hono";
import { mediaType, parseForm, readBytes } from "../../src/base/http/body.ts";
import { ApiError } from "../../src/base/kernel/api_error.ts";
import { attempt, attemptLater, mutated, runs } from "./runs.ts";

const GOOD = "grant_type=client_credentials&scope=payments&client_id=SC-1&x=a%20b+c&empty=&y=%C3%A9";
const text = fc.oneof(
  fc.string(),
  fc.string({ unit: "binary" }),
  mutated(GOOD),
  fc.array(fc.constantFrom("a", "=", "&", "%", "+", "%41", "%ff", "%0", "%C3%A9", "a=1", "__proto__"), {
    maxLength: 10,
  })
    .map((parts) => parts.join("")),
);

Deno.test("parseForm gives a form or a malformed_form ApiError, whatever the text", () => {
  fc.assert(
    fc.property(text, (value) => {
      const form = attempt(() => parseForm(value));
      if (form instanceof ApiError) return assertEquals(form.reason, "request.malformed_form");
      for (const [, parameter] of form) assert(parameter !== "");
    }),
    runs(2000),
  );
});

Deno.test("parseForm reads back every form that URLSearchParams writes", () => {
  const name = fc.string({ minLength: 1, unit: "grapheme" });
  const form = fc.dictionary(name, fc.string({ minLength: 1, unit: "grapheme" }), { maxKeys: 6 });
  fc.assert(
    fc.property(form, (members) => {
      const entries = Object.entries(members);
      assertEquals([...parseForm(new URLSearchParams(entries).toString())], entries);
    }),
    runs(1000),
  );
});

Deno.test("parseForm agrees with URLSearchParams on all that it takes, and takes no name twice", () => {
  fc.assert(
    fc.property(text, (value) => {
      const form = attempt(() => parseForm(value));
      // URLSearchParams mends lone surrogates and broken escapes; parseForm rejects the latter.
      if (form instanceof ApiError || !value.isWellFormed()) return;
      const reference = [...new URLSearchParams(`&${value}`)]; // "&": a first "?" would be dropped
      assertEquals(new Set(reference.map(([name]) => name)).size, reference.length);
      assertEquals([...form], reference.filter(([, parameter]) => parameter !== ""));
    }),
    runs(2000),
  );
});

Deno.test("parseForm rejects a parameter twice, however it is escaped", () => {
  const escaped = (name: string): string =>
    [...new TextEncoder().encode(name)].map((octet) => `%${octet.toString(16).padStart(2, "0")}`).join("");
  fc.assert(
    fc.property(fc.string({ minLength: 1, unit: "grapheme" }), fc.string(), (name, value) => {
      const plain = encodeURIComponent(name);
      const form = attempt(() => parseForm(`${plain}=1&${encodeURIComponent(value)}x=2&${escaped(name)}=3`));
      assert(form instanceof ApiError);
    }),
    runs(500),
  );
});

async function mediaTypeOf(value: string): Promise<string> {
  const app = new Hono();
  app.get("/", (c) => c.text(mediaType(c)));
  return await (await app.request("/", { headers: { "content-type": value } })).text();
}

Deno.test("mediaType gives a type of the header or nothing, and accepts no charset but UTF-8", async () => {
  const header = fc.oneof(
    mutated("application/json; charset=utf-8", '; ="-\tA'),
    fc.string().map((value) => `application/json;${value}`),
  ).map((value) => value.replaceAll(/[^\x20-\x7e\t]/g, "~"));
  await fc.assert(
    fc.asyncProperty(header, async (value) => {
      const type = await mediaTypeOf(value);
      assertEquals(type, type.trim().toLowerCase());
      assert(type === "" || value.trim().toLowerCase().startsWith(type), type);
      const parameters = value.toLowerCase().split(";").slice(1).map((parameter) => parameter.trim());
      if (type !== "") {
        for (const parameter of parameters) assert(/^(charset="?utf-8"?)?$/.test(parameter), parameter);
      }
    }),
    runs(500),
  );
});

Deno.test("readBytes joins whatever pieces the body comes in, and rejects more than the limit", async () => {
  const pieces = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(pieces, fc.nat(150), async (chunks, limit) => {
      let pulled = 0;
      const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
        pull(controller): void {
          const chunk = chunks[pulled++];
          if (chunk === undefined) controller.close();
          else if (chunk.length > 0) controller.enqueue(new Uint8Array(chunk));
          else controller.enqueue(new Uint8Array([]));
        },
      }, { highWaterMark: 0 });
      const request = new Request("https://x.example", { method: "POST", body });
      const whole = chunks.flatMap((chunk) => [...chunk]);
      const read = await attemptLater(() => readBytes(request, limit));
      if (whole.length > limit) assert(read instanceof ApiError && read.reason === "request.too_large");
      else assertEquals(read instanceof ApiError ? read.reason : [...read], whole);
    }),
    runs(300),
  );
});
