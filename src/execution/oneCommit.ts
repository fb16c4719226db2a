/** Records that are durable together or not at all. */

/**
 * Begins all writes in this turn of the event loop, so that the journal takes their records in one commit, in this order; returns the outcome of
 * each. Each write must append before it awaits anything (`Journal.append`): a later append gets a separate commit. An error before a write's promise
 * becomes its rejection, and the others still begin.
 */
export function inOneCommit<T extends readonly unknown[]>(
  ...writes: { readonly [K in keyof T]: () => Promise<T[K]> }
): Promise<{ -readonly [K in keyof T]: PromiseSettledResult<T[K]> }> {
  const begun = writes.map((write) => {
    try {
      return write()
    } catch (error) {
      return Promise.reject(error)
    }
  })
  return Promise.allSettled(begun) as Promise<{ -readonly [K in keyof T]: PromiseSettledResult<T[K]> }>
}

/** Throws the error of the first failed write. */
export function throwFirst(results: readonly PromiseSettledResult<unknown>[]): void {
  const failed = results.find((result) => result.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}
