/**
 * Gives what was made of the same arguments the last time, by identity, and makes it anew for any other. For what many readers
 * derive from one answer that they share; `make` must give the same for the same.
 */
export function sameAgain<Given extends readonly unknown[], Made>(
  make: (...given: Given) => Made,
): (...given: Given) => Made {
  const lastOf = lastMade<Made>()
  return (...given) => lastOf(given, () => make(...given))
}

/** The same where what it is made of is a list of any length: `make` is called unless each of `given` is what it was the last time. */
export function lastMade<Made>(): (given: readonly unknown[], make: () => Made) => Made {
  let last: { readonly given: readonly unknown[]; readonly made: Made } | undefined
  return (given, make) => {
    const isSame =
      last !== undefined &&
      last.given.length === given.length &&
      last.given.every((each, index) => each === given[index])
    if (last === undefined || !isSame) last = { given, made: make() }
    return last.made
  }
}
