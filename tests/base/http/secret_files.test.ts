/** Secrets that come from files, and whose modes this process does not choose. */
import { assertEquals } from "@std/assert";
import { isHandedOver, withSecretFiles } from "../../../src/base/http/secret_files.ts";

const files: Readonly<Record<string, string>> = {
  "/etc/secret": "from-the-file\n",
  "/etc/crlf": "from-the-file\r\n",
  "/etc/empty": "\n",
  "/etc/lines": "one\ntwo\n",
  "/etc/long": "x".repeat(8193),
};

function read(_variable: string, path: string): Promise<string> {
  const text = files[path];
  return text === undefined
    ? Promise.reject(new Error(`the file ${path} cannot be read`))
    : Promise.resolve(text);
}

Deno.test("a secret comes from the file that its variable with _FILE names, without the last line break [F10]", async () => {
  for (const path of ["/etc/secret", "/etc/crlf"]) {
    const faults: string[] = [];
    const env = await withSecretFiles(
      { A: "", A_FILE: path, B: "kept", B_FILE: "", C_FILE: "/etc/secret" },
      ["A", "B"],
      read,
      faults,
    );
    assertEquals([env["A"], env["B"], env["C"], faults], ["from-the-file", "kept", undefined, []]);
  }
});

Deno.test("a secret that is set twice, or whose file has no single line, is a fault that quotes no secret [F10]", async () => {
  const oneLine = "must have one line of at most 8192 characters";
  const cases: readonly [Readonly<Record<string, string>>, string][] = [
    [{ A: "x", A_FILE: "/etc/secret" }, "A_FILE: A is set too; set one of the two"],
    [{ A_FILE: "/etc/none" }, "A_FILE: the file /etc/none cannot be read"],
    ...["/etc/empty", "/etc/lines", "/etc/long"].map((path): [Record<string, string>, string] => [
      { A_FILE: path },
      `A_FILE: the file ${path} ${oneLine}`,
    ]),
  ];
  for (const [env, fault] of cases) {
    const faults: string[] = [];
    await withSecretFiles(env, ["A"], read, faults);
    assertEquals(faults, [fault]);
  }
});

Deno.test("only the folders of service managers and container engines hand secrets over [F10]", () => {
  const handed = ["/run/secrets/a", "/run/credentials/payment-platform.service/proxy-secret"];
  const own = [
    "/run/secrets/",
    "/run/secret/a",
    "/etc/run/secrets/a",
    "run/credentials",
    "/run/secrets/../../etc/a",
    "secrets/a",
  ];
  assertEquals([...handed, ...own].filter(isHandedOver), handed);
});
