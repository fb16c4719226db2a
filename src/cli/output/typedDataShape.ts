/** Shapes of typed data in which a wallet may read something else than is shown: types, names that stand twice, chain ids. */
import type { MessageField } from '../../protocol/signing/messageTypes.ts'

/** Whether a list names the same fields with the same types, each in an object with nothing else. */
export function isSameType(ours: readonly MessageField[] | undefined, found: unknown): boolean {
  if (ours === undefined || !Array.isArray(found) || found.length !== ours.length) return false
  return ours.every(({ name, type }, at) => {
    const field: unknown = found[at]
    if (typeof field !== 'object' || field === null || Object.keys(field).length !== 2) return false
    return 'name' in field && 'type' in field && field.name === name && field.type === type
  })
}

/** The first name that stands twice in one object of a JSON text; undefined when none does. The text is JSON. */
export function repeatedName(text: string): string | undefined {
  const open: (Set<string> | undefined)[] = []
  const tokens = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\]]/g
  for (const [token, colon] of text.matchAll(tokens)) {
    if (token === '{') open.push(new Set())
    else if (token === '[') open.push(undefined)
    else if (token === '}' || token === ']') open.pop()
    else if (colon !== undefined) {
      const name = String(JSON.parse(token.slice(0, -colon.length)))
      const names = open.at(-1)
      if (names?.has(name)) return name
      names?.add(name)
    }
  }
  return undefined
}

/** The number of a chain as wallets read it: a whole number, or its digits; undefined for everything else. */
export function chainIdOf(value: unknown): number | undefined {
  const isDigits = typeof value === 'string' && /^(?:[1-9]\d{0,15}|0x[1-9a-f][0-9a-f]{0,12})$/.test(value)
  const id = typeof value === 'number' || isDigits ? Number(value) : undefined
  return id !== undefined && Number.isSafeInteger(id) && id > 0 ? id : undefined
}
