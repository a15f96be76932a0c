/**
 * The first segments of the platform's fixed paths, and who may open them. A bank's code is the first segment of its
 * paths, so a bank code must not be one of these. `platform/guards/http/endpoint.ts` rejects a path whose first segment is not
 * listed, and `scripts/operators/proxy` makes the rules of the proxies from the list.
 */

/** Who opens the paths of a segment. The proxies close `operator`, and limit the others apart from each other. */
export type Zone = "participants" | "operator" | "discovery" | "documentation" | "customers";

interface Segment {
  readonly zone: Zone;
  /** On the browser host programs open it, so errors are not pages. */
  readonly forPrograms?: true;
}

/** By segment, in lower case. */
export const FIRST_SEGMENTS: ReadonlyMap<string, Segment> = new Map<string, Segment>([
  ["health", { zone: "operator", forPrograms: true }],
  ["operations", { zone: "operator", forPrograms: true }],
  ["console", { zone: "operator" }],
  ["", { zone: "documentation" }],
  ["docs", { zone: "documentation" }],
  ["llms.txt", { zone: "documentation", forPrograms: true }],
  ["openapi.json", { zone: "documentation", forPrograms: true }],
  ["jwks", { zone: "discovery", forPrograms: true }],
  [".well-known", { zone: "discovery", forPrograms: true }],
  ["assets", { zone: "discovery", forPrograms: true }],
  ["receipt", { zone: "documentation" }],
  ["service-levels", { zone: "documentation" }],
  ["service-levels.json", { zone: "documentation", forPrograms: true }],
  ["problem", { zone: "customers" }],
  ["register", { zone: "participants" }],
  ["traces", { zone: "participants" }],
]);

/** Whether the name is reserved, in any case, because a proxy may compare paths without case. */
export function isReservedName(name: string): boolean {
  return FIRST_SEGMENTS.has(name.toLowerCase()) || name in Object.prototype;
}
