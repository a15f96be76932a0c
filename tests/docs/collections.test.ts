/** The collection in `examples/bruno`, and the one for Postman, are those of the platform's OpenAPI document. */
import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { brunoFiles } from "../../scripts/upkeep/collections/bruno.ts";
import { currentRequests, writtenFiles } from "../../scripts/upkeep/collections/main.ts";
import { postmanCollection } from "../../scripts/upkeep/collections/postman.ts";
import { collectionRequests } from "../../scripts/upkeep/collections/requests.ts";

Deno.test("the collection is current: if this fails, run `deno task collections`", async () => {
  assertEquals(await writtenFiles(), brunoFiles(await currentRequests()));
});

Deno.test("the collections have no operation of banks, browsers and operators, and all others", async () => {
  const requests = await currentRequests();
  const names = Object.keys(brunoFiles(requests));
  assertEquals(names.filter((name) => /backChannel|PaymentOrder|getLiveness|returnFromBank/i.test(name)), []);
  assertEquals(names.filter((name) => name.startsWith("payment/")).length, 17);
  assertMatch(names.join("\n"), /^more\/listDomesticPaymentConsents\.bru$/m);
  const { item } = JSON.parse(postmanCollection(requests)) as {
    item: { name: string; item: { name: string }[] }[];
  };
  const inPostman = item.flatMap((folder) =>
    folder.item.map(({ name }, index) =>
      folder.name === "More"
        ? `more/${name}.bru`
        : `payment/${String(index + 1).padStart(2, "0")} ${name}.bru`
    )
  );
  assertEquals(inPostman, names);
});

Deno.test("a step whose operation is gone is a fault", () => {
  const hosts = { base_url: "https://api", auth_url: "https://auth" };
  assertThrows(
    () => collectionRequests({ paths: {}, components: { schemas: {} } }, hosts),
    Error,
    "no operation getAuthorizationServerMetadata",
  );
});
