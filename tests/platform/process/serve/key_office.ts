/** The platform-keys command in a folder of its own. */
import "reflect-metadata";
import { assertEquals, assertRejects } from "@std/assert";
import { platformKeys } from "../../../../scripts/operators/platform_keys/main.ts";
import { IN_FILE } from "../../../../scripts/operators/platform_keys/making.ts";
import type { KeyFile, StoredKey } from "../../../../scripts/operators/platform_keys/file.ts";
import { platformKeySet } from "testing/platform_keys.ts";

export const NOW = Date.UTC(2027, 0, 1);

/** A folder with a key file made of test keys, and the command over it. */
export class Office implements AsyncDisposable {
  now = NOW;
  printed: string[] = [];
  private constructor(readonly folder: string, readonly file: string) {}

  static async open(): Promise<Office> {
    const folder = await Deno.makeTempDir();
    const office = new Office(folder, `${folder}/platform-keys.json`);
    await Deno.writeTextFile(office.file, await platformKeySet(), { mode: 0o600 });
    return office;
  }

  async run(...args: string[]): Promise<string[]> {
    this.printed = [];
    const [verb = "", ...rest] = args;
    await platformKeys([verb, "--file", this.file, ...rest], {
      print: (line) => this.printed.push(line),
      now: this.now,
      custody: IN_FILE,
    });
    return this.printed;
  }

  async rejection(...args: string[]): Promise<string> {
    const before = await this.text();
    const { message } = await assertRejects(() => this.run(...args), Error);
    assertEquals(await this.text(), before, "a rejected command changes nothing");
    return message;
  }

  async keys(): Promise<readonly StoredKey[]> {
    return (JSON.parse(await this.text()) as KeyFile).keys;
  }

  text(): Promise<string> {
    return Deno.readTextFile(this.file);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.folder, { recursive: true });
  }
}
