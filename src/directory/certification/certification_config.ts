/** The configuration of certifications (Decision E5). */
import type { CertificationTerms } from "./certification.ts";
import { type Certifiers, NO_CERTIFIERS, openCertifiers } from "./certifiers.ts";
import { type ConfigSource, readChecked } from "../config/file_modes.ts";

/** The variables as parsed. */
export interface CertificationValues {
  readonly DIRECTORY_CERTIFIERS?: string | undefined;
  readonly DIRECTORY_REQUIRE_CERTIFICATION?: number | undefined;
  readonly DIRECTORY_ENVIRONMENT?: string | undefined;
}

const CERTIFIERS = "DIRECTORY_CERTIFIERS";
const REQUIRED = "DIRECTORY_REQUIRE_CERTIFICATION";

/** Reads the certifiers' keys, and adds what is not usable to the faults. */
export async function readCertification(
  values: CertificationValues,
  source: ConfigSource,
  faults: string[],
): Promise<CertificationTerms> {
  const { DIRECTORY_CERTIFIERS: path, DIRECTORY_REQUIRE_CERTIFICATION: requiredDays } = values;
  if (requiredDays !== undefined && path === undefined) {
    faults.push(`${REQUIRED}: set ${CERTIFIERS} too, or no participant can get a statement`);
  }
  if (requiredDays !== undefined && values.DIRECTORY_ENVIRONMENT === "Sandbox") {
    faults.push(
      `${REQUIRED}: statements of DIRECTORY_ENVIRONMENT=Sandbox need no certification; leave it out`,
    );
  }
  const certifiers = path === undefined ? NO_CERTIFIERS : await readCertifiers(path, source, faults);
  return { certifiers, requiredDays };
}

async function readCertifiers(path: string, source: ConfigSource, faults: string[]): Promise<Certifiers> {
  const json = await readChecked(CERTIFIERS, path, source, faults, "trusted");
  if (json === "") return NO_CERTIFIERS;
  try {
    return await openCertifiers(json);
  } catch (error) {
    faults.push(`${CERTIFIERS}: ${error instanceof Error ? error.message : String(error)}`);
    return NO_CERTIFIERS;
  }
}
