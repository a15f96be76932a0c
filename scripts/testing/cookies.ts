/** The cookies of one host in a browser, by their names. */
export class Cookies extends Map<string, string> {
  /** The value of `Cookie`; empty without any. */
  header(): string {
    return [...this].map(([name, value]) => `${name}=${value}`).join("; ");
  }

  /** Stores the cookies that an answer sets, and deletes those that it clears. */
  keep(headers: Headers): void {
    for (const line of headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/;\s*max-age=0(;|$)/i.test(line)) this.delete(name);
      else this.set(name, value);
    }
  }
}
