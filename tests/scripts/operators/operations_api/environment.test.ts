import { assertEquals } from "@std/assert";
import { operatorEnvironment } from "../../../../scripts/operators/operations_api/environment.ts";

const NAMES = ["PLATFORM_OPS_TOKEN", "PLATFORM_OPERATIONS_HOST", "PLATFORM_OPERATIONS_PORT"];
const SANDBOX = ["token-of-the-sandbox", "localhost", "8445"];

type Case = readonly [args: readonly string[], own: Readonly<Record<string, string>>, expected: unknown];

/** What the caller has named, and the token, host and port that a command then uses. */
const CASES: Readonly<Record<string, Case>> = {
  "nothing": [["orders"], {}, SANDBOX],
  "a token": [["orders"], { PLATFORM_OPS_TOKEN: "mine" }, ["mine", undefined, undefined]],
  "a host": [["orders"], { PLATFORM_OPERATIONS_HOST: "10.0.0.5" }, [undefined, "10.0.0.5", undefined]],
  "a port": [["orders"], { PLATFORM_OPERATIONS_PORT: "18080" }, [undefined, undefined, "18080"]],
  "--url": [["orders", "--url", "https://hub.example"], {}, [undefined, undefined, undefined]],
  "--url=": [["orders", "--url=https://hub.example"], {}, [undefined, undefined, undefined]],
  "--token-file": [["--token-file", "token", "orders"], {}, [undefined, undefined, undefined]],
};

Deno.test("the sandbox's operator calls only if nobody names another operator or place", async (t) => {
  const dir = await Deno.makeTempDir();
  const endpoints = {
    auth_url: "http://localhost:8441",
    operations_url: "http://localhost:8445",
    directory_admin_token: "token-of-the-sandbox",
  };
  await Deno.writeTextFile(`${dir}/endpoints.json`, JSON.stringify(endpoints));
  for (const [named, [args, own, expected]] of Object.entries(CASES)) {
    await t.step(named, async () => {
      const variables: Readonly<Record<string, string>> = { ...own, SANDBOX_DIR: dir };
      const environment = await operatorEnvironment(args, (name) => variables[name]);
      assertEquals(NAMES.map(environment), expected);
    });
  }
  await Deno.remove(dir, { recursive: true });
  const none = await operatorEnvironment([], (name) => name === "SANDBOX_DIR" ? dir : undefined);
  assertEquals(NAMES.map(none), [undefined, undefined, undefined], "no sandbox");
});
