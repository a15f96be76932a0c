/**
 * `deno task proxy-config`: the files that it writes, their modes, and values that must never reach a proxy's
 * configuration.
 */
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { fillIn, render } from "../../scripts/operators/proxy/render.ts";
import { type Backends, PROXIES, readOrder, SettingsError } from "../../scripts/operators/proxy/settings.ts";
import { UsageError } from "../../scripts/command_line/run.ts";
import { taskCommand } from "testing/served_platform.ts";
import { AUTH_URL, BASE_URL, PROXY_SECRET } from "testing/environment.ts";

const ENV = { PLATFORM_BASE_URL: BASE_URL, PLATFORM_AUTH_URL: AUTH_URL, PLATFORM_PROXY_SECRET: PROXY_SECRET };
const root = new URL("../../", import.meta.url).pathname;

Deno.test("proxy-config fills every placeholder and writes for the owner alone", async () => {
  const folder = await Deno.makeTempDir();
  for (const proxy of PROXIES) {
    const paths = await render(readOrder([proxy, `--out=${folder}`, "--overwrite"], ENV));
    for (const path of paths) {
      const text = await Deno.readTextFile(path);
      assert(!/\{\{|\}\}/.test(text), path);
      const mode = path.endsWith(".html") ? 0o644 : 0o600; // the page is public; nginx reads it as another user
      assertEquals(((await Deno.stat(path)).mode ?? 0) & 0o777, mode, path);
    }
  }
  const nginx = await Deno.readTextFile(`${folder}/nginx.conf`);
  const haproxy = await Deno.readTextFile(`${folder}/haproxy.cfg`);
  for (const text of [nginx, haproxy]) {
    assertEquals(text.split(PROXY_SECRET).length - 1, 1, "the secret stands in one place");
    for (const part of ["api.platform.example", "auth.platform.example", "127.0.0.1:8080", "0.0.0.0:443"]) {
      assert(text.includes(part), part);
    }
  }
  assert(nginx.includes("user www-data;") && haproxy.includes("user haproxy"));
  await Deno.remove(folder, { recursive: true });
});

Deno.test("proxy-config makes both proxies listen on the TLS port alone, and HAProxy on loopback for its figures", async () => {
  const folder = await Deno.makeTempDir();
  for (const proxy of PROXIES) {
    await Deno.mkdir(`${folder}/${proxy}`);
    const [path = ""] = await render(readOrder([proxy, `--out=${folder}/${proxy}`], ENV));
    const text = await Deno.readTextFile(path);
    const listening = [...text.matchAll(/^\s*(?:listen|bind)\s+(\S+?:\d+)(?:\s+(ssl))?/gm)]
      .map(([, address, tls]) => [address, tls]);
    const figures = listening.filter(([address]) => address === "127.0.0.1:8405");
    assertEquals(figures, proxy === "haproxy" ? [["127.0.0.1:8405", undefined]] : [], path);
    const others = listening.filter(([address]) => address !== "127.0.0.1:8405");
    assert(others.length > 0, path);
    for (const [address, tls] of others) assertEquals([address, tls], ["0.0.0.0:443", "ssl"], path);
    assertEquals(text.match(/^\s*(?:listen|bind)\s/gm)?.length, listening.length, path);
  }
  await Deno.remove(folder, { recursive: true });
});

Deno.test("proxy-config takes the processes' addresses from PLATFORM_BACKENDS, or one from HOST and PORT", () => {
  const served = (env: Record<string, string>): Backends =>
    readOrder(["nginx", "--out=/tmp"], { ...ENV, ...env }).backends;
  const backends = (env: Record<string, string>): readonly string[] => {
    const { api, browser } = served(env);
    assertEquals(api, browser);
    return api;
  };
  assertEquals(backends({}), ["127.0.0.1:8080"]);
  assertEquals(backends({ HOST: "10.0.0.5", PORT: "9000" }), ["10.0.0.5:9000"]);
  assertEquals(backends({ HOST: "0.0.0.0" }), ["127.0.0.1:8080"]);
  assertEquals(backends({ HOST: "::" }), ["[::1]:8080"]);
  assertEquals(backends({ PLATFORM_BACKENDS: "10.0.0.5:8080, platform.internal:8081", HOST: "::" }), [
    "10.0.0.5:8080",
    "platform.internal:8081",
  ]);
  assertEquals(served({ PLATFORM_BACKENDS: "api@a:1,browser@b:1, api@[::1]:2 ,c:3" }), {
    api: ["a:1", "[::1]:2", "c:3"],
    browser: ["b:1", "c:3"],
  });
});

