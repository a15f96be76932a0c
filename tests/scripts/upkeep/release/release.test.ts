/** `deno task release`: one folder that holds a release, equal in two builds, whose every byte can be verified [F11]. */
import { assert, assertEquals, assertNotEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { parse } from "@std/yaml";
import { Ajv } from "ajv";
import { release } from "../../../../scripts/upkeep/release/main.ts";
import { billOf, type Lock } from "../../../../scripts/upkeep/release/sbom.ts";
import { packageFolder, pinned, readProject } from "../../../../scripts/upkeep/packages/package_files.ts";

const ROOT = new URL("../../../../", import.meta.url).pathname;

interface Workflow {
  readonly jobs: Readonly<
    Record<string, {
      readonly steps: readonly {
        readonly uses?: string;
        readonly with?: Readonly<Record<string, unknown>>;
      }[];
    }>
  >;
}

interface Bill {
  readonly components: readonly { readonly purl: string }[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
  readonly metadata: { readonly component: { readonly version: string } };
}

async function json<T>(path: string): Promise<T> {
  return JSON.parse(await Deno.readTextFile(path)) as T;
}

async function run(script: string, cwd: string): Promise<{ readonly code: number; readonly output: string }> {
  const { code, stdout, stderr } = await new Deno.Command("sh", { args: ["-ec", script], cwd }).output();
  return { code, output: [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes)).join("") };
}

/** The commands that docs/operations/upgrade.md gives for the verification. */
async function verification(): Promise<string> {
  const page = await Deno.readTextFile(`${ROOT}docs/operations/upgrade.md`);
  const [, commands = ""] = /## Verify a release\n.*?```sh\n(.*?)```/s.exec(page) ?? [];
  return commands;
}

async function flip(path: string, at: number): Promise<void> {
  const bytes = await Deno.readFile(path);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  await Deno.writeFile(path, bytes);
}

Deno.test("a release is equal in two builds, has what its page says, and no byte of it can change [F11]", async (t) => {
  const folder = await Deno.makeTempDir({ prefix: "release-test-" });
  try {
    const key = `${folder}/release.pem`;
    await run(
      `umask 077; openssl genpkey -algorithm ed25519 -out ${key}; openssl pkey -in ${key} -pubout -out ${folder}/release.pub.pem`,
      folder,
    );
    // In a shell: the umask of this process is that of other tests too.
    const program = `'${Deno.execPath()}' task -q release --key ${key} --out ${folder}/out`;
    const made = await run(`umask 077; exec ${program}`, ROOT); // as the workflow has it, for the key
    assertEquals(made.code, 0, made.output);
    const out = made.output.trim().split("\n").at(-1) ?? "";
    const { version } = await json<{ version: string }>(`${ROOT}deno.json`);
    await Deno.copyFile(`${folder}/release.pub.pem`, `${folder}/out/release.pub.pem`);
    const verify = async (): Promise<number> => (await run(await verification(), out)).code;

    await t.step("its folder has the version's name and every part", async () => {
      assertEquals(out, `${folder}/out/${version}`);
      const sums = await Deno.readTextFile(`${out}/SHA256SUMS`);
      const parts = [
        `payment-platform-${version}-source.tar.gz`,
        `payment-platform-${version}-bundle.tar.gz`,
      ];
      const others = [
        "sbom.cdx.json",
        "container/Containerfile",
        "systemd/payment-platform.service",
        "prometheus/rules.yml",
        "grafana/health.json",
      ];
      for (const part of [...parts, ...others]) assertStringIncludes(sums, `  ${part}\n`);
      assert(/^[0-9a-f]{64} {2}payment-initiation-client-.*\.tgz$/m.test(sums));
      const { output } = await run(
        `tar -tzf ${parts[0]} | grep -c /src/; tar -xzOf ${parts[0]} payment-platform-${version}/deno.json`,
        out,
      );
      assertStringIncludes(output, `"version": "${version}"`);
    });

    await t.step(
      "everybody may read it, so that a container's own user can when it is unpacked",
      async () => {
        const closed = await run("find . -type d ! -perm -055 -o -type f ! -perm -044", out);
        assertEquals(closed.output, "");
      },
    );

    await t.step("its bundle names no folder of this computer and starts", async () => {
      const { output } = await run(
        `tar -xzf payment-platform-${version}-bundle.tar.gz -C ..; cat ../platform.js`,
        out,
      );
      assert(!/registry\.npmjs\.org/.test(output));
      const { stdout } = await new Deno.Command(Deno.execPath(), {
        args: [
          "run",
          "--no-prompt",
          "--no-config",
          "--allow-env",
          "--allow-read",
          "--unstable-kv",
          `${folder}/out/platform.js`,
          "--check",
        ],
        cwd: folder,
        clearEnv: true,
      }).output();
      assertStringIncludes(
        new TextDecoder().decode(stdout),
        "fault  configuration: PLATFORM_BASE_URL: set it to",
      );
    });

    await t.step("its bill of materials is CycloneDX 1.6 and has each package of the locks", async () => {
      const bill = await json<Bill>(`${out}/sbom.cdx.json`);
      assertEquals(await faultsOf(bill), null);
      assertNotEquals(
        await faultsOf({ ...bill, specVersion: "1.6", components: [{ type: "unheard" }] }),
        null,
      );
      const purls = new Set(bill.components.map(({ purl }) => purl));
      const locks = await Promise.all(
        ["production", "directory"].map((name) => json<{ npm: object }>(`${ROOT}${name}.lock`)),
      );
      const named = new Set(
        locks.flatMap(({ npm }) => Object.keys(npm)).map((one) =>
          `pkg:npm/${one.split("_")[0]?.replace(/^@/, "%40")}`
        ),
      );
      assertEquals([...named].filter((one) => !purls.has(one)), []);
      assertEquals([purls.has("pkg:npm/%40deno/linux-x64-glibc@2.9.6"), bill.metadata.component.version], [
        true,
        version,
      ]);
    });

    await t.step(
      "the page's commands verify it, and refuse one that has changed or that another key has signed",
      async () => {
        assertEquals(await verify(), 0);
        const victims: readonly [string, number][] = [
          [`payment-platform-${version}-source.tar.gz`, 20_000],
          ["systemd/payment-platform.service", 3],
          ["SHA256SUMS", 5],
          ["SHA256SUMS.sig", 5],
        ];
        for (const [name, at] of victims) {
          await flip(`${out}/${name}`, at);
          assertNotEquals(await verify(), 0, name);
          await flip(`${out}/${name}`, at);
        }
        await run(
          `openssl genpkey -algorithm ed25519 | openssl pkey -pubout -out release.pub.pem`,
          `${folder}/out`,
        );
        assertNotEquals(await verify(), 0);
      },
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("no job leaves the credentials of its checkout to the programs that it runs [F11]", async () => {
  for (const name of ["ci", "release"]) {
    const { jobs } = parse(await Deno.readTextFile(`${ROOT}.github/workflows/${name}.yml`)) as Workflow;
    const steps = Object.values(jobs).flatMap((job) => job.steps);
    const kept = steps.filter(({ uses }) => uses?.startsWith("actions/checkout@"))
      .map((step) => step.with?.["persist-credentials"]);
    assertEquals(kept, [false], name);
  }
});

Deno.test("a bill of materials has the dependencies of each lock in that lock's versions [F11]", async () => {
  const integrity = `sha512-${new Uint8Array(64).toBase64()}`;
  const released = { name: "example", version: "1.0.0", license: "MIT", time: 0 };
  const lockOf = (user: string, version: string): Lock => ({
    npm: { [`${user}@1.0.0`]: { integrity, dependencies: ["used"] }, [`used@${version}`]: { integrity } },
  });
  const bill = JSON.parse(
    await billOf(released, [lockOf("one", "1.0.0"), lockOf("other", "2.0.0")], {}),
  ) as Bill;
  const of = (ref: string): unknown => bill.dependencies.find((each) => each.ref === ref)?.dependsOn;
  assertEquals(of("pkg:npm/one@1.0.0"), ["pkg:npm/used@1.0.0"]);
  assertEquals(of("pkg:npm/other@1.0.0"), ["pkg:npm/used@2.0.0"]);
});

Deno.test("a release needs a key that only its owner may open [F11]", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const key = `${folder}/key.pem`;
    await Deno.writeTextFile(key, "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n");
    await Deno.chmod(key, 0o640);
    const start = (): Promise<string> => release({ key, commit: "HEAD", out: folder });
    await assertRejects(start, Error, "others may open");
    await Deno.chmod(key, 0o600);
    await assertRejects(start, Error, "is not an Ed25519 key");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

/** What the schema of CycloneDX finds. */
async function faultsOf(bill: unknown): Promise<unknown> {
  const schemas = `${await packageFolder(
    pinned(await readProject(), "@cyclonedx/cyclonedx-library"),
  )}/res/schema`;
  const ajv = new Ajv({ strict: false, validateFormats: false });
  for (const name of ["spdx", "jsf-0.82", "cryptography-defs"]) {
    const { $id: _, ...schema } = await json<{ $id: string }>(`${schemas}/${name}.SNAPSHOT.schema.json`);
    ajv.addSchema(schema, `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`);
  }
  const validate = ajv.compile(await json<object>(`${schemas}/bom-1.6.SNAPSHOT.schema.json`));
  return validate(bill) ? null : validate.errors;
}
