/**
 * The directory behind a real nginx and a real HAProxy with the configurations that docs/operations/directory.md names, and
 * the requests that pass through them.
 */
import { assert, assertEquals } from "@std/assert";
import { type DirectoryFixture, openDirectoryFixture } from "support/directory_process.ts";
import { software, thirdParty } from "testing/directory_environment.ts";
import { findProxy } from "support/proxy_program.ts";
import { exchangeRaw, type RawAnswer } from "support/raw_tls.ts";
import { freePort } from "../../scripts/command_line/free_ports.ts";
import { serverIdentity, webAuthority } from "testing/web_authority.ts";
import { waitForListener } from "testing/waiting.ts";

const OPEN = "directory.example.com";
const ADMIN = "directory-admin.example.com";

/** Sends a request to a host through nginx. */
type Send = (host: string, head: string, body?: string) => Promise<RawAnswer>;

/** A proxy that is installed. */
interface Proxy {
  readonly proxy: "nginx" | "haproxy";
  readonly program: string | undefined;
}

for (const proxy of ["nginx", "haproxy"] as const) {
  const { program } = await findProxy(proxy);
  Deno.test({
    name:
      `${proxy} before the directory: two hosts, and nothing of the administrators on the public one [E2] [E3]`,
    ignore: program === undefined,
    fn: () =>
      behind({ proxy, program }, {}, async (send, { token }) => {
        const authorization = `Authorization: Bearer ${token}\r\n`;
        const status = async (...request: Parameters<Send>): Promise<number> =>
          (await send(...request)).status;
        const redirects = { environment: "Production", redirect_uris: ["https://shop.example/callback"] };
        const details = { software: { ...software(), ...redirects } };
        const onboarding = JSON.stringify(await thirdParty([0, 1], details));
        const post = `POST /participants HTTP/1.1\r\n${authorization}Content-Type: application/json\r\n`;
        assertEquals(await status(OPEN, post, onboarding), 405);
        assertEquals(await status(ADMIN, post, onboarding), 201);
        for (
          const path of ["/participants/SHOP", "/participants/SHOP/history", "/%70articipants/SHOP/history"]
        ) {
          assertEquals(await status(OPEN, `GET ${path} HTTP/1.1\r\n${authorization}`), 404, path);
          assertEquals(await status(ADMIN, `GET ${path} HTTP/1.1\r\n${authorization}`), 200, path);
          assertEquals(await status(ADMIN, `GET ${path} HTTP/1.1\r\n`), 401, path);
        }
        for (const path of ["/jwks", "/ca.pem", "/status", "/participants/SHOP/jwks"]) {
          assertEquals(await status(OPEN, `GET ${path} HTTP/1.1\r\n`), 200, path);
          assertEquals(await status(ADMIN, `GET ${path} HTTP/1.1\r\n${authorization}`), 404, path);
        }
        assertEquals(await status(ADMIN, post, JSON.stringify("x".repeat(70_000))), 413);
        assertEquals(await status("other.example.com", "GET /jwks HTTP/1.1\r\n"), 0, "no handshake");
        const { text } = await send(OPEN, "GET /jwks HTTP/1.1\r\n");
        assert(/strict-transport-security: max-age=63072000/i.test(text));
        const host = `GET /participants/SHOP HTTP/1.1\r\nHost: ${ADMIN}\r\n${authorization}`;
        assertEquals(await status(OPEN, host), 400, "two hosts in one request");
      }),
  });

  Deno.test({
    name:
      `${proxy} before the directory: a client cannot choose the address that its reads are counted by [E2]`,
    ignore: program === undefined,
    fn: () =>
      behind({ proxy, program }, { DIRECTORY_RATE_LIMIT: "1/3" }, async (send) => {
        const statuses: number[] = [];
        for (let count = 0; count < 5; count++) {
          const { status } = await send(OPEN, `GET /jwks HTTP/1.1\r\nX-Real-IP: 192.0.2.${count}\r\n`);
          statuses.push(status);
        }
        assertEquals(statuses, [200, 200, 200, 429, 429]);
      }),
  });

  Deno.test({
    name: `${proxy} before the directory: 503 with Retry-After while the directory is away [F3]`,
    ignore: program === undefined,
    fn: () =>
      behind({ proxy, program }, {}, async (send, _fixture, stop) => {
        await stop();
        const { status, text } = await send(OPEN, "GET /jwks HTTP/1.1\r\n");
        assertEquals(status, 503);
        assert(/retry-after: 5/i.test(text));
      }),
  });
}

