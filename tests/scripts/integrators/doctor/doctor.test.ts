/** `deno task doctor` against a running sandbox, with one fault planted in each layer. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { bodyOf, present, type PushedRequest } from "testing/answers.ts";
import { examine, type Finding } from "../../../../scripts/integrators/doctor/doctor.ts";
import type { Patient } from "../../../../scripts/integrators/doctor/examination.ts";
import { readDescription } from "../../../../scripts/integrators/participant/folder.ts";
import type { Fetch, HttpRequest } from "../../../../src/client/party/http_request.ts";
import { webAuthority } from "testing/web_authority.ts";
import { type IntegratorsSandbox, openIntegratorsSandbox } from "support/outsiders.ts";
import { freePort } from "../../../../scripts/command_line/free_ports.ts";

const TPP = ["folder", "TLS", "certificate", "statement", "registration", "assertion", "proof"];
const PAYMENT = ["payload signature", "PAR", "redirect", "back channel", "order push"];

async function examined(
  { dir }: Pick<IntegratorsSandbox, "dir">,
  patient: Partial<Patient>,
): Promise<{ readonly finding: Finding | undefined; readonly fine: readonly string[] }> {
  const fine: string[] = [];
  const finding = await examine(
    { dir, name: "mine", bank: "BANKA", ...patient },
    (layer) => fine.push(layer),
  );
  return { finding, fine };
}

/** Asserts the finding, and that all layers before it are fine. */
async function assertWrong(
  sandbox: Pick<IntegratorsSandbox, "dir">,
  patient: Partial<Patient>,
  layer: string,
  { wrong, mend }: { readonly wrong: RegExp; readonly mend: string },
): Promise<void> {
  const { finding, fine } = await examined(sandbox, patient);
  assertEquals(finding?.layer, layer, JSON.stringify(finding));
  assertMatch(finding?.wrong ?? "", wrong);
  assertStringIncludes(finding?.mend ?? "", mend);
  const order = [...TPP, ...PAYMENT];
  if (order.includes(layer) && fine.includes("PAR")) assertEquals(fine, order.slice(0, order.indexOf(layer)));
}

/** A program between the participant and the platform that changes requests to a path. */
function between(path: string, change: (request: HttpRequest) => HttpRequest): Patient["proxy"] {
  return (send: Fetch): Fetch => (url, request) =>
    send(url, new URL(url).pathname.includes(path) ? change(request) : request);
}

/** Changes the form of a request. */
function form(change: (form: URLSearchParams) => void): (request: HttpRequest) => HttpRequest {
  return (request) => {
    const body = new URLSearchParams(request.body?.toString());
    change(body);
    return { ...request, body };
  };
}

/** A copy of the sandbox's folder, in which files can be changed. */
async function copied({ dir }: IntegratorsSandbox): Promise<{ readonly dir: string }> {
  const copy = await Deno.makeTempDir({ dir, prefix: "copy-" });
  const run = await new Deno.Command("cp", {
    args: ["-r", `${dir}/participants`, `${dir}/endpoints.json`, `${dir}/ca.pem`, copy],
  }).output();
  assert(run.success);
  return { dir: copy };
}

Deno.test("the doctor finds nothing wrong with a TPP and banks whose every layer is fine [SB7]", async () => {
  await using sandbox = await openIntegratorsSandbox();
  await sandbox.onboard("mine", "PISP");
  await sandbox.register("mine", "PISP");
  assertEquals(await examined(sandbox, {}), { finding: undefined, fine: [...TPP, ...PAYMENT] });
  assertEquals((await examined(sandbox, { bank: "BANKB" })).finding, undefined);
  for (const name of ["bank-a", "bank-b"]) {
    assertEquals(await examined(sandbox, { name }), {
      finding: undefined,
      fine: [...TPP, "payload signature", "redirect", "back channel", "order push"],
    });
  }
});

