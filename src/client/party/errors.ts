/** The errors of the library's own checks. What the platform rejects is an `ApiErrorResponse`. */

/** A key, a credential or an option cannot be used. The message says which one, and what was expected. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
}

/** A message is not authentic or not about what was asked. Its content must not be used. */
export class UntrustedMessage extends Error {
  override readonly name = "UntrustedMessage";
}