Deno.test("proxy-config writes each process into every group of backends, with the limits of one process", async () => {
  const folder = await Deno.makeTempDir();
  const env = { ...ENV, PLATFORM_BACKENDS: "10.0.0.5:8080,10.0.0.6:8080,10.0.0.7:8080" };
  for (const proxy of PROXIES) {
    const [path = ""] = await render(readOrder([proxy, `--out=${folder}`, "--overwrite"], env));
    const lines = (await Deno.readTextFile(path)).split("\n").filter((line) =>
      /^\s*server .*:8080/.test(line)
    );
    assertEquals(lines.length, 9, path);
    for (const number of [1, 2, 3]) {
      const own = lines.filter((line) => line.includes(`10.0.0.${number + 4}:8080`));
      assertEquals(own.map((line) => /max_?conn[a-z]*[ =](\d+)/.exec(line)?.[1]), ["240", "80", "40"]);
      if (proxy === "nginx") continue;
      assert(own.every((line) => line.includes(`server platform${number} `)), path);
      assertEquals(own.map((line) => /track (\S+)/.exec(line)?.[1]), [
        undefined,
        `platform/platform${number}`,
        `platform/platform${number}`,
      ]);
    }
  }
  await Deno.remove(folder, { recursive: true });
});

Deno.test("proxy-config rejects values that could end a directive, and never quotes the secret", () => {
  const faults = (args: readonly string[], env: Record<string, string | undefined> = {}): string => {
    const { message }: Error = assertThrows(() => readOrder(args, { ...ENV, ...env }), SettingsError);
    assert(!message.includes(PROXY_SECRET));
    return message.split("\n").slice(1).map((line: string) => line.replace("  - ", "")).join("|");
  };
  const out = "--out=/etc/nginx";
  assertEquals(faults([]), "say nginx or haproxy");
  assertEquals(faults(["apache", out]), "say nginx or haproxy");
  assertEquals(faults(["nginx"]), "--out: must be an absolute path of letters, digits and . _ - /");
  const rejected: readonly (readonly [string, string])[] = [
    ["--listen=443; include /etc/passwd", "--listen: must be an address and a port, such as 0.0.0.0:443"],
    ["--listen=0.0.0.0:443\nuser root", "--listen: must be an address and a port, such as 0.0.0.0:443"],
    ["--api-certificate=/a;b", "--api-certificate: must be an absolute path of letters, digits and . _ - /"],
    ["--auth-key=relative.pem", "--auth-key: must be an absolute path of letters, digits and . _ - /"],
    ["--user=root;", "--user: must be the name of a user"],
    ["--log-target=/dev/log local0\n", "--log-target: must be a syslog address, or stdout"],
  ];
  for (const [option, words] of rejected) assertEquals(faults(["nginx", out, option]), words);
  assertEquals(
    faults(["nginx", out], {
      PLATFORM_BASE_URL: "https://api.example;x",
      PLATFORM_AUTH_URL: undefined,
      PLATFORM_PROXY_SECRET: 'se"cret',
    }),
    "PLATFORM_BASE_URL: must be a host name|PLATFORM_AUTH_URL: must be a host name|PLATFORM_PROXY_SECRET: must be the secret that the platform has",
  );
  for (const BACKENDS of ["127.0.0.1", "a:1,,b:2", "a:1,a:1", "a:1,b:2\ninclude x"]) {
    assertEquals(
      faults(["haproxy", out], { PLATFORM_BACKENDS: BACKENDS }),
      "PLATFORM_BACKENDS: must be different addresses with ports, comma separated, such as 10.0.0.5:8080",
      BACKENDS,
    );
  }
  for (const BACKENDS of ["api@a:1,api@b:2", "api@a:1"]) {
    assertEquals(
      faults(["nginx", out], { PLATFORM_BACKENDS: BACKENDS }),
      "PLATFORM_BACKENDS: must have a process that serves browser",
    );
  }
  for (
    const [CELLS, BACKENDS] of [["", "a:1;eu=b:1"], ["eu=BANKB", "a:1"], ["eu=BANKB", "a:1;us=b:1"]] as const
  ) {
    const [fault = ""] = faults(["haproxy", out], { PLATFORM_CELLS: CELLS, PLATFORM_BACKENDS: BACKENDS })
      .split(",");
    assertEquals(
      fault,
      "PLATFORM_BACKENDS: must have the processes of each cell of PLATFORM_CELLS",
      BACKENDS,
    );
  }
  const injected = { PLATFORM_CELLS: "eu=BANKB)/ } #", PLATFORM_BACKENDS: "a:1;eu=b:1" };
  assert(faults(["haproxy", out], injected).startsWith("PLATFORM_CELLS: must be each further cell's banks"));
  assertThrows(
    () => readOrder(["nginx", out, "--frobnicate=1"], ENV),
    UsageError,
    "Unknown option '--frobnicate",
  );
});

