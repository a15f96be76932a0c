/** Waits for the customer's browser at a redirect URL on this computer, for trying out: a shop has a route for it. */
import { createServer } from "node:http";
import { SettingsError } from "../party/errors.ts";

/**
 * Serves the redirect URL until the browser arrives, and returns the address with its query.
 *
 * @param redirectUri such as `http://localhost:9000/callback`
 * @throws {SettingsError} if it is not on this computer or its port is in use
 */
export async function awaitReturn(redirectUri: string): Promise<URL> {
  const redirect = new URL(redirectUri);
  if (redirect.protocol !== "http:" || redirect.hostname !== "localhost") {
    throw new SettingsError(
      `${redirectUri} is not on this computer. Expected http://localhost:<port>/<path>.`,
    );
  }
  return await new Promise((resolve, reject) => {
    const listener = createServer((request, response) => {
      const url = URL.parse(request.url ?? "", redirect); // null for a target that any page in the browser can send
      const isReturn = url?.pathname === redirect.pathname;
      response.writeHead(isReturn ? 200 : 404, { connection: "close" }).end("You can close this page.");
      if (!isReturn) return;
      listener.close();
      response.once("close", () => listener.closeAllConnections()); // browsers open spare ones
      resolve(url);
    });
    listener.on(
      "error",
      ({ message }) =>
        reject(new SettingsError(`${redirectUri} cannot be served: ${message}. Expected a free port.`)),
    );
    listener.listen(Number(redirect.port || 80), "127.0.0.1");
  });
}
