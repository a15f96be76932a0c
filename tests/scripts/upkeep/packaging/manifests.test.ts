/**
 * The compose file and the Kubernetes manifests of packaging [F13]: their schemas, the variables and paths of the
 * programs, and the files that they name. No container engine runs here.
 */
import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { parse, parseAll } from "@std/yaml";
import { Ajv } from "ajv";
import { Deployment } from "kubernetes-models/apps/v1/Deployment";
import { HorizontalPodAutoscaler } from "kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler";
import { Job } from "kubernetes-models/batch/v1/Job";
import { NetworkPolicy } from "kubernetes-models/networking.k8s.io/v1/NetworkPolicy";
import { PodDisruptionBudget } from "kubernetes-models/policy/v1/PodDisruptionBudget";
import { Namespace } from "kubernetes-models/v1/Namespace";
import { Service } from "kubernetes-models/v1/Service";
import { DIRECTORY_VARIABLES } from "../../../../src/directory/process/config.ts";
import { isHandedOver } from "../../../../src/base/http/secret_files.ts";
import { VARIABLES } from "../../../../src/platform/config/config.ts";
import { openDirectoryFixture } from "support/directory_process.ts";
import { packageFolder, pinned, readProject } from "../../../../scripts/upkeep/packages/package_files.ts";
import { present } from "testing/answers.ts";
import { giveToServer, initialise, postgresPrograms, startAsServer } from "testing/postgres_node.ts";
import { waitUntil } from "testing/waiting.ts";
import { freePort } from "../../../../scripts/command_line/free_ports.ts";
import { openTemporaryFolder } from "testing/temporary_folder.ts";

const ROOT = new URL("../../../../", import.meta.url).pathname;
const COMPOSE = `${ROOT}packaging/compose`;
const KUBERNETES = `${ROOT}packaging/kubernetes`;
const read = (path: string): Promise<string> => Deno.readTextFile(path);

/** What a program may have in its environment, by the name of its image. */
const READS: Readonly<Record<string, readonly string[]>> = {
  platform: VARIABLES,
  directory: DIRECTORY_VARIABLES,
  tools: ["PLATFORM_STORE_URL_FILE"],
};

interface ComposeService {
  readonly image: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
  readonly configs?: readonly { readonly source: string }[];
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
}

interface ComposeFile {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
  readonly configs: Readonly<Record<string, { readonly file?: string }>>;
}

async function composeFile(): Promise<ComposeFile> {
  return parse(await read(`${COMPOSE}/compose.yaml`)) as ComposeFile;
}

/** What the schema of the compose specification finds. dclint contains it. */
async function composeFaults(file: unknown): Promise<unknown> {
  const schema = await read(
    `${await packageFolder(pinned(await readProject(), "dclint"))}/schemas/compose.schema.json`,
  );
  const ajv = new Ajv({ strict: false, validateFormats: false });
  const { $schema: _, ...named } = JSON.parse(schema) as { readonly $schema: string }; // ajv knows draft 7 by http
  const validate = ajv.compile(named);
  return validate(file) ? null : validate.errors;
}

Deno.test("the compose file is one of the specification, and confines each of its containers [F13]", async () => {
  const file = await composeFile();
  assertEquals(await composeFaults(file), null);
  const { database, ...others } = file.services;
  assertNotEquals(
    await composeFaults({ ...file, services: { ...others, database: { ...database, read_onyl: true } } }),
    null,
  );
  for (const [name, { read_only, cap_drop }] of Object.entries(file.services)) {
    assertEquals([read_only, cap_drop], [true, ["ALL"]], name);
  }
});

