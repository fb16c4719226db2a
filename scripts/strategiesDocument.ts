/** Prints docs/reference/strategies.md: kinds, fields of a file, and all that a kind sees and may decide, from the source itself. */
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { exampleOf } from '../src/cli/strategies/shippedExamples.ts'
import { limitField, limitRows } from '../src/domain/limits/limits.ts'
import type { LimitUnit } from '../src/domain/limits/limitTable.ts'
import { fieldsOf, wordsOf } from '../src/strategy/files/fieldWords.ts'
import { livesOf, type TakenOver } from '../src/strategy/files/fileLife.ts'
import { fileSchema } from '../src/strategy/files/fileSchema.ts'
import { builtInKinds } from '../src/strategy/kinds/kinds.ts'
import type { Strategy } from '../src/strategy/strategy.ts'
import { viewSections } from './viewDocument.ts'

/** When a running daemon takes a change of a field over, in a cell. */
const lives: Readonly<Record<TakenOver, string>> = {
  live: 'next turn',
  limits: 'tighter at once, looser by confirmation or restart',
  restart: 'restart',
}

const fileUnits: Readonly<Record<LimitUnit, string>> = {
  usd: 'US dollars',
  native: 'native token',
  bps: 'basis points',
  times: 'times',
  count: 'a number',
  ms: 'seconds',
}

/** The page. */
export function strategiesDocument(): string {
  return `${[
    '# Strategy files, kinds and views',
    '',
    '<!-- Printed from src/strategy, src/domain and scripts/strategiesDocument.ts by `npm run docs`. Do not edit. -->',
    '',
    'How to use them: [strategies.md](../strategies.md), [exits.md](../exits.md), [keepers.md](../keepers.md) and',
    '[own-kinds.md](../own-kinds.md). `perpd strategies describe KIND` shows the same of one kind.',
    '',
    '## Fields of a file',
    '',
    'An unknown field is an error with a hint. A number with more than 15 digits stands in quotes. "Change" says when a running daemon',
    'takes a changed value over.',
    '',
    '| field | expected | default | meaning | change |',
    '|---|---|---|---|---|',
    ...fileRows(),
    '',
    '## Limits of a file',
    '',
    limitFields(),
    '',
    '## Kinds',
    '',
    ...Object.values(builtInKinds).flatMap(kindSection),
    ...viewSections(),
  ]
    .join('\n')
    .trimEnd()}\n`
}

/** The limits that a strategy file may have. */
function limitFields(): string {
  const rows = limitRows.map(
    ([name, { unit, inFile }]) => `| \`${limitField(name)}\` | ${fileUnits[unit]} | ${cell(inFile)} |`,
  )
  return ['| in `limits` | unit | meaning |', '|---|---|---|', ...rows].join('\n')
}

function fileRows(): readonly string[] {
  const changes = livesOf(fileSchema)
  return Object.entries(fileSchema.shape).flatMap(([name, field]) => {
    const life = changes.get(name)
    return rowsOf(name, field as z.ZodType, life === undefined ? '' : lives[life])
  })
}

/** The row of a field, and of the fields in it; limits have a table of their own. */
function rowsOf(path: string, field: z.ZodType, change: string): readonly string[] {
  const inner = path === 'limits' ? undefined : objectIn(field)
  const distance = inner !== undefined && isDistance(inner)
  const form = distance || isDistancePlus(inner) ? '`{ bps }`, `{ usd }` or `{ atr }`' : undefined
  const own = fieldRow(path, field, form)
  const children = inner === undefined || distance ? [] : Object.entries(inner.shape)
  return [
    `${own} ${change} |`,
    ...children
      .filter(([name]) => !isOfDistance(name) || !isDistancePlus(inner))
      .flatMap(([name, each]) => rowsOf(`${path}.${name}`, each as z.ZodType, '')),
  ]
}

const distanceNames = ['bps', 'usd', 'atr']
const isOfDistance = (name: string) => distanceNames.includes(name)

function isDistance({ shape }: z.ZodObject): boolean {
  return Object.keys(shape).every(isOfDistance)
}

/** Whether an object is a distance with more beside it. */
function isDistancePlus(object: z.ZodObject | undefined): boolean {
  return object !== undefined && distanceNames.every((name) => name in object.shape)
}

/** The object that a field is, through `optional` and `default`. */
function objectIn(field: z.ZodType): z.ZodObject | undefined {
  let inner = field
  while (inner instanceof z.ZodOptional || inner instanceof z.ZodDefault) inner = inner.unwrap() as z.ZodType
  return inner instanceof z.ZodObject ? inner : undefined
}

function fieldRow(name: string, field: z.ZodType, form?: string): string {
  const { meaning = '', expected = '', initial, isRequired } = wordsOf(field)
  const left = initial === undefined ? (isRequired ? 'required' : '') : `\`${valueText(initial)}\``
  return `| \`${name}\` | ${form ?? cell(expected)} | ${left} | ${cell(meaning)} |`
}

function valueText(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

function kindSection({
  kind,
  description,
  opensPositions,
  takesSignals,
  memory,
  params,
}: Strategy): readonly string[] {
  const facts = [
    opensPositions ? 'opens positions' : 'a keeper: opens nothing',
    ...(memory === undefined ? [] : ['has a memory']),
    ...(takesSignals === true ? ['takes signals'] : []),
  ]
  const fields = fieldsOf(params) ?? []
  const table =
    fields.length === 0
      ? ['No parameters.']
      : [
          '| in `params` | expected | default | meaning |',
          '|---|---|---|---|',
          ...fields.map(([name, field]) => fieldRow(name, field)),
        ]
  return [`### ${kind}`, '', `${description} (${facts.join('; ')}) ${exampleLink(kind)}`, '', ...table, '']
}

/** A link to the shipped file that shows a kind. */
function exampleLink(kind: string): string {
  const example = exampleOf(kind)
  if (example === undefined) throw new RangeError(`no shipped file shows the kind ${kind}`)
  const file = relative(fileURLToPath(new URL('../', import.meta.url)), example.path)
  return `Example: [${file}](../../${file}).`
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|')
}
