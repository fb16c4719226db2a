/**
 * The JSON Schema of a strategy file, by which an editor completes and checks it while it is written. What it cannot say, such
 * as a sum of shares, the loader alone checks; nothing that the loader takes fails here.
 */
import { z } from 'zod'
import { defined, ifDefined } from '../../base/defined.ts'
import { builtInKinds } from '../kinds/kinds.ts'
import type { Strategy } from '../strategy.ts'
import { wordsOf } from './fieldWords.ts'
import { livesOf, type TakenOver } from './fileLife.ts'
import { fileSchema } from './fileSchema.ts'

type Json = Readonly<Record<string, unknown>>

/** Effect of a change in a running daemon, as the end of a description. */
const lives: Readonly<Record<TakenOver, string>> = {
  live: 'A running daemon applies a change from the next turn.',
  limits:
    'A running daemon applies a tighter limit at once, and a looser one when an operator confirms it or at a restart.',
  restart: 'A change needs a restart.',
}

/** The schema of one file; the parameters of a built-in kind are checked, those of a kind of one's own are free. */
export function strategyFileSchema(): Json {
  const whole = jsonOf(fileSchema)
  const fields = whole.properties as Readonly<Record<string, Json>>
  const properties = Object.fromEntries(
    [...livesOf(fileSchema)].map(([name, life]) => [name, withLife(fields[name] ?? {}, life)]),
  )
  const names = Object.keys(builtInKinds)
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'A strategy file of perpd',
    type: 'object',
    additionalProperties: false,
    required: ['kind'],
    properties: {
      ...properties,
      kind: {
        description: properties.kind?.description,
        anyOf: [{ enum: names }, { type: 'string', pattern: '^(\\.{1,2}/|/)' }],
      },
      params: {
        type: 'object',
        description: properties.params?.description,
      },
    },
    not: { required: ['market', 'markets'] },
    allOf: names.map((name) => ({
      if: { required: ['kind'], properties: { kind: { const: name } } },
      // biome-ignore lint/suspicious/noThenProperty: a word of JSON Schema
      then: ofKind(builtInKinds[name] as Strategy),
    })),
  }
}

/** Returns the rules for files of one built-in kind. */
function ofKind({ params, opensPositions, description }: Strategy): Json {
  const shape = withLife(jsonOf(params), 'live')
  const isNeeded = Array.isArray(shape.required) && shape.required.length > 0
  const required = [...(opensPositions ? ['size'] : []), ...(isNeeded ? ['params'] : [])]
  return {
    properties: { params: { ...shape, description: `${description} ${lives.live}` } },
    ...defined({ required: required.length === 0 ? undefined : required }),
    ...defined({ anyOf: opensPositions ? [{ required: ['market'] }, { required: ['markets'] }] : undefined }),
  }
}

function jsonOf(schema: z.ZodType): Json {
  const { $schema: _, ...shape } = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      const words = wordsOf(zodSchema as unknown as z.ZodType)
      const { meaning, expected, initial } = words
      const sentences = [meaning, expected === undefined ? undefined : `Expected: ${expected}`].filter(
        (text) => text !== undefined,
      )
      if (sentences.length > 0) jsonSchema.description = `${sentences.map(capital).join('. ')}.`
      if (initial !== undefined) jsonSchema.default = initial as typeof jsonSchema.default
    },
  })
  return shape
}

/** The same with the word of its life at the end of its description and of those of its inner fields. */
function withLife(shape: Json, life: TakenOver | undefined): Json {
  if (life === undefined) return shape
  const { properties, description, ...rest } = shape
  const inner = ifDefined(properties as Readonly<Record<string, Json>> | undefined, (fields) =>
    Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, withLife(field, life)])),
  )
  const words = [description, lives[life]].filter(Boolean).join(' ')
  return { ...rest, description: words, ...defined({ properties: inner }) }
}

function capital(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`
}
