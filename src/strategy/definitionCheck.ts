/** Checks whether a module's value is the definition of a kind. Pure. */
import { z } from 'zod'
import { didYouMean } from './didYouMean.ts'
import { firstIssue } from './kindMemory.ts'

/** Required type of each part of a definition. */
const definitionParts: Readonly<
  Record<string, readonly [isGood: (value: unknown) => boolean, expected: string]>
> = {
  kind: [(value) => typeof value === 'string' && value !== '', 'a text'],
  description: [(value) => typeof value === 'string', 'a text'],
  opensPositions: [(value) => value === undefined || typeof value === 'boolean', 'true or false'],
  params: [(value) => value instanceof z.ZodType, 'a schema, like z.strictObject({})'],
  memory: [
    (value) => value === undefined || isMemory(value),
    '{ version: 1, schema, first } with a whole version from 1, a schema, and a first value that fits it',
  ],
  takesSignals: [(value) => value === undefined || typeof value === 'boolean', 'true or false'],
  needs: [(value) => typeof value === 'function', 'a function'],
  decide: [(value) => typeof value === 'function', 'a function'],
  status: [(value) => value === undefined || typeof value === 'function', 'a function'],
}

function isMemory(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const { version, schema, first, upcast } = value as Readonly<Record<string, unknown>>
  const isVersion = typeof version === 'number' && Number.isSafeInteger(version) && version > 0
  const isUpcast = upcast === undefined || typeof upcast === 'function'
  return isVersion && isUpcast && schema instanceof z.ZodType && schema.safeParse(first).success
}

/** Returns the part of a first memory that its schema does not accept, with the field; undefined where that is not the fault. */
function firstMisfit(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { schema, first } = value as Readonly<Record<string, unknown>>
  const error = schema instanceof z.ZodType ? schema.safeParse(first).error : undefined
  return error === undefined ? undefined : firstIssue(error)
}

/**
 * Looks at the parts of a kind's definition: types are stripped where a kind is loaded, not checked.
 *
 * @throws TypeError for a part that is missing, wrong, or not known.
 */
export function checkDefinition(definition: object): void {
  const known = Object.keys(definitionParts)
  const strange = Object.keys(definition).find((name) => !known.includes(name))
  if (strange !== undefined) {
    const near = didYouMean(strange, known)
    const hint = near === undefined ? `its parts are ${known.join(', ')}` : `did you mean ${near}?`
    throw new TypeError(`defineStrategy: ${strange} is no part of a kind; ${hint}`)
  }
  for (const [name, [isGood, expected]] of Object.entries(definitionParts)) {
    const value = (definition as Readonly<Record<string, unknown>>)[name]
    if (isGood(value)) continue
    const misfit = name === 'memory' ? firstMisfit(value) : undefined
    if (misfit !== undefined) {
      throw new TypeError(`defineStrategy: memory.first does not fit memory.schema: ${misfit}`)
    }
    const found =
      value === undefined ? 'is missing' : `is ${typeof value === 'object' ? 'an' : 'a'} ${typeof value}`
    throw new TypeError(`defineStrategy: ${name} ${found}; expected ${expected}`)
  }
  if ('takesSignals' in definition && definition.takesSignals === true && !('memory' in definition)) {
    throw new TypeError(
      'defineStrategy: takesSignals needs a memory, which perpd saves together with the accepted signals',
    )
  }
}
