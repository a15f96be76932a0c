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
      const url = new URL(request.url ?? "", redirect);
      const isReturn = url.pathname === redirect.pathname;
      response.writeHead(isReturn ? 200 : 404, { connection: "close" }).end("You can close this page.");
      if (isReturn) listener.close(() => resolve(url));
    });
    listener.on(
      "error",
      ({ message }) =>
        reject(new SettingsError(`${redirectUri} cannot be served: ${message}. Expected a free port.`)),
    );
    listener.listen(Number(redirect.port || 80), "127.0.0.1");
  });
}