Deno.test("the doctor names what is wrong with a TPP's credentials, and the command that mends it [SB7]", async (t) => {
  await using sandbox = await openIntegratorsSandbox();
  await sandbox.onboard("mine", "PISP");
  await t.step("platform: no sandbox runs", async () => {
    await assertWrong({ dir: `${sandbox.dir}/none` }, {}, "platform", {
      wrong: /endpoints.json/,
      mend: "task start",
    });
  });
  await t.step("folder: it is missing", async () => {
    await assertWrong(sandbox, { name: "no-one" }, "folder", {
      wrong: /has no participant.json/,
      mend: "participant onboard --name no-one",
    });
  });
  await t.step("folder: the certificate of another key", async () => {
    const copy = await copied(sandbox);
    const folder = `${copy.dir}/participants/mine`;
    await Deno.copyFile(`${folder}/transport.cert.pem`, `${folder}/signing.cert.pem`);
    await assertWrong(copy, {}, "folder", {
      wrong: /signing.cert.pem is not the certificate of signing.key.pem/,
      mend: "participant add-keys --name mine --signing",
    });
  });
  await t.step("TLS: another authority", async () => {
    const copy = await copied(sandbox);
    await Deno.writeTextFile(`${copy.dir}/ca.pem`, (await webAuthority()).certificatePem);
    await assertWrong(copy, {}, "TLS", { wrong: /UnknownIssuer|certificate/, mend: "ca.pem must be" });
  });
  await t.step("statement: changed after it was signed", async () => {
    const copy = await copied(sandbox);
    const { software_client_id: id } = present(await readDescription(`${copy.dir}/participants/mine`));
    const file = `${copy.dir}/participants/mine/${id}.jks`;
    const [header, claims, signature = ""] = (await Deno.readTextFile(file)).split(".");
    await Deno.writeTextFile(file, `${header}.${claims}.${signature.split("").toReversed().join("")}`);
    await assertWrong(copy, {}, "statement", {
      wrong: /signature verification failed/,
      mend: "participant renew-statement --name mine",
    });
  });
  await t.step("registration: not yet", async () => {
    await assertWrong(sandbox, {}, "registration", {
      wrong: /invalid_client/,
      mend: "task sign registration --name mine",
    });
  });
  await t.step("registration: a bank that does not exist", async () => {
    await sandbox.register("mine", "PISP");
    await assertWrong(sandbox, { bank: "BANKZ" }, "registration", {
      wrong: /The metadata of BANKZ cannot be used.* The banks here are BANKA, BANKB\.$/,
      mend: "oauth-authorization-server/BANKZ",
    });
  });
  await t.step("statement: the software is inactive", async () => {
    await sandbox.participant("set-status", "--name", "mine", "--software", "Inactive", "--reason", "test");
    await assertWrong(sandbox, {}, "statement", {
      wrong: /The software is Inactive/,
      mend: "set-status --name mine --reason",
    });
    await sandbox.participant("set-status", "--name", "mine", "--software", "Active", "--reason", "test");
  });
  await t.step("certificate: revoked", async () => {
    const { transport_kid } = present(await readDescription(`${sandbox.dir}/participants/mine`));
    const copy = await copied(sandbox);
    await sandbox.participant("add-keys", "--name", "mine", "--transport");
    await sandbox.participant(
      "revoke-key",
      "--name",
      "mine",
      "--kid",
      transport_kid ?? "",
      "--reason",
      "test",
    );
    await assertWrong(copy, {}, "certificate", {
      wrong: /lists it as revoked/,
      mend: "participant add-keys --name mine --transport",
    });
  });
});

Deno.test("the doctor names the step of a TPP's payment that goes wrong, and the command that helps [SB7]", async (t) => {
  await using sandbox = await openIntegratorsSandbox();
  const assertStep = (
    proxy: Patient["proxy"],
    layer: string,
    expected: Parameters<typeof assertWrong>[3],
  ): Promise<void> =>
    assertWrong(sandbox, { name: "shop", ...(proxy === undefined ? {} : { proxy }) }, layer, expected);
  await t.step("assertion", async () => {
    const broken = form((body) => body.set("client_assertion", `${body.get("client_assertion")}AAAA`));
    await assertStep(between("/token.oauth2", broken), "assertion", {
      wrong: /client_assertion/,
      mend: "task sign assertion --name shop --bank BANKA",
    });
  });
  await t.step("proof", async () => {
    const without = (request: HttpRequest): HttpRequest => {
      const { dpop: _, DPoP: __, ...headers } = request.headers;
      return { ...request, headers };
    };
    await assertStep(between("/token.oauth2", without), "proof", {
      wrong: /the DPoP header must be a proof JWT/,
      mend: "task sign dpop --name shop --method POST --url",
    });
  });
  await t.step("payload signature", async () => {
    const again = (request: HttpRequest): HttpRequest =>
      request.method === "POST" ? { ...request, body: `${request.body} ` } : request;
    await assertStep(between("/domestic-payment-consents", again), "payload signature", {
      wrong: /x-jws-signature.*the exact bytes of the body/,
      mend: "task sign payload --name shop",
    });
  });
  await t.step("PAR", async () => {
    const other = form((body) => body.set("redirect_uri", "https://shop.example/other"));
    await assertStep(between("/par.oauth2", other), "PAR", {
      wrong: /redirect_uri/,
      mend: "participant renew-statement --name shop --changes",
    });
  });
  await t.step("redirect", async () => {
    const lost = (send: Fetch): Fetch => async (url, request) => {
      const response = await send(url, request);
      if (!url.includes("/par.oauth2")) return response;
      const body = {
        ...await bodyOf<PushedRequest>(response),
        request_uri: `urn:ietf:params:oauth:request_uri:${"x".repeat(43)}`,
      };
      return Response.json(body, { status: response.status });
    };
    await assertStep(lost, "redirect", {
      wrong: /error page, number [0-9a-f-]{36}: This link cannot be used/,
      mend: "oauth-authorization-server/BANKA",
    });
  });
  const arm = async (fault: string): Promise<void> => {
    const response = await fetch(`${sandbox.endpoints.banks_url}/BANKA/faults`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ fault, times: 20 }),
    });
    await response.body?.cancel();
    assertEquals(response.status, 201);
  };
  const disarm = async (): Promise<void> => {
    const response = await fetch(`${sandbox.endpoints.banks_url}/BANKA/faults`, { method: "DELETE" });
    await response.body?.cancel();
  };
  await t.step("back channel", async () => {
    await arm("expired_return");
    await assertStep(undefined, "back channel", {
      wrong: /came back with server_error.*What the bank sent: exp must be later than now/,
      mend: "/BANKA/faults",
    });
    await disarm();
  });
  await t.step("order push", async () => {
    await arm("wrong_status");
    await assertStep(undefined, "order push", {
      wrong:
        /is Pending.*What the bank sent: Status must be AcceptedSettlementInProcess or Rejected; got 'Accepted'/,
      mend: "/BANKA/faults",
    });
    await disarm();
  });
});

