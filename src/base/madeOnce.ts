/**
 * Gives what was made of an object when it was first asked for. For what many readers derive from one list or state that nobody
 * changes; `make` must give the same for the same.
 */
export function madeOnce<Given extends object, Made extends object | string>(
  make: (given: Given) => Made,
): (given: Given) => Made {
  const made = new WeakMap<Given, Made>()
  return (given) => {
    const known = made.get(given)
    if (known !== undefined) return known
    const fresh = make(given)
    made.set(given, fresh)
    return fresh
  }
}
