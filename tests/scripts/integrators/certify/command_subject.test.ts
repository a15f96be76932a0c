/** A program under certification is driven to its end, whatever it leaves behind and wherever its link leads. */
import { assertEquals, assertRejects } from "@std/assert";
import { commandSubject } from "../../../../scripts/integrators/certify/tpp/command_subject.ts";
import type { Subject } from "../../../../scripts/integrators/certify/tpp/subject.ts";

function program(command: string, authUrl = "http://localhost:1"): Subject {
  return commandSubject({ command, sandboxDir: "/", folder: "/", authUrl });
}

Deno.test("a program whose helper outlives it has ended with its own status [SB11]", async () => {
  const { said, words } = await program("sleep 30 & echo rejected; exit 3").pay({ bank: "BANKA" });
  assertEquals([said, words], ["rejected", "rejected"]);
});

Deno.test("a customer who cannot follow the program's link fails the case, and not the certification [SB11]", async () => {
  const options = { hostname: "127.0.0.1", port: 0, onListen: () => {} };
  await using platform = Deno.serve(options, () => new Response("<h1>No such link</h1>", { status: 400 }));
  const authUrl = `http://127.0.0.1:${platform.addr.port}`;
  const tpp = program(`echo ${authUrl}/BANKA/authorization.oauth2?client_id=x; sleep 1; exit 1`, authUrl);
  await assertRejects(() => tpp.pay({ bank: "BANKA" }), Error, "The customer did not come back");
});
