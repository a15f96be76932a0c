/**
 * The Kubernetes manifests, the compose file and docs/operations/containers.md beside the programs: ports, probed paths,
 * metrics, tasks, files of secrets and names of images [F13].
 */
import { assert, assertEquals } from "@std/assert";
import { parse, parseAll } from "@std/yaml";
import { PLATFORM_METRICS } from "../../../../src/platform/observed/metrics.ts";
import { present } from "testing/answers.ts";

const ROOT = new URL("../../../../", import.meta.url).pathname;
const read = (path: string): Promise<string> => Deno.readTextFile(ROOT + path);
const manifestsOf = async (name: string): Promise<Manifest[]> =>
  parseAll(await read(`packaging/kubernetes/${name}.yaml`)) as Manifest[];

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

interface Container {
  readonly name: string;
  readonly image: string;
  readonly args?: readonly string[];
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly startupProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly template?: {
      readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
      readonly spec: { readonly enableServiceLinks?: boolean; readonly containers: readonly Container[] };
    };
    readonly ports?: readonly { readonly port: number; readonly targetPort: string }[];
    readonly podSelector?: { readonly matchLabels?: { readonly app: string } };
    readonly ingress?: readonly { readonly ports: readonly { readonly port: number }[] }[];
    readonly metrics?: readonly { readonly pods: { readonly metric: { readonly name: string } } }[];
  };
}

/** The ports of the programs by their names in the manifests: those that the images set, and the operations listener's. */
async function portsOf(name: string, { env }: Container): Promise<Record<string, number>> {
  const image = await read("packaging/container/Containerfile");
  const [, set = ""] = RegExp(`AS ${name}\n[^]*?\nENV ([^\n]+)`).exec(image) ?? [];
  const all = new Map([
    ...set.split(" ").map((each) => each.split("=") as [string, string]),
    ...env.map((each): [string, string] => [each.name, each.value ?? ""]),
  ]);
  const named = {
    PORT: "http",
    PLATFORM_OPERATIONS_PORT: "operations",
    DIRECTORY_PORT: "public",
    DIRECTORY_ADMIN_PORT: "administrators",
  };
  return Object.fromEntries(
    Object.entries(named).flatMap(([variable, port]) =>
      all.has(variable) ? [[port, Number(all.get(variable))]] : []
    ),
  );
}

for (const name of ["platform", "directory"]) {
  Deno.test(`the ports of the ${name}'s pod, service, probes and network policy are those of the program, which no service's variable replaces [F13]`, async () => {
    const manifests = await manifestsOf(name);
    const { template } = present(manifests.find(({ kind }) => kind === "Deployment")).spec;
    const { containers, enableServiceLinks } = present(template).spec;
    // Kubernetes sets DIRECTORY_PORT=tcp://… in every pod beside a service of that name.
    assertEquals(enableServiceLinks, false);
    const container = present(containers[0]);
    const ports = await portsOf(name, container);
    assertEquals(
      Object.fromEntries(present(container.ports).map((port) => [port.name, port.containerPort])),
      ports,
    );
    const { startupProbe, livenessProbe, readinessProbe } = container;
    const endpoints = await read("docs/endpoints.md");
    for (const probe of [startupProbe, livenessProbe, readinessProbe]) {
      const { path, port } = present(probe).httpGet;
      assert(port in ports, port);
      if (name === "platform") assert(endpoints.includes(`\`GET ${path}\``), path); // the directory's are asked
    }
    const service = present(manifests.find(({ kind }) => kind === "Service")).spec.ports ?? [];
    assertEquals(service.map(({ targetPort }) => ports[targetPort]), service.map(({ port }) => port));
    const policy = present(
      (await manifestsOf("network")).find(({ spec }) => spec.podSelector?.matchLabels?.app === name),
    );
    const reached = (policy.spec.ingress ?? []).flatMap((rule) => rule.ports.map(({ port }) => port));
    assertEquals(reached.toSorted(), Object.values(ports).toSorted());
  });
}

