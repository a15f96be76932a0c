/** Searches the memory of another process, as a core dump of it would have it. */
import { Buffer } from "node:buffer";

/** The kernel's own mappings, which cannot be read. */
const OF_KERNEL = /\[v(?:var|syscall|var_vclock)\]/;
const PAGE_BYTES = 4096;
const STEP_BYTES = 16 * 1024 * 1024;

/**
 * Returns which of these numbers the memory of a process has, except memory that it cannot write or that is machine code.
 *
 * @param members base64url as in JWKs, or base64: found as text and as bytes, in either order
 */
export async function foundInMemory(pid: number, members: readonly string[]): Promise<ReadonlySet<string>> {
  const forms = members.flatMap((member) => formsOf(member).map((form) => ({ member, form })));
  const longest = Math.max(...forms.map(({ form }) => form.length));
  const found = new Set<string>();
  const begins = new Uint8Array(0x10000); // whether a form begins with these two bytes
  for (const { form } of forms) begins[form.readUInt16BE()] = 1;
  const search = (part: Buffer): void => {
    for (let at = 0; at + 1 < part.length; at++) {
      if (begins[(part[at] ?? 0) << 8 | (part[at + 1] ?? 0)] === 0) continue;
      for (const { member, form } of forms) {
        if (form.equals(part.subarray(at, at + form.length))) found.add(member);
      }
    }
  };
  for (const [start, end] of await mappings(pid)) {
    for (let at = start; at < end; at += STEP_BYTES) {
      const part = await readAt(pid, at, Math.min(STEP_BYTES + longest, end - at));
      search(part);
    }
  }
  return found;
}

function formsOf(member: string): readonly Buffer[] {
  const alphabet = /[+/=]/.test(member) ? "base64" : "base64url";
  const bytes = Uint8Array.fromBase64(member, { alphabet });
  return [bytes, bytes.toReversed(), new TextEncoder().encode(member)].map((each) => Buffer.from(each));
}

async function mappings(pid: number): Promise<readonly (readonly [number, number])[]> {
  const lines = (await outputOf("cat", [`/proc/${pid}/maps`])).toString().split("\n");
  return lines.filter((line) => / rw-/.test(line) && !OF_KERNEL.test(line)).map((line) => {
    const [start = "0", end = "0"] = line.split(" ")[0]?.split("-") ?? [];
    return [parseInt(start, 16), parseInt(end, 16)] as const;
  });
}

/** Pages that the process gives back meanwhile cannot be read. Mappings begin and end with a page. */
async function readAt(pid: number, at: number, length: number): Promise<Buffer> {
  const [skip, count] = [at / PAGE_BYTES, Math.ceil(length / PAGE_BYTES)];
  return await outputOf("dd", [`if=/proc/${pid}/mem`, `bs=${PAGE_BYTES}`, `skip=${skip}`, `count=${count}`]);
}

/** Deno itself reads these files only with every permission. */
async function outputOf(program: string, args: string[]): Promise<Buffer> {
  const { stdout } = await new Deno.Command(program, { args, stdout: "piped", stderr: "null" }).output();
  return Buffer.from(stdout);
}