Deno.test("the compose file sets variables that the programs read, and its secrets and files exist [F13]", async () => {
  const { services, secrets, configs } = await composeFile();
  for (const [name, { image, environment = {} }] of Object.entries(services)) {
    const [, of = ""] = /^\$\{(\w+)_IMAGE/.exec(image) ?? [];
    const known = READS[of.toLowerCase()];
    if (known === undefined) continue;
    assertEquals(Object.keys(environment).filter((one) => !known.includes(one)), [], name);
    const paths = Object.entries(environment).filter(([, value]) => value.startsWith("/run/secrets/"));
    const given = services[name]?.secrets ?? [];
    assertEquals(paths.filter(([, value]) => !given.includes(value.slice("/run/secrets/".length))), [], name);
  }
  const used = Object.values(services).flatMap((service) => service.secrets ?? []);
  assertEquals([...new Set(used)].toSorted(), Object.keys(secrets).toSorted());
  for (const { file } of Object.values(configs)) {
    if (file !== undefined) await Deno.stat(`${COMPOSE}/${file}`);
  }
  for (
    const [name, known] of [["platform.env", VARIABLES], ["directory.env", DIRECTORY_VARIABLES]] as const
  ) {
    for (const folder of [COMPOSE, KUBERNETES]) {
      const lines = (await read(`${folder}/${name}`)).trim().split("\n").map((line) =>
        line.split("=")[0] ?? ""
      );
      assertEquals(lines.filter((line) => !known.includes(line)), [], `${folder}/${name}`);
    }
  }
});

Deno.test({
  name: "the check of the compose file's database fails while its image makes the databases [F13]",
  ignore: postgresPrograms() === undefined,
  async fn() {
    const programs = postgresPrograms() ?? "";
    const { database } = (await composeFile()).services;
    const [, name = "", ...args] = present(database?.healthcheck).test;
    await using folder = await openTemporaryFolder();
    const [data, log, port] = [`${folder.path}/data`, `${folder.path}/log`, freePort()];
    const env = { PGHOST: folder.path, PGPORT: String(port) }; // of this test's server, in place of a container's own
    const check = async (more: readonly string[] = []): Promise<boolean> =>
      (await new Deno.Command(`${programs}/${name}`, { args: [...args, ...more], env, cwd: "/" }).output())
        .success;
    await giveToServer(folder.path);
    await initialise(programs, data);
    // As the entry point of the image does: no address, until its scripts have run.
    const socketAlone = ["-D", data, "-p", String(port), "-k", folder.path, "-c", "listen_addresses="];
    const making = startAsServer(`${programs}/postgres`, socketAlone, log);
    await waitUntil("the server answers at its socket", () => check(["--host", folder.path]), { log });
    assertEquals(await check(), false);
    await making.end();
    const serving = startAsServer(
      `${programs}/postgres`,
      ["-D", data, "-p", String(port), "-k", folder.path],
      log,
    );
    await waitUntil("the check succeeds", check, { log });
    await serving.end();
  },
});

const MODELS = {
  Deployment,
  HorizontalPodAutoscaler,
  Job,
  Namespace,
  NetworkPolicy,
  PodDisruptionBudget,
  Service,
};
type Kind = keyof typeof MODELS;

interface Manifest {
  readonly apiVersion: string;
  readonly kind: Kind;
  readonly metadata: { readonly name: string };
}

interface Container {
  readonly image: string;
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly securityContext: object;
  readonly volumeMounts: readonly { readonly mountPath: string }[];
}

async function manifests(): Promise<readonly Manifest[]> {
  const { resources } = parse(await read(`${KUBERNETES}/kustomization.yaml`)) as { resources: string[] };
  const files = (await Array.fromAsync(Deno.readDir(KUBERNETES))).map(({ name }) => name);
  assertEquals(
    resources.toSorted(),
    files.filter((name) => name.endsWith(".yaml") && name !== "kustomization.yaml").toSorted(),
  );
  const texts = await Promise.all(resources.map((name) => read(`${KUBERNETES}/${name}`)));
  return texts.flatMap((text) => parseAll(text) as Manifest[]);
}

/** What the types of the API find: also a field that does not exist, which a server ignores. */
async function typeFaults(all: readonly Manifest[]): Promise<string> {
  const lines = all.map((one, at) =>
    `import type { I${one.kind} as T${at} } from "kubernetes-models/${one.apiVersion}/${one.kind}";\nexport const m${at}: T${at} = ${
      JSON.stringify(one)
    };\n`
  );
  const file = await Deno.makeTempFile({ suffix: ".ts" });
  try {
    await Deno.writeTextFile(file, lines.join(""));
    const { stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["check", "--quiet", "--config", `${ROOT}deno.json`, file],
      env: { NO_COLOR: "1" },
    }).output();
    return new TextDecoder().decode(stderr);
  } finally {
    await Deno.remove(file);
  }
}

