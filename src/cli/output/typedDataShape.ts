/** Shapes of typed data in which a wallet may read something else than is shown: types and chain ids. */
import type { MessageField } from '../../protocol/signing/messageTypes.ts'

/** Tells whether a list names the same fields with the same types, each in an object with nothing else. */
export function isSameType(ours: readonly MessageField[] | undefined, found: unknown): boolean {
  if (ours === undefined || !Array.isArray(found) || found.length !== ours.length) return false
  return ours.every(({ name, type }, at) => {
    const field: unknown = found[at]
    if (typeof field !== 'object' || field === null || Object.keys(field).length !== 2) return false
    return 'name' in field && 'type' in field && field.name === name && field.type === type
  })
}

/** The number of a chain as wallets read it: a whole number, or its digits; undefined for everything else. */
export function chainIdOf(value: unknown): number | undefined {
  const isDigits = typeof value === 'string' && /^(?:[1-9]\d{0,15}|0x[1-9a-f][0-9a-f]{0,12})$/.test(value)
  const id = typeof value === 'number' || isDigits ? Number(value) : undefined
  return id !== undefined && Number.isSafeInteger(id) && id > 0 ? id : undefined
}
