/**
 * docs/operations/install.md, followed from a release: its commands run as they are written, on copies of /etc, /opt,
 * /usr/local and /var that end with the test. Then the unit's command starts as its user, and a payment goes through.
 */
import { assert, assertEquals } from "@std/assert";
import { build } from "../../scripts/upkeep/release/build.ts";
import { good, pay } from "testing/flows.ts";
import { authorised } from "testing/authorization_flow.ts";
import { asTheProxy, openFixture, settle } from "testing/served_environment.ts";
import { startCommand } from "testing/served_platform.ts";
import { testAuthority } from "testing/directory_environment.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const FOLDERS = ["etc", "opt", "usr/local", "var"];

/** The commands of the page, by their number. */
async function commandsOf(): Promise<readonly string[]> {
  const page = await Deno.readTextFile(`${ROOT}docs/operations/install.md`);
  return [...page.matchAll(/^\d+\. [\s\S]*?```sh\n([\s\S]*?)```/gm)].map(([, text = ""]) =>
    text.replaceAll(/^ {3,4}/gm, "")
  );
}

/** A shell script that runs the rest of its arguments where changes of the folders stay in `upper`. */
function onCopies(upper: string): string {
  const mounts = FOLDERS.map((folder) => {
    const name = folder.replace("/", "-");
    return `mkdir -p ${upper}/${name} ${upper}/${name}.work && mount -t overlay overlay -o lowerdir=/${folder},upperdir=${upper}/${name},workdir=${upper}/${name}.work /${folder}`;
  });
  return `${mounts.join(" && ")} && exec "$@"`;
}

