/** Files of keys and credentials: whose they are if an administrator of the machine makes them. */
import { assertEquals } from "@std/assert";
import { changeCredentials } from "../../../scripts/command_line/credential_list.ts";
import { writeSecretFile } from "../../../scripts/command_line/secret_file.ts";
import { platformKeys } from "../../../scripts/operators/platform_keys/main.ts";
import { IN_FILE } from "../../../scripts/operators/platform_keys/making.ts";
import { ADMINISTRATORS } from "../../../src/base/http/credentials.ts";
import { openTemporaryFolder } from "testing/temporary_folder.ts";

const TOOLS = { print: () => {}, now: Date.now(), custody: IN_FILE };

Deno.test({
  name: "a file that root makes or changes belongs to the owner of its folder, or to its own owner",
  ignore: Deno.uid() !== 0,
  async fn() {
    await using folder = await openTemporaryFolder();
    await Deno.chown(folder.path, 64001, 64002);
    const at = (name: string): string => `${folder.path}/${name}.json`;
    const [people, keys, other] = [at("people"), at("keys"), at("other")];
    await changeCredentials(ADMINISTRATORS, { verb: "add", file: people, name: "ana" }, TOOLS);
    await changeCredentials(ADMINISTRATORS, { verb: "add", file: people, name: "ben" }, TOOLS);
    await platformKeys(["make", "--file", keys, "--name", "Example"], TOOLS);
    await writeSecretFile(other, "1", { replace: false });
    await Deno.chown(other, 64003, 64004);
    await writeSecretFile(other, "2", { replace: true });
    const owners = [people, keys, other].map(async (path) => {
      const { uid, gid, mode } = await Deno.stat(path);
      return [uid, gid, (mode ?? 0) & 0o777];
    });
    assertEquals(await Promise.all(owners), [[64001, 64002, 0o600], [64001, 64002, 0o600], [
      64003,
      64004,
      0o600,
    ]]);
  },
});
