/** Which fault of a link the page tells the TPP's developer [AZ2, G8]. */
import { assertEquals } from "@std/assert";
import type { BankCode } from "../../../../src/base/kernel/identifiers.ts";
import { incompleteLink, unusableRequest } from "../../../../src/platform/core/frontchannel/link_fault.ts";
import { linkFaultOf } from "../../../../src/platform/guards/http/link_faults.ts";
import type { PushedRequest } from "../../../../src/platform/core/oauth/pushed_request.ts";

Deno.test("each link that starts no session has its own fault, and the TPP's address beside it", () => {
  const link = { bank: "BANKA" as BankCode, clientId: "SC-1" };
  const faultOf = (request: Partial<PushedRequest> | undefined): unknown => {
    const error = unusableRequest(request as PushedRequest | undefined, link, { tpp: "the TPP" as never });
    assertEquals([error.reason, error.parts.tpp], ["authorization.request_uri_unusable", "the TPP" as never]);
    return linkFaultOf(error);
  };
  const own = link as Partial<PushedRequest>;
  assertEquals(faultOf(undefined), "request_uri_unknown");
  assertEquals(faultOf({ ...own, bank: "BANKB" as BankCode, completed: true }), "request_uri_unknown");
  assertEquals(faultOf({ ...own, clientId: "SC-2" as never, completed: true }), "client_id_differs");
  assertEquals(faultOf({ ...own, completed: true }), "request_uri_complete");
  assertEquals([faultOf({ ...own, completed: false }), faultOf(own)], [
    "request_uri_unknown",
    "request_uri_unknown",
  ]);
  const incomplete = [undefined, "SC-1"].map((clientId) => linkFaultOf(incompleteLink({ clientId })));
  assertEquals(incomplete, ["client_id_missing", "request_uri_malformed"]);
});
