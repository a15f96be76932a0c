/** A participant that is not registered yet. */

export const NEWCOMER = {
  name: "New Shop Ltd",
  role: "PISP",
  keys: [10, 11],
  redirectUris: ["https://new.example/a", "https://new.example/b?x=1&y=%20"],
} as const;
