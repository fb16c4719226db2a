/** Tells whether two JSON values are the same, by identity where they share parts: rows that did not change are compared at no cost. */
export function sameJson(one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if (Array.isArray(one) || Array.isArray(other)) {
    if (!Array.isArray(one) || !Array.isArray(other) || one.length !== other.length) return false
    for (let at = 0; at < one.length; at += 1) if (!sameJson(one[at], other[at])) return false
    return true
  }
  const names = Object.keys(one)
  if (names.length !== Object.keys(other).length) return false
  for (const name of names)
    if (!Object.hasOwn(other, name) || !sameJson(fieldOf(one, name), fieldOf(other, name))) return false
  return true
}

function fieldOf(value: object, name: string): unknown {
  return (value as Readonly<Record<string, unknown>>)[name]
}
