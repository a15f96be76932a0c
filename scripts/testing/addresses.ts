/** The addresses of a test environment. */

export const BASE_URL = "https://api.platform.example";
export const AUTH_URL = "https://auth.platform.example";
export const DIRECTORY_URL = "https://directory.example";
export const REGISTRATION_AUDIENCE = "https://directory.example/registration";

/** Where an environment's platform and directory are. */
export interface Addresses {
  readonly baseUrl: string;
  readonly authUrl: string;
  readonly directoryUrl: string;
  readonly registrationAudience: string;
}

const ADDRESSES: Addresses = {
  baseUrl: BASE_URL,
  authUrl: AUTH_URL,
  directoryUrl: DIRECTORY_URL,
  registrationAudience: REGISTRATION_AUDIENCE,
};

/** Returns the environment's addresses: those of this file, unless it has its own. */
export function addressesOf({ addresses = ADDRESSES }: { readonly addresses?: Addresses }): Addresses {
  return addresses;
}
