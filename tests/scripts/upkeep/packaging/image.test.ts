/**
 * The container images, built by buildah on a base of mmdebstrap, and run as a container engine runs them: user 10001, a
 * root file system that is read-only and has no shell, and no network address but those of the test. `deno task test:image`.
 */
import { assert, assertEquals } from "@std/assert";
import { good, pay } from "testing/flows.ts";
import { authorised } from "testing/authorization_flow.ts";
import { openTlsPostgresServer } from "testing/postgres_tls.ts";
import { asTheProxy, openFixture, type ServedFixture, settle } from "testing/served_environment.ts";
import { type ServedPlatform, startCommand } from "testing/served_platform.ts";

const ROOT = new URL("../../../../", import.meta.url).pathname;
const CONTEXT = `${ROOT}.data/image`;
const USER = 10001;

/** What the image says about a container. */
interface ImageConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly WorkingDir: string;
  readonly Entrypoint: readonly string[];
  readonly Healthcheck: { readonly Test: readonly string[] };
}

/** A root file system of an image, and what the image says. */
interface Image {
  readonly root: string;
  readonly config: ImageConfig;
}

async function output(program: string, ...args: readonly string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(program, { args: [...args], cwd: ROOT })
    .output();
  const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
  assert(success, `${program} ${args.join(" ")}: ${text(stderr)}`);
  return text(stdout).trim();
}

/** Images in a store of their own. */
async function openImages(): Promise<{ build(target: string): Promise<Image> } & AsyncDisposable> {
  const folder = await Deno.makeTempDir({ prefix: "image-" });
  const store = ["--root", `${folder}/root`, "--runroot", `${folder}/run`];
  const buildah = (command: string, ...args: readonly string[]): Promise<string> =>
    output("buildah", ...store, command, ...args);
  const build = (...args: readonly string[]): Promise<string> =>
    buildah("build", "--quiet", "--isolation", "chroot", "--layers=false", "--format", "docker", ...args);
  await Deno.mkdir(`${folder}/base`);
  await output("mmdebstrap", "--quiet", "--variant=minbase", "bookworm", `${folder}/base/base.tar`);
  await Deno.writeTextFile(`${folder}/base/Containerfile`, "FROM scratch\nADD base.tar /\n");
  await build("--tag", "localhost/base", `${folder}/base`);
  return {
    async build(target) {
      await build(
        "--build-arg",
        "BASE=localhost/base",
        "--target",
        target,
        "--tag",
        `localhost/${target}`,
        CONTEXT,
      );
      const container = await buildah("from", "--pull-never", `localhost/${target}`);
      const { Docker: { config } } = JSON.parse(
        await buildah("inspect", "--type", "image", `localhost/${target}`),
      ) as {
        readonly Docker: { readonly config: ImageConfig };
      };
      return { root: await buildah("mount", container), config };
    },
    async [Symbol.asyncDispose]() {
      await buildah("rm", "--all");
      await Deno.remove(folder, { recursive: true });
    },
  };
}

/** The arguments of `unshare` for a command inside an image. `exec` everywhere, so that signals reach the program. */
function inside({ root, config }: Image, command: readonly string[]): string[] {
  assertEquals(config.User, `${USER}:${USER}`);
  const script = `mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && mount -t proc proc "$1/proc" &&
    mount --rbind /dev "$1/dev" && exec unshare --root="$1" --wd="$2" --setgid=${USER} --setuid=${USER} -- "$\{@:3}"`;
  return ["unshare", "--mount", "bash", "-c", script, "bash", root, config.WorkingDir, ...command];
}

function environmentOf({ config }: Image): Record<string, string> {
  return Object.fromEntries(config.Env.map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string]));
}

async function run(
  image: Image,
  command: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<{ readonly code: number; readonly stderr: string }> {
  const [program = "", ...args] = inside(image, command);
  const all = { ...environmentOf(image), ...env };
  const started = new Deno.Command(program, { args, clearEnv: true, env: all, stdin: "null" });
  const { code, stderr } = await started.output();
  return { code, stderr: new TextDecoder().decode(stderr) };
}

/** The files of the fixture in the container, as its user's. Returns the environment with their places. */
async function place(
  { folder, env }: ServedFixture,
  { root }: Image,
  authority: string,
): Promise<Record<string, string>> {
  const etc = "/etc/payment-platform";
  await Deno.mkdir(root + etc, { mode: 0o755 });
  for (const name of ["platform-keys.json", "wrapping.keys", "web-ca.pem"]) {
    await Deno.copyFile(`${folder}/${name}`, `${root}${etc}/${name}`);
    await Deno.chown(`${root}${etc}/${name}`, USER, USER);
  }
  await Deno.copyFile(authority, `${root}${etc}/db-ca.pem`);
  await Deno.writeTextFile(`${root}/etc/hosts`, "127.0.0.1 localhost\n"); // as a container engine does
  return Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value.replace(folder, etc)]));
}

async function removeShells({ root }: Image): Promise<void> {
  for (const shell of ["sh", "dash", "bash"]) await Deno.remove(`${root}/usr/bin/${shell}`);
}

// On demand only (deno task test:images): it takes minutes.
if (Deno.env.get("TEST_IMAGES") !== undefined) {
  Deno.test({
    name:
      "the images hold no more than they need, migrate a database, answer their health check and take a payment without a shell",
    async fn() {
      await output(Deno.execPath(), "task", "image");
      await using images = await openImages();
      await using server = await openTlsPostgresServer(["localhost"]);
      await using fixture = await openFixture();
      const [tools, platform] = [await images.build("tools"), await images.build("platform")];
      await Promise.all([tools, platform].map(removeShells));
      const databases = await Promise.all([server.newDatabase(), server.newDatabase()]);
      const urls = databases.map((url) =>
        `postgres://postgres@localhost:${server.port}${
          new URL(url).pathname
        }?sslrootcert=/etc/payment-platform/db-ca.pem`
      );
      await place(fixture, tools, server.authority);
      for (const url of urls) {
        assertEquals(
          await run(tools, [...tools.config.Entrypoint, "store", "migrate"], { PLATFORM_STORE_URL: url }),
          {
            code: 0,
            stderr: "",
          },
        );
      }
      const [store = "", dataKeys = ""] = urls;
      const env: Record<string, string> = {
        ...environmentOf(platform),
        ...await place(fixture, platform, server.authority),
        PLATFORM_STORE_URL: store,
        PLATFORM_DATA_KEYS_STORE: dataKeys,
        PLATFORM_LAME_DUCK_SECONDS: "0",
      };
      const started = startCommand(
        inside(platform, platform.config.Entrypoint),
        ROOT,
        env,
        "platform.listening",
      );
      try {
        await started.ready;
        await payThrough(fixture, started);
        const [kind, ...check] = platform.config.Healthcheck.Test;
        const health = async (port: string): Promise<number> =>
          (await run(platform, check, { PORT: port })).code;
        assertEquals([kind, await health(env["PORT"] ?? ""), await health("9")], ["CMD", 0, 1]);
      } finally {
        started.kill("SIGTERM");
      }
      assertEquals(await started.ended, { code: 0, stderr: "" });
    },
  });
}

async function payThrough(fixture: ServedFixture, { lines }: ServedPlatform): Promise<void> {
  const api = asTheProxy(fixture.env["PORT"] ?? "");
  const people = await settle(fixture, api);
  const environment = { now: Date.now(), ...people, api, browser: api };
  const payment = await good(pay(environment, await authorised(environment)), 201);
  assertEquals(payment.Data.Status, "AcceptedSettlementInProcess");
  assertEquals(lines[0]?.["host"], "0.0.0.0");
}
