/**
 * Gives what was made of the same arguments the last time, by identity, and makes it anew for any other. For what many readers
 * derive from one answer that they share; `make` must give the same for the same.
 */
export function sameAgain<Given extends readonly unknown[], Made>(
  make: (...given: Given) => Made,
): (...given: Given) => Made {
  let last: { readonly given: Given; readonly made: Made } | undefined
  return (...given) => {
    if (last === undefined || given.some((each, index) => each !== last?.given[index]))
      last = { given, made: make(...given) }
    return last.made
  }
}
