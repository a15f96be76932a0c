/** The placeholders for paths: one regular expression for each zone that the proxies treat apart. */
import { FIRST_SEGMENTS, type Zone } from "../../../src/base/kernel/identifiers.ts";

/** Returns the expression of the zone's paths. nginx and HAProxy read it in the same way. */
export function pathsOf(zone: Zone): string {
  const names = [...FIRST_SEGMENTS].filter(([, segment]) => segment.zone === zone).map(([name]) => name);
  const below = names.filter((name) => name !== "").map((name) => name.replaceAll(".", "\\.")).join("|");
  return names.includes("") ? `^/($|(${below})(/|$))` : `^/(${below})(/|$)`;
}

/** By placeholder. */
export const ZONES: Readonly<Record<string, string>> = {
  OPERATOR_PATHS: pathsOf("operator"),
  DOCUMENTATION_PATHS: pathsOf("documentation"),
  DISCOVERY_PATHS: pathsOf("discovery"),
};
