/** Gives of each key when it began, from the look before where it continues. */
export function since(
  keys: readonly string[],
  before: ReadonlyMap<string, number> | undefined,
  nowMs: number,
): ReadonlyMap<string, number> {
  return new Map(keys.map((key) => [key, before?.get(key) ?? nowMs]))
}
