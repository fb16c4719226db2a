/** The fields of an object that may be absent: each is there with a value, or not there at all. */
export type Defined<Fields> = { [Key in keyof Fields]?: Exclude<Fields[Key], undefined> }

/**
 * Returns a copy of an object without the fields whose value is undefined. An optional field is spread with it into a value that must not name what
 * it does not hold: `{ id, ...defined({ reason }) }`.
 */
export function defined<Fields extends object>(fields: Fields): Defined<Fields> {
  const held: Defined<Fields> = {}
  for (const key in fields) {
    const value = fields[key]
    if (value !== undefined) held[key] = value as Defined<Fields>[typeof key]
  }
  return held
}

/** Applies a function to a value that may be absent; gives undefined for an absent one. */
export function ifDefined<Value, Result>(
  value: Value | undefined,
  make: (value: Value) => Result,
): Result | undefined {
  return value === undefined ? undefined : make(value)
}

/** Returns a list that has an element; undefined for an empty one. */
export function someOf<Element>(list: readonly Element[]): readonly Element[] | undefined {
  return list.length === 0 ? undefined : list
}