Deno.test("the Kubernetes manifests are those of the API, and a field that does not exist is found [F13]", async () => {
  const all = await manifests();
  for (const one of all) new MODELS[one.kind](one as never).validate();
  const [first] = all.filter(({ kind }) => kind === "PodDisruptionBudget");
  const misspelt = { ...present(first), spec: { maxUnavailabel: 1 } };
  const faults = await typeFaults([...all, misspelt]);
  assertEquals([...faults.matchAll(/\[ERROR\]: (.*)/g)].map(([, what]) => what?.includes("maxUnavailabel")), [
    true,
  ], faults);
});

Deno.test("the pods read their secrets from files, with the variables of the programs, and are confined [F13]", async () => {
  const pods = (await manifests()).flatMap((one) => {
    const spec = (one as Manifest & {
      spec?: { template?: { spec: { containers: Container[]; securityContext: object } } };
    }).spec?.template?.spec;
    return spec === undefined ? [] : [spec];
  });
  const containers = pods.flatMap((pod) => pod.containers);
  assertEquals(containers.map(({ image }) => image), ["platform", "tools", "tools", "tools", "directory"]);
  for (const { image, env, securityContext, volumeMounts } of containers) {
    assertEquals(env.map(({ name }) => name).filter((name) => !READS[image]?.includes(name)), [], image);
    const paths = env.flatMap(({ value }) => value?.startsWith("/") === true ? [value] : []);
    assert(paths.every(isHandedOver), image);
    assert(
      paths.every((path) => volumeMounts.some(({ mountPath }) => path.startsWith(`${mountPath}/`))),
      image,
    );
    assertEquals(securityContext, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
  }
  for (const { securityContext } of pods) {
    const { runAsUser, runAsNonRoot } = securityContext as { runAsUser: number; runAsNonRoot: boolean };
    assertEquals([runAsUser, runAsNonRoot], [10001, true]);
  }
});

Deno.test("the paths of the directory's health check and probes answer, and a port without a process does not [F13]", async () => {
  await using fixture = await openDirectoryFixture();
  const directory = await fixture.start();
  try {
    await directory.ready;
    const check = async (port: string): Promise<number> => {
      const { code } = await new Deno.Command(Deno.execPath(), {
        args: [
          "run",
          "--no-prompt",
          "--no-config",
          "--allow-net=127.0.0.1",
          "--allow-env=PORT,PLATFORM_OPERATIONS_PORT,DIRECTORY_PORT",
          `${ROOT}packaging/container/healthcheck.js`,
        ],
        env: { DIRECTORY_PORT: port },
      }).output();
      return code;
    };
    assertEquals([await check(present(fixture.env["DIRECTORY_PORT"])), await check("9")], [0, 1]);
    const probed = [...(await read(`${KUBERNETES}/directory.yaml`)).matchAll(/httpGet: \{ path: (\S+),/g)]
      .map(([, path]) => path);
    for (const path of probed) {
      const answer = await fetch(`${fixture.url}${path}`);
      assertEquals([answer.status, (await answer.body?.cancel()) ?? ""], [200, ""], path);
    }
    assertEquals(probed, ["/ca.pem", "/ca.pem", "/health"]);
  } finally {
    directory.kill("SIGTERM");
    await directory.ended;
  }
});