// On demand only (deno task test:images): it takes minutes.
if (Deno.env.get("TEST_IMAGES") !== undefined) {
  Deno.test({
    name:
      "the commands of docs/operations/directory.md lead from a release to a directory that can start [F11]",
    async fn() {
      const folder = await Deno.makeTempDir({ prefix: "install-" });
      await Deno.chmod(folder, 0o755);
      try {
        const release = `${folder}/release`;
        await Deno.mkdir(release);
        await build("HEAD", release);
        await sign(folder, release);
        const { certificatePem, privateKeyPem } = await testAuthority();
        await Deno.writeTextFile(`${folder}/ca.pem`, certificatePem);
        await Deno.writeTextFile(`${folder}/ca.key.pem`, privateKeyPem, { mode: 0o600 });
        const page = await Deno.readTextFile(`${ROOT}docs/operations/directory.md`);
        const [, section = ""] = /## Install the directory\n([\s\S]*?)\n## /.exec(page) ?? [];
        const [install = "", check = "", ...more] = [...section.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map((
          [, text],
        ) => text);
        assertEquals(more, []);
        const ceremony = `cp ${folder}/ca.pem ${folder}/ca.key.pem /etc/participants-directory`;
        const script = ["set -e", ...(await commandsOf()).slice(0, 2), install, ceremony, check].join("\n");
        await Deno.writeTextFile(`${folder}/script`, script);
        const { success, stdout, stderr } = await new Deno.Command("unshare", {
          args: ["--mount", "sh", "-c", onCopies(`${folder}/upper`), "sh", "bash", `${folder}/script`],
          cwd: release,
          env: AUTHORITIES,
        }).output();
        const [said = "", faults = ""] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
        assert(success, faults);
        assertEquals(said.match(/^(ok|fault) +[a-z ]+:/gm), [
          "ok     configuration:",
          "ok     keys:",
          "ok     database:",
        ]);
      } finally {
        await Deno.remove(folder, { recursive: true });
      }
    },
  });
  Deno.test({
    name: "the ten commands of docs/operations/install.md lead from a release to a payment [F11]",
    async fn() {
      const folder = await Deno.makeTempDir({ prefix: "install-" });
      await Deno.chmod(folder, 0o755);
      await using fixture = await openFixture();
      try {
        const commands = await commandsOf();
        assertEquals(commands.length, 10);
        const release = `${folder}/release`;
        await Deno.mkdir(release);
        await build("HEAD", release);
        await sign(folder, release);
        await Deno.copyFile(`${fixture.folder}/web-ca.pem`, `${folder}/web-ca.pem`);
        const {
          PORT = "",
          PLATFORM_DIRECTORY_ISSUER: DIRECTORY_ISSUER = "",
          PLATFORM_BASE_URL: BASE_URL = "",
          PLATFORM_AUTH_URL: AUTH_URL = "",
          PLATFORM_PROXY_SECRET: PROXY_SECRET = "",
          PLATFORM_REGISTRATION_AUDIENCE: REGISTRATION_AUDIENCE = "",
          HTTPS_PROXY = "",
        } = fixture.env;
        const ours = (text: string): string =>
          text.replaceAll("https://directory.example.com/registration", REGISTRATION_AUDIENCE)
            .replaceAll("https://directory.example.com", DIRECTORY_ISSUER)
            .replaceAll("directory.example.com", new URL(DIRECTORY_ISSUER).host)
            .replaceAll("https://api.example.com", BASE_URL).replaceAll("https://auth.example.com", AUTH_URL)
            .replaceAll("$(openssl rand -hex 32)", PROXY_SECRET).replaceAll(
              "18080",
              `${Number(PORT) + 1}\nPORT=${PORT}\nOPERATIONS_HOST=127.0.0.2`,
            );
        const [check = "", ...before] = commands.slice(0, 9).map(ours).toReversed();
        const script = [
          `set -e; exec 3>&1 4>&2 >${folder}/output 2>&1`,
          ...before.toReversed(),
          OUTGOING,
          check,
          START,
        ];
        await Deno.writeTextFile(`${folder}/script`, script.join("\n"));
        const env = { ...AUTHORITIES, TEST_PROXY: HTTPS_PROXY, TEST_CA: `${folder}/web-ca.pem` };
        const shell = [
          "unshare",
          "--mount",
          "sh",
          "-c",
          onCopies(`${folder}/upper`),
          "sh",
          "bash",
          `${folder}/script`,
        ];
        const platform = startCommand(shell, release, env, "platform.listening");
        try {
          await platform.ready.catch(async (error) => {
            throw new Error(await Deno.readTextFile(`${folder}/output`), { cause: error });
          });
          const api = asTheProxy(PORT);
          const people = await settle(fixture, api);
          const environment = { now: Date.now(), ...people, api, browser: api };
          assertEquals(
            (await good(pay(environment, await authorised(environment)), 201)).Data.Status,
            "AcceptedSettlementInProcess",
          );
        } finally {
          platform.kill("SIGTERM");
        }
        assertEquals(await platform.ended, { code: 0, stderr: "" });
      } finally {
        await Deno.remove(folder, { recursive: true });
      }
    },
  });
}

/** Where this computer trusts others than the well-known authorities of npm's registry. */
const AUTHORITIES = Object.fromEntries(
  Object.entries(Deno.env.toObject()).filter(([name]) => /CERT|CA_STORE/.test(name)),
);

/** The directory of the test has no address that everyone knows. npm's registry has one. */
const OUTGOING = 'export HTTPS_PROXY="$TEST_PROXY" DENO_CERT="$TEST_CA"';

/** As the unit starts it: its user, environment, folder and command. Output of the commands before is not the platform's log. */
const START = `unit=packaging/systemd/payment-platform.service
set -a; . ./.env; set +a
export DENO_DIR=$(sed -n 's/^Environment=DENO_DIR=//p' $unit)
exec setpriv --reuid=payment-platform --regid=payment-platform --clear-groups --no-new-privs $(sed -n 's/^ExecStart=//p' $unit | sed 's|%d|/run/credentials|') >&3 2>&4
`;

async function sign(folder: string, release: string): Promise<void> {
  const script =
    `openssl genpkey -algorithm ed25519 -out key.pem && openssl pkey -in key.pem -pubout -out release.pub.pem &&
    openssl pkeyutl -sign -inkey key.pem -rawin -in ${release}/SHA256SUMS -out ${release}/SHA256SUMS.sig`;
  const { success } = await new Deno.Command("sh", { args: ["-c", script], cwd: folder }).output();
  assert(success);
}
