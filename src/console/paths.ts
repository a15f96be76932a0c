/** The paths that every console has, and their pages' forms. */
import { timingSafeEqual } from "hono/utils/buffer";
import type { Form } from "../base/http/body.ts";

export const HOME_PATH = "/console";
export const SIGN_IN_PATH = "/console/sign-in";
export const SIGN_OUT_PATH = "/console/sign-out";
export const PROVIDER_PATH = "/console/sign-in/provider";
/** Where the provider sends the browser back. */
export const RETURN_PATH = "/console/sign-in/return";
/** Where the provider says whose session has ended (OpenID Connect Back-Channel Logout 1.0 §2.2). */
export const LOGGED_OUT_PATH = "/console/sign-in/logged-out";
export const STYLE_PATH = "/console/assets/console.css";
export const ICON_PATH = "/console/assets/console.svg";

/** Whether a path is one of a console. */
export function isConsolePath(path: string): boolean {
  return path === HOME_PATH || path.startsWith(`${HOME_PATH}/`);
}

/** `form` is a GET of the form of a change. */
export type PageMethod = "get" | "form" | "post";

/** The method, and whether the page makes a change or has the form of one. */
export function kindOf(
  method: PageMethod,
  path: string,
): { readonly isChange: boolean; readonly http: "get" | "post" } {
  const http = method === "post" ? "post" : "get";
  return { http, isChange: method !== "get" && path !== SIGN_OUT_PATH };
}

/** A page is not part of the API's document. */
export function hidden<P extends string>(method: "get" | "post", path: P): {
  method: "get" | "post";
  path: P;
  hide: true;
  responses: { 200: { description: string } };
} {
  return { method, path, hide: true, responses: { 200: { description: "A page" } } };
}

/** Returns the address to continue at after the sign-in: a page of the console, and no other. */
export function safeNext(text: string | undefined): string {
  const isPage = text !== undefined && text.length <= 500 && !text.includes("..") &&
    /^\/console(?:[/?][\w\-./?=&%@:+~]*)?$/.test(text);
  return isPage && ![SIGN_IN_PATH, SIGN_OUT_PATH].some((one) => text.startsWith(one)) ? text : HOME_PATH;
}

/** Whether the form is one of this session: another site's has not its token. */
export async function isOwnForm(form: Form, token: string): Promise<boolean> {
  return await timingSafeEqual(form.get("form_token") ?? "", token);
}
