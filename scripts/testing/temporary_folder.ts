/** A folder that is removed, with all that is in it, at the end of the block that opened it. */
export interface TemporaryFolder extends AsyncDisposable {
  readonly path: string;
}

export async function openTemporaryFolder(): Promise<TemporaryFolder> {
  const path = await Deno.makeTempDir({ prefix: "test-" });
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}
