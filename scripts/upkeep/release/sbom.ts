/** The software bill of materials of a release: what its programs load, as CycloneDX 1.6, from the production locks. */

/** A lock file of Deno, as far as it is read. */
export interface Lock {
  readonly npm: Readonly<
    Record<string, { readonly integrity: string; readonly dependencies?: readonly string[] }>
  >;
}

/** What is released. */
export interface Released {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  /** Of the commit, in seconds. The same sources have the same bill. */
  readonly time: number;
}

interface Component {
  readonly type: "library" | "platform";
  readonly "bom-ref": string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly hashes: readonly { readonly alg: "SHA-512"; readonly content: string }[];
}

/** What a component needs. */
interface Dependencies {
  readonly ref: string;
  readonly dependsOn: readonly string[];
}

/**
 * @param locks of the programs
 * @param runtime the packages of the runtime by their path in a lock file of npm
 */
export async function billOf(
  { name, version, license, time }: Released,
  locks: readonly Lock[],
  runtime: Readonly<Record<string, { readonly version: string; readonly integrity: string }>>,
): Promise<string> {
  const npm = Object.assign({}, ...locks.map((lock) => lock.npm)) as Lock["npm"];
  const keys = Object.keys(npm).toSorted();
  const libraries = keys.map((key) => componentOf("library", ...split(key), npm[key]?.integrity ?? ""));
  const platforms = Object.entries(runtime).map(([path, one]) =>
    componentOf("platform", path.replace("node_modules/", ""), one.version, one.integrity)
  );
  const root = `pkg:generic/${name}@${version}`;
  const depends = locks.flatMap(dependenciesIn);
  const components = uniqueComponents([...libraries, ...platforms]);
  const bill = {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    serialNumber: await serialOf([root, ...components.map(({ hashes }) => hashes[0]?.content ?? "")].join()),
    version: 1,
    metadata: {
      timestamp: new Date(time * 1000).toISOString(),
      component: {
        type: "application",
        "bom-ref": root,
        name,
        version,
        purl: root,
        licenses: [{ license: { id: license } }],
      },
    },
    components,
    dependencies: [
      { ref: root, dependsOn: components.map((one) => one["bom-ref"]) },
      ...mergeDependencies(depends),
    ],
  };
  return `${JSON.stringify(bill, null, 2)}\n`;
}

/** `@scope/name@1.2.3_peer@4.5.6` is version 1.2.3 of `@scope/name`, beside a peer. */
function split(key: string): readonly [name: string, version: string] {
  const [, name = "", version = ""] = /^(@?[^@]+)@([^_]+)/.exec(key) ?? [];
  if (version === "") throw new Error(`the lock has the package ${key}, which has no version`);
  return [name, version];
}

function dependenciesIn({ npm }: Lock): Dependencies[] {
  const keys = Object.keys(npm).toSorted();
  return keys.map((key) => {
    const named = npm[key]?.dependencies ?? [];
    return {
      ref: purlOf(...split(key)),
      dependsOn: named.map((one) => purlOf(...split(resolveDependency(one, keys)))),
    };
  });
}

/** A dependency names a version only if the lock has several. */
function resolveDependency(named: string, keys: readonly string[]): string {
  const found = keys.find((key) =>
    key === named || key.startsWith(`${named}_`) || key.startsWith(`${named}@`)
  );
  if (found === undefined) throw new Error(`the lock has no package ${named}`);
  return found;
}

function componentOf(type: Component["type"], name: string, version: string, integrity: string): Component {
  const purl = purlOf(name, version);
  const [algorithm, digest = ""] = integrity.split("-");
  if (algorithm !== "sha512") throw new Error(`${purl} has no SHA-512 in the lock`);
  return {
    type,
    "bom-ref": purl,
    name,
    version,
    purl,
    hashes: [{ alg: "SHA-512", content: Uint8Array.fromBase64(digest).toHex() }],
  };
}

function purlOf(name: string, version: string): string {
  return `pkg:npm/${name.replace("@", "%40")}@${version}`;
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)].toSorted();
}

/** A package beside several peers is one component. */
function uniqueComponents(components: readonly Component[]): Component[] {
  return [...new Map(components.map((one) => [one.purl, one])).values()];
}

function mergeDependencies(depends: readonly Dependencies[]): Dependencies[] {
  return [...Map.groupBy(depends, ({ ref }) => ref)].map(([ref, all]) => ({
    ref,
    dependsOn: unique(all.flatMap(({ dependsOn }) => dependsOn)),
  }));
}

/** A UUID that follows from the content (RFC 9562 §5.8). */
async function serialOf(content: string): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(content)));
  const hex = digest.slice(0, 16).toHex();
  const at = (from: number, to: number): string => hex.slice(from, to);
  return `urn:uuid:${at(0, 8)}-${at(8, 12)}-8${at(13, 16)}-a${at(17, 20)}-${at(20, 32)}`;
}
