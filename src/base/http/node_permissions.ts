/** Gives up writing on Node, whose permission model a process can only narrow (`node --permission`; Decision F7). */
/** `process.permission` since Node 26. Undefined without `--permission`, and on Bun. */
interface Permission {
  drop(scope: "fs.write" | "child" | "worker" | "addons" | "wasi"): void;
}

/**
 * From now on no file can be opened for writing, and no program or thread started. An open database goes on.
 *
 * @param process of Node
 */
export function giveUpOnNode(process: object, keepWriting: boolean): void {
  const { permission } = process as { readonly permission?: Partial<Permission> };
  if (typeof permission?.drop !== "function") return;
  if (!keepWriting) permission.drop("fs.write");
  for (const scope of ["child", "worker", "addons", "wasi"] as const) permission.drop(scope);
}
