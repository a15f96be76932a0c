/** Every relative link in the project's Markdown leads to a file or folder that exists, and to a heading if it names one. */
import { assert, assertEquals } from "@std/assert";

const root = new URL("../../", import.meta.url);

async function pages(folder = ""): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(new URL(`./${folder}`, root))) {
    if (isDirectory && name !== ".data" && name !== ".git" && name !== "node_modules") {
      found.push(...await pages(`${folder}${name}/`));
    } else if (name.endsWith(".md")) found.push(folder + name);
  }
  return found;
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
  for (const page of await pages()) {
    const text = prose(await Deno.readTextFile(new URL(page, root)));
    for (const [, link = ""] of text.matchAll(/\]\(([^()\s]+)\)/g)) {
      if (!/^[a-z]+:/.test(link)) links.push({ page, link });
    }
  }
  assert(links.length > 20, `${links.length} links`);
  const faults = await Promise.all(links.map(({ page, link }) => faultOf(page, link)));
  assertEquals(faults.filter((fault) => fault !== undefined), []);
});
