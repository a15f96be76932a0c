/** Free ports for a sandbox. */

/** A sandbox listens on so many ports in a row (decision F2). */
const PORTS = 5;
const ATTEMPTS = 100;

/** Returns the first of five free ports in a row. @throws {Error} if none were found */
export function freeSandboxPorts(): number {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const first = 20_000 + Math.floor(Math.random() * 20_000);
    if (Array.from({ length: PORTS }, (_, index) => first + index).every(isFree)) return first;
  }
  throw new Error("No five free ports in a row were found");
}

function isFree(port: number): boolean {
  try {
    Deno.listen({ hostname: "127.0.0.1", port }).close();
    return true;
  } catch {
    return false;
  }
}
