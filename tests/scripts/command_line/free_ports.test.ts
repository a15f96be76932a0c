/** Ports for programs that start some time after their port was chosen. */
import { assertEquals } from "@std/assert";
import { PORT_COUNT } from "../../../src/sandbox/ecosystem/addresses.ts";
import { freePort, freeSandboxPorts, giveBack } from "../../../scripts/command_line/free_ports.ts";

Deno.test("no port is chosen twice, whether its program listens yet or not", () => {
  const ports = [
    ...Array.from({ length: 100 }, () => freeSandboxPorts()).flatMap((first) =>
      Array.from({ length: PORT_COUNT }, (_, index) => first + index)
    ),
    ...Array.from({ length: 100 }, () => freePort(20_000)),
  ];
  ports.forEach(giveBack);
  assertEquals(new Set(ports).size, ports.length);
});
