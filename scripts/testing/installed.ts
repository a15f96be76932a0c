/** Programs and libraries that a test needs and a computer may lack. */

/** Whether each of these files is there. */
export function areInstalled(...paths: readonly string[]): boolean {
  return paths.every((path) => {
    try {
      return Deno.statSync(path).isFile;
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return false;
      throw error;
    }
  });
}
