/** Every relative link in the Markdown that git tracks leads to a file or folder that exists, and to a heading if it names one. */
import { assert, assertEquals } from "@std/assert";

const root = new URL("../../", import.meta.url);

/** Only what git tracks: a clone may have folders of its own, such as a cache of packages with pages of theirs. */
async function pages(repository: URL): Promise<readonly string[]> {
  const args = ["ls-files", "-z", "*.md"];
  const { success, stdout, stderr } = await new Deno.Command("git", { args, cwd: repository }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout).split("\0").filter((name) => name !== "");
}

/** Text without code, because code contains no links. */
function prose(text: string): string {
  return text.replaceAll(/^( *)(```+).*?^\1\2$/gms, "").replaceAll(/`[^`\n]*`/g, "code");
}

/** GitHub's name for a heading: lower case, no punctuation, hyphens for spaces. */
function anchors(text: string): readonly string[] {
  const headings = text.replaceAll(/^(```+).*?^\1$/gms, "").matchAll(/^#+ (.+)$/gm);
  const named = text.matchAll(/<a (?:id|name)="([^"]+)"/g);
  return [
    ...[...headings].map(([, title = ""]) =>
      title.toLowerCase().replaceAll(/[^\p{L}\p{N}_ -]/gu, "").replaceAll(" ", "-")
    ),
    ...[...named].map(([, id = ""]) => id),
  ];
}

/** Why a link of this page leads nowhere, or undefined. */
async function faultOf(page: string, link: string): Promise<string | undefined> {
  const [path = "", anchor] = link.split("#");
  const target = path === "" ? new URL(page, root) : new URL(path, new URL(page, root));
  const stat = await Deno.stat(target).catch(() => undefined);
  if (stat === undefined) return `${page}: ${link} does not exist`;
  if (anchor === undefined || stat.isDirectory) return undefined;
  const known = anchors(await Deno.readTextFile(target));
  return known.includes(anchor) ? undefined : `${page}: ${link} has no such heading`;
}

Deno.test("every relative link in Markdown leads to a file, and to a heading if it names one", async () => {
  const links: { page: string; link: string }[] = [];
  for (const page of await pages(root)) {
    const text = prose(await Deno.readTextFile(new URL(page, root)));
    for (const [, link = ""] of text.matchAll(/\]\(([^()\s]+)\)/g)) {
      if (!/^[a-z]+:/.test(link)) links.push({ page, link });
    }
  }
  assert(links.length > 20, `${links.length} links`);
  const faults = await Promise.all(links.map(({ page, link }) => faultOf(page, link)));
  assertEquals(faults.filter((fault) => fault !== undefined), []);
});

Deno.test("the Markdown of a folder that git does not track is not looked at", async () => {
  const path = await Deno.makeTempDir();
  await using _removed = { [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
  const git = async (...args: readonly string[]): Promise<void> => {
    const { success } = await new Deno.Command("git", { args: [...args], cwd: path }).output();
    assert(success, args.join(" "));
  };
  await git("init", "-q");
  await Deno.mkdir(`${path}/.cache/package`, { recursive: true });
  await Deno.writeTextFile(`${path}/README.md`, "# Tracked");
  await Deno.writeTextFile(`${path}/.cache/package/README.md`, "[nowhere](nowhere.md)");
  await git("add", "README.md");
  assertEquals(await pages(new URL(`file://${path}/`)), ["README.md"]);
});
