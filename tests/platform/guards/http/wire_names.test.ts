/** Names of the API and of the domain. */
import { assertEquals } from "@std/assert";
import { fromWire, pathOnWire, toWire } from "../../../../src/platform/guards/http/wire_fields.ts";

const ON_WIRE = {
  Data: {
    SCASupportData: { RequestedSCAExemptionType: "Kiosk" },
    Initiation: {
      CreditorPostalAddress: { AddressLine: ["1 High Street", "London"] },
      InstructionIdentification: null,
    },
  },
  Risk: {},
};
const IN_DOMAIN = {
  data: {
    scaSupportData: { requestedSCAExemptionType: "Kiosk" },
    initiation: {
      creditorPostalAddress: { addressLine: ["1 High Street", "London"] },
      instructionIdentification: null,
    },
  },
  risk: {},
};

Deno.test("fromWire and toWire rename members at every level and are each other's inverse", () => {
  assertEquals(fromWire(ON_WIRE), IN_DOMAIN);
  assertEquals(toWire(IN_DOMAIN), ON_WIRE);
});

Deno.test("fromWire and toWire keep the order of members, so that a response has the order of its request", () => {
  assertEquals(JSON.stringify(toWire(fromWire(ON_WIRE))), JSON.stringify(ON_WIRE));
});

Deno.test("pathOnWire renames each step of a path and no position", () => {
  assertEquals(pathOnWire("risk.deliveryAddress.addressLine[1]"), "Risk.DeliveryAddress.AddressLine[1]");
});