Deno.test("Prometheus and the autoscaler read a path, a port and a metric of the platform, and the job runs a task [F13]", async () => {
  const [, deployment] = await manifestsOf("platform");
  const { metadata, spec } = present(present(deployment).spec.template);
  const ports = await portsOf("platform", present(spec.containers[0]));
  const { "prometheus.io/port": port, "prometheus.io/path": path } = present(metadata.annotations);
  assertEquals(port, String(ports["operations"]));
  assert((await read("docs/endpoints.md")).includes(`\`GET ${path}\``), path);
  const scaling = (await manifestsOf("scaling")).flatMap((one) => one.spec.metrics ?? []);
  assertEquals(scaling.map(({ pods }) => pods.metric.name in PLATFORM_METRICS), [true]);
  const [job] = await manifestsOf("migration");
  const { tasks } = JSON.parse(await read("deno.json")) as { readonly tasks: Record<string, object> };
  const pod = present(present(job).spec.template).spec;
  assertEquals(pod.enableServiceLinks, false);
  for (const { args = [] } of pod.containers) {
    assert(present(args[0]) in tasks);
    const main = await read(`scripts/operators/${args[0]}/main.ts`);
    assert(main.includes(`${args[1]}`), args.join(" "));
  }
});

Deno.test("the page's secrets have the files that the pods read, and its overlay names the images and the variables' files [F13]", async () => {
  const page = await read("docs/operations/containers.md");
  const listed = Object.fromEntries(
    [...page.matchAll(/secret generic (\w+) .*# (.*)$/gm)].map(([, name, files = ""]) => [
      name,
      files.split(", ").toSorted(),
    ]),
  );
  const manifests = (await Promise.all(["platform", "directory", "migration"].map(manifestsOf))).flat();
  const files = manifests.flatMap(({ spec }) => spec.template?.spec.containers ?? []).flatMap(({ env }) =>
    env.flatMap(({ value = "" }) => {
      const [, secret, file] = /^\/run\/secrets\/(\w+)\/(.+)$/.exec(value) ?? [];
      return secret === undefined || file === undefined ? [] : [{ secret, file }];
    })
  );
  const mounted = Object.entries(Object.groupBy(files, ({ secret }) => secret)).map((
    [secret, all = []],
  ) => [secret, all.map(({ file }) => file).toSorted()]);
  assertEquals(listed, Object.fromEntries(mounted));

  interface Kustomization {
    readonly namespace: string;
    readonly images: readonly { readonly name: string; readonly newName: string }[];
    readonly configMapGenerator: readonly { readonly name: string; readonly envs: readonly string[] }[];
  }
  const [, yaml = ""] = /```yaml\n([^]*?)```/.exec(page) ?? [];
  const [overlay, base] = [
    parse(yaml) as Kustomization,
    parse(await read("packaging/kubernetes/kustomization.yaml")) as Kustomization,
  ];
  assertEquals(overlay.namespace, base.namespace);
  // The base has renamed them already: an overlay that names `platform` changes no image and says nothing.
  assertEquals(overlay.images.map(({ name }) => name), base.images.map(({ newName }) => newName));
  assertEquals(
    overlay.configMapGenerator.map(({ name, envs }) => ({ name, envs })),
    base.configMapGenerator.map(({ name, envs }) => ({ name, envs })),
  );
});

Deno.test("the page makes HAProxy's files for the addresses, the secret and the folder that the compose file has [F13]", async () => {
  const page = await read("docs/operations/containers.md");
  const { services, networks } = parse(await read("packaging/compose/compose.yaml")) as {
    readonly services: Readonly<
      Record<string, {
        readonly networks?: string[] | Record<string, { readonly ipv4_address?: string }>;
        readonly ports?: readonly string[];
        readonly volumes?: readonly string[];
        readonly network_mode?: string;
      }>
    >;
    readonly networks: {
      readonly outside: object;
      readonly inside: {
        readonly internal: true;
        readonly ipam: { readonly config: readonly { readonly subnet: string }[] };
      };
    };
  };
  const [, backends = "", out = ""] = /PLATFORM_BACKENDS=(\S+) [^]*?--out (\S+)/.exec(page) ?? [];
  const networkOf = (name: string, network: string): { readonly ipv4_address?: string } | undefined => {
    const all = services[name]?.networks ?? [];
    return Array.isArray(all) ? all.includes(network) ? {} : undefined : all[network];
  };
  const addresses = ["platform-1", "platform-2"].map((name) => networkOf(name, "inside")?.ipv4_address);
  assertEquals(backends.split(","), addresses.map((address) => `${address}:8080`));
  assert(page.includes(`\`${networks.inside.ipam.config[0]?.subnet}\``));
  // The files name their own folder, so they must be made where the container has them.
  assertEquals(services["proxy"]?.volumes?.includes(`./proxy:${out}:ro`), true);
  assertEquals(services["directory"]?.network_mode, "service:directory-proxy");
  // A container engine publishes no port of a container that has internal networks alone.
  const published = Object.entries(services).filter(([, { ports }]) => ports !== undefined);
  assertEquals(published.filter(([name]) => networkOf(name, "outside") === undefined), []);
});
