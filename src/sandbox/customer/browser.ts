/**
 * A minimal browser for a customer without a browser: it has a cookie jar, follows redirects one at a time and posts forms.
 * It runs no scripts.
 */

/** The response to a visit. */
export interface Visit {
  readonly method: "GET" | "POST";
  readonly url: URL;
  readonly status: number;
  /** Where it redirects, when it does. */
  readonly location?: URL;
  /** The page, when it does not. */
  readonly page: string;
  /** The id under which the platform traces the request, if it answered. */
  readonly interactionId?: string;
}

/** A browser with its cookies. */
export interface Browser {
  visit(url: URL): Promise<Visit>;
  submit(url: URL, form: URLSearchParams, from: URL): Promise<Visit>;
}

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly path: string;
}

const timeoutMilliseconds = 15_000;

/** A browser without cookies. */
export function openBrowser(): Browser {
  // RFC 6265 §8.5: cookies belong to a host, whatever its port.
  const jars = new Map<string, Cookie[]>();
  const send = async (
    method: "GET" | "POST",
    url: URL,
    headers: Headers,
    body: URLSearchParams | null,
  ): Promise<Visit> => {
    const cookies = cookiesFor(jars.get(url.hostname) ?? [], url.pathname);
    if (cookies !== "") headers.set("cookie", cookies);
    headers.set("accept", "text/html");
    const signal = AbortSignal.timeout(timeoutMilliseconds);
    const response = await fetch(url, { method, headers, body, redirect: "manual", signal });
    jars.set(url.hostname, response.headers.getSetCookie().reduce(keep, jars.get(url.hostname) ?? []));
    const page = await response.text();
    const location = redirectOf(response, url);
    const interactionId = response.headers.get("x-fapi-interaction-id");
    return {
      method,
      url,
      status: response.status,
      page,
      ...(location === undefined ? {} : { location }),
      ...(interactionId === null ? {} : { interactionId }),
    };
  };
  return {
    visit: (url): Promise<Visit> => send("GET", url, new Headers(), null),
    submit: (url, form, from): Promise<Visit> =>
      send("POST", url, new Headers({ origin: from.origin }), form),
  };
}

function cookiesFor(jar: readonly Cookie[], path: string): string {
  const sent = jar.filter((cookie) =>
    path === cookie.path || path.startsWith(cookie.path.replace(/\/?$/, "/"))
  );
  return sent.map(({ name, value }) => `${name}=${value}`).join("; ");
}

function keep(jar: Cookie[], setCookie: string): Cookie[] {
  const [pair = "", ...attributes] = setCookie.split(";").map((part) => part.trim());
  const [name = "", value = ""] = splitOnce(pair);
  const settings = new Map(
    attributes.map((part) => splitOnce(part)).map(([key = "", text = ""]) => [key.toLowerCase(), text]),
  );
  const path = settings.get("path") ?? "/";
  const others = jar.filter((cookie) => cookie.name !== name || cookie.path !== path);
  const expires = Date.parse(settings.get("expires") ?? "");
  const isGone = settings.has("max-age") ? Number(settings.get("max-age")) <= 0 : expires <= Date.now();
  return isGone ? others : [...others, { name, value, path }];
}

function splitOnce(text: string): [string, string] {
  const at = text.indexOf("=");
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

/** Only redirects that turn into GET are followed: a 307 would post the form's secrets somewhere else. */
function redirectOf(response: Response, url: URL): URL | undefined {
  const location = response.headers.get("location");
  if (location === null || ![301, 302, 303].includes(response.status)) return undefined;
  return new URL(location, url);
}
