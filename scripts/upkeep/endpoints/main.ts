/** `deno task endpoints`: writes `docs/endpoints.md`. */
import { endpointPage } from "./table.ts";

const page = new URL("../../../docs/endpoints.md", import.meta.url);
await Deno.writeTextFile(page, await endpointPage());
const { success } = await new Deno.Command(Deno.execPath(), { args: ["fmt", "--quiet", page.pathname] })
  .output();
Deno.exit(success ? 0 : 1);