Deno.test("the doctor names a directory that does not answer [SB7]", async () => {
  await using sandbox = await openIntegratorsSandbox();
  const dir = await copied(sandbox);
  await using silent = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    ({ signal }) => new Promise((resolve) => signal.addEventListener("abort", () => resolve(new Response()))),
  );
  const directory_url = `http://127.0.0.1:${silent.addr.port}`;
  await Deno.writeTextFile(
    `${dir.dir}/endpoints.json`,
    JSON.stringify({ ...sandbox.endpoints, directory_url }),
  );
  await assertWrong(dir, { name: "shop", deadlineMs: 100 }, "certificate", {
    wrong: /^http:\S+\/jwks does not answer: /,
    mend: "add-keys",
  });
});

Deno.test("the doctor names what is wrong with a bank's own server [SB7]", async (t) => {
  await using sandbox = await openIntegratorsSandbox();
  const port = freePort();
  const home = `http://localhost:${port}`;
  const software = { redirect_uris: [`${home}/sca`] };
  await sandbox.onboard("mine", "ASPSP", software, { payment_orders_uri: `${home}/orders` });
  await sandbox.register("mine", "ASPSP");
  await t.step("redirect: it does not run", async () => {
    await assertWrong(sandbox, {}, "redirect", { wrong: /does not answer/, mend: `curl -i ${home}/sca` });
  });
  let [visit, answer] = [405, 200];
  await using _server = Deno.serve({ port, hostname: "localhost", onListen: () => {} }, ({ url }) => {
    return new Response("", { status: url.endsWith("/sca") ? visit : answer });
  });
  await t.step("redirect: its address takes no customer", async () => {
    await assertWrong(sandbox, {}, "redirect", { wrong: /answers 405 to a customer/, mend: `${home}/sca` });
    visit = 400;
  });
  await t.step("order push: it takes an order that no one has signed", async () => {
    await assertWrong(sandbox, {}, "order push", {
      wrong: /answers 200 to an order that the platform has not signed/,
      mend: `${home}/orders`,
    });
  });
  await t.step("order push: its address is another one, or takes no POST", async () => {
    for (answer of [404, 405]) {
      const wrong = RegExp(`answers ${answer} to an order`);
      await assertWrong(sandbox, {}, "order push", { wrong, mend: `${home}/orders` });
    }
  });
  await t.step("nothing", async () => {
    answer = 400;
    assertEquals((await examined(sandbox, {})).finding, undefined);
  });
  await t.step("payload signature", async () => {
    const again = (request: HttpRequest): HttpRequest =>
      request.method === "PUT" ? { ...request, body: `${request.body} ` } : request;
    const proxy = between("/back-channel-payments", again);
    await assertWrong(sandbox, { ...(proxy === undefined ? {} : { proxy }) }, "payload signature", {
      wrong: /the exact bytes of the body/,
      mend: "task sign payload --name mine",
    });
  });
});
