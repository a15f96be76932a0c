/** Waiting with a bound. */

/**
 * Awaits a result for so long. If it is not there then, `late` is called and its result, or error, takes its place. The
 * work itself goes on; its later failure is no unhandled rejection.
 */
export async function awaitFor<T, Late>(
  milliseconds: number,
  running: Promise<T>,
  late: () => Late,
): Promise<T | Late> {
  const passed = Promise.withResolvers<void>();
  const timer = setTimeout(passed.resolve, milliseconds);
  try {
    return await Promise.race([running, passed.promise.then(late)]);
  } finally {
    clearTimeout(timer);
  }
}
