/** The collections in `examples/bruno` and `examples/postman` are those of the platform's OpenAPI document. */
import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { currentFiles, writtenFiles } from "../../scripts/collections/main.ts";
import { collectionRequests } from "../../scripts/collections/requests.ts";

Deno.test("the collections are current: if this fails, run `deno task collections`", async () => {
  assertEquals(await writtenFiles(), await currentFiles());
});

Deno.test("the collections have no operation of banks, browsers and operators, and all others", async () => {
  const files = await currentFiles();
  const names = Object.keys(files);
  assertEquals(names.filter((name) => /backChannel|PaymentOrder|getLiveness|returnFromBank/i.test(name)), []);
  assertEquals(names.filter((name) => name.startsWith("bruno/payment/")).length, 17);
  assertMatch(names.join("\n"), /^bruno\/more\/listDomesticPaymentConsents\.bru$/m);
  const postman = files["postman/payment_initiation.postman_collection.json"] ?? "";
  const { item } = JSON.parse(postman) as { item: { name: string; item: { name: string }[] }[] };
  const inPostman = item.flatMap((folder) =>
    folder.item.map(({ name }, index) =>
      folder.name === "More"
        ? `bruno/more/${name}.bru`
        : `bruno/payment/${String(index + 1).padStart(2, "0")} ${name}.bru`
    )
  );
  assertEquals(inPostman, names.filter((name) => name.startsWith("bruno/")));
});

Deno.test("a step whose operation is gone is a fault", () => {
  const hosts = { base_url: "https://api", auth_url: "https://auth" };
  assertThrows(
    () => collectionRequests({ paths: {}, components: { schemas: {} } }, hosts),
    Error,
    "no operation getAuthorizationServerMetadata",
  );
});