async function behind(
  proxy: Proxy,
  env: Readonly<Record<string, string>>,
  test: (send: Send, fixture: DirectoryFixture, stop: () => Promise<void>) => Promise<void>,
): Promise<void> {
  await using fixture = await openDirectoryFixture();
  const process = await fixture.start(env);
  const port = freePort();
  const stop = async (): Promise<void> => {
    process.kill("SIGTERM");
    await process.ended;
  };
  try {
    await process.ready;
    const child = await startProxy(proxy, fixture, port);
    try {
      const { certificatePem: ca } = await webAuthority();
      await test(
        (servername, head, body = "") =>
          exchangeRaw(
            { port, servername, ca },
            `${head}Host: ${servername}\r\nConnection: close\r\n` +
              `${body === "" ? "" : `Content-Length: ${new TextEncoder().encode(body).length}\r\n`}\r\n` +
              new TextEncoder().encode(body).reduce((text, octet) => text + String.fromCharCode(octet), ""),
          ),
        fixture,
        stop,
      );
    } finally {
      child.kill("SIGTERM"); // the master ends its workers
      await child.status;
    }
  } finally {
    await stop();
  }
}

/** Starts the proxy with the reference configuration; each replaced text must occur in it. */
async function startProxy(
  { proxy, program = "" }: Proxy,
  fixture: DirectoryFixture,
  port: number,
): Promise<Deno.ChildProcess> {
  const { folder } = fixture;
  const tls = `${folder}/tls`;
  await Deno.mkdir(tls);
  const identity = await serverIdentity([OPEN, ADMIN]);
  for (const name of ["directory", "directory-admin"]) {
    await Deno.writeTextFile(`${tls}/${name}.pem`, identity.certificatePem);
    await Deno.writeTextFile(`${tls}/${name}.pem.key`, identity.privateKeyPem, { mode: 0o600 });
  }
  const user = new TextDecoder().decode((await new Deno.Command("id", { args: ["-un"] }).output()).stdout)
    .trim();
  const isNginx = proxy === "nginx";
  const name = isNginx ? "directory.nginx.conf" : "directory.haproxy.cfg";
  let text = await Deno.readTextFile(new URL(`../../scripts/operators/proxy/${name}`, import.meta.url));
  const changes = {
    ...(isNginx
      ? {
        "user www-data;": `user ${user};`,
        "/run/nginx.pid": `${folder}/nginx.pid`,
        "/var/log/nginx": folder,
        "/var/lib/nginx": folder,
      }
      : { "user haproxy": `user ${user}`, "log /dev/log local0": "log 127.0.0.1:9 local0" }),
    "/etc/participants-directory/tls": tls,
    "0.0.0.0:443": `127.0.0.1:${port}`,
    "127.0.0.1:8090": new URL(fixture.url).host,
    "127.0.0.1:8091": new URL(fixture.adminUrl).host,
  };
  for (const [from, to] of Object.entries(changes)) {
    assert(text.includes(from), from);
    text = text.replaceAll(from, to);
  }
  const file = `${folder}/${name}`;
  await Deno.writeTextFile(file, text);
  const args = isNginx
    ? ["-p", folder, "-c", file, "-e", `${folder}/error.log`, "-g", "daemon off;"]
    : ["-db", "-q", "-f", file];
  const child = new Deno.Command(program, { args, stdin: "null", stdout: "null", stderr: "inherit" }).spawn();
  await waitForListener(port);
  return child;
}
