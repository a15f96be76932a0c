/** HTTP as the client library uses it, on every runtime. */

/** One HTTP request, as oauth4webapi, jose and this library make them. */
export interface HttpRequest {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: string | URLSearchParams | null | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Sends one request and does not follow redirects. */
export type Fetch = (url: string, request: HttpRequest) => Promise<Response>;

/** An open mTLS client. `close` frees its connections. */
export interface MutualTls {
  readonly fetch: Fetch;
  close(): void;
}