Deno.test("proxy-config replaces files only with --overwrite, and otherwise names them and writes none", async () => {
  const folder = await Deno.makeTempDir();
  await Deno.writeTextFile(`${folder}/nginx.conf`, "mine");
  const { message } = await assertRejects(
    () => render(readOrder(["nginx", `--out=${folder}`], ENV)),
    SettingsError,
  );
  assert(message.includes(`${folder}/nginx.conf exists; add --overwrite to replace it`), message);
  assertEquals(await Deno.readTextFile(`${folder}/nginx.conf`), "mine");
  assertEquals([...Deno.readDirSync(folder)].map(({ name }) => name), ["nginx.conf"]);
  await Deno.symlink("/nowhere", `${folder}/unavailable.html`); // a dangling link counts as a file
  await Deno.remove(`${folder}/nginx.conf`);
  await assertRejects(
    () => render(readOrder(["nginx", `--out=${folder}`], ENV)),
    SettingsError,
    "unavailable.html",
  );
  await Deno.remove(`${folder}/unavailable.html`);
  await render(readOrder(["nginx", `--out=${folder}`], ENV));
  await Deno.writeTextFile(`${folder}/nginx.conf`, "open to all", { mode: 0o644 });
  using reader = await Deno.open(`${folder}/nginx.conf`);
  await render(readOrder(["nginx", `--out=${folder}`, "--overwrite"], ENV));
  assert((await Deno.readTextFile(`${folder}/nginx.conf`)).includes(PROXY_SECRET));
  assertEquals((await new Response(reader.readable).text()).includes(PROXY_SECRET), false); // opened when all might
  await Deno.remove(folder, { recursive: true });
});

Deno.test("proxy-config leaves no placeholder without a value", () => {
  assertEquals(fillIn("a {{B}} {{B}}", { B: "c" }, { api: [], browser: [] }), "a c c");
  assertThrows(() => fillIn("a {{B}}", {}, { api: [], browser: [] }), Error, "asks for B");
});

Deno.test("proxy-config runs as a task, with rights to write and to read its templates", async () => {
  const folder = await Deno.makeTempDir();
  const [program = "", ...args] = await taskCommand("proxy-config");
  const run = (...words: string[]): Promise<Deno.CommandOutput> =>
    new Deno.Command(program, { args: [...args, ...words], cwd: root, env: ENV }).output();
  const made = await run("haproxy", `--out=${folder}`);
  assertEquals(
    new TextDecoder().decode(made.stdout),
    `${folder}/haproxy.cfg\n${folder}/haproxy.crt_list\n${folder}/unavailable.html\n`,
  );
  const rejected = await run("haproxy");
  assertEquals([rejected.code, new TextDecoder().decode(rejected.stderr)], [
    2,
    "The proxy's configuration cannot be made:\n  - --out: must be an absolute path of letters, digits and . _ - /\n",
  ]);
  await Deno.remove(folder, { recursive: true });
});
