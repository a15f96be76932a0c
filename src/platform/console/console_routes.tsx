/** The operators' console: pages over the operations API, on its listener. */
import type { Clock } from "../../base/kernel/clock.ts";
import { answerDocument, documentStore } from "../../base/http/public_document.ts";
import { endpoint, type PlatformEndpoint } from "../http/endpoint.ts";
import { consolePage, hidden } from "./console_page.tsx";
import { dashboard } from "./dashboard_page.tsx";
import { renderFrame } from "./frame.tsx";
import { words } from "./phrase.ts";
import { type SignInDeps, signInRoutes } from "./sign_in_routes.tsx";
import { ASSETS } from "./style.ts";

export interface ConsoleRouteDeps extends SignInDeps {
  readonly clock: Clock;
}

export function consoleRoutes(deps: ConsoleRouteDeps): readonly PlatformEndpoint[] {
  const { clock, site } = deps;
  return [
    ...assetRoutes(),
    ...signInRoutes(deps),
    consolePage(deps, "get", "/console", async (visit, c) => {
      const title = words(visit.language, "dashboard.title");
      return c.html(renderFrame({ ...visit, title, site }, await dashboard(visit, clock())));
    }),
  ];
}

function assetRoutes(): readonly PlatformEndpoint[] {
  const document = documentStore();
  return ASSETS.map(([path, type, content]) =>
    endpoint("browser", "operator", hidden("get", path), [], async (c) => {
      return answerDocument(c, await document(path, type, () => content));
    })
  );
}
