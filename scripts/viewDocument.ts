/** The part of docs/reference/strategies.md with everything that a kind of the user's own sees and may decide, from the source itself. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { decisionSchemas, startTaskOf } from '../src/domain/order/decisionSchema.ts'
import { bareOf, expectedOf, wordsOf } from '../src/strategy/valueFault.ts'
import { taskRows, taskWishes } from '../src/tasks/taskRows.ts'

/** One part of the page: its types in the order of the page, and the files that they are in. */
interface Part {
  readonly title: string
  readonly files: readonly string[]
  readonly types: readonly string[]
}

const parts: readonly Part[] = [
  {
    title: 'The view',
    files: ['strategy/strategy.ts'],
    types: ['StrategyView', 'StrategyInstance', 'OrderSize', 'Needs', 'CandleNeed'],
  },
  {
    title: 'What the instance holds',
    files: ['books/ownPositions.ts'],
    types: ['OwnPosition'],
  },
  {
    title: "The instance's own orders",
    files: ['strategy/resting.ts'],
    types: ['OpenIntent', 'RestingOrder'],
  },
  {
    title: 'Input of a kind with a memory',
    files: ['domain/memory/ownEvent.ts'],
    types: ['OwnEventBase', 'FillEvent', 'FillFacts', 'ClosedEvent', 'DeniedEvent'],
  },
  {
    title: 'Signals from outside',
    files: ['domain/memory/tradeSignal.ts', 'strategy/kindMemory.ts'],
    types: ['GivenSignal', 'TradeSignal', 'SignalTerms', 'UnservedSignal'],
  },
  {
    title: 'What it waits for',
    files: ['strategy/kindStatus.ts'],
    types: ['StatusLine'],
  },
  {
    title: 'The snapshot',
    files: ['domain/snapshot.ts', 'protocol/reading.ts'],
    types: ['Snapshot', 'AccountLists', 'ListedPositions', 'MarketView', 'Reading', 'Rows'],
  },
  {
    title: 'Markets and prices',
    files: ['protocol/market.ts'],
    types: [
      'Market',
      'LeverageTier',
      'Token',
      'Ticker',
      'TradingCapacity',
      'OraclePrice',
      'Candle',
      'Balance',
    ],
  },
  {
    title: 'Positions and orders of the account',
    files: ['protocol/position.ts'],
    types: ['Position', 'Order'],
  },
]

/** The sections of the page about what a kind sees and may decide. Throws Error when a type is not where it is looked for. */
export function viewSections(): readonly string[] {
  const sections = parts.map(({ title, files, types }) => {
    const text = files
      .map((file) => readFileSync(fileURLToPath(new URL(`../src/${file}`, import.meta.url)), 'utf8'))
      .join('\n')
    const told = types.flatMap((type) => [...typeText(text, type, files), ''])
    return [`## ${title}`, '', ...told].join('\n')
  })
  return [
    '## What a kind sees and may decide',
    '',
    'The types of `#strategy`. USD amounts, prices and rates are bigints with 30 decimals, token amounts bigints in the smallest unit of',
    "the token; `usd('12.5')`, `formatUsd(amount)`, `bps(amount, 50)` and `liquidationDistanceBps(position)` make and read them.",
    '',
    ...sections,
    ...decisionSections(),
    ...taskSections(),
  ]
}

/** Fields of every decision, and of those on a market. */
const everywhere = ['kind', 'reason', 'facts']
const onMarket = ['marketToken', 'direction']

function decisionSections(): readonly string[] {
  const [increase] = decisionSchemas
  const { shape } = increase
  const all = [...decisionSchemas, startTaskOf(taskWishes)].flatMap((schema) => {
    const own = Object.entries<z.core.$ZodType>(schema.shape)
    const isOnMarket = onMarket.every((field) => field in schema.shape)
    const rows = own.filter(([field]) => ![...everywhere, ...(isOnMarket ? onMarket : [])].includes(field))
    return [
      `### ${[...schema.shape.kind.values].join(', ')}`,
      '',
      `${wordsOf(schema).description}${isOnMarket ? ' On one side of one market.' : ''}`,
      '',
      ...(rows.length === 0 ? [] : [...fieldTable(rows), '']),
    ]
  })
  const common = Object.entries<z.core.$ZodType>(shape).filter(([field]) =>
    [...everywhere.slice(1), ...onMarket].includes(field),
  )
  return [
    '## Decisions',
    '',
    'Every decision has its `kind`, a `reason` and, if it wishes, `facts`; one on a side of a market has `marketToken` and `direction` too.',
    '',
    ...fieldTable(common),
    '',
    ...all,
  ]
}

function taskSections(): readonly string[] {
  const common = ['kind', 'budget', ...onMarket, 'collateralToken']
  const [first] = taskRows
  const rowsOf = (shape: object) => Object.entries<z.core.$ZodType>({ ...shape })
  const shared = rowsOf(shapeOf(first?.wish)).filter(([field]) => common.slice(1).includes(field))
  const kinds = taskRows.flatMap(({ name, does, doneWhen, wish }) => [
    `### task ${name}`,
    '',
    `${does.endsWith('.') ? does.slice(0, -1) : does}; done ${doneWhen}.`,
    '',
    ...fieldTable(rowsOf(shapeOf(wish)).filter(([field]) => !common.includes(field))),
    '',
  ])
  return [
    '## Tasks of a strategy',
    '',
    'The `task` of `start-task`. Each has its `kind`; all but the rebalance work on one side of one market.',
    '',
    ...fieldTable(shared),
    '',
    ...kinds,
  ]
}

/** The fields of an object's schema. */
function shapeOf(schema: z.ZodType | undefined): Readonly<Record<string, z.core.$ZodType>> {
  return schema instanceof z.ZodObject ? schema.shape : {}
}

/** Fields of a schema as a table, those of objects in it by their path. */
function fieldTable(fields: readonly (readonly [string, z.core.$ZodType])[]): readonly string[] {
  const rowsOf = (name: string, schema: z.core.$ZodType): readonly string[] => {
    const isOptional = schema._zod.optout === 'optional'
    const row = `| \`${name}${isOptional ? '?' : ''}\` | ${cell(expectedOf(schema))} | ${cell(wordsOf(schema).description ?? '')} |`
    const bare = bareOf(schema)
    const inner = bare instanceof z.ZodArray ? bare.element : bare
    const of = inner instanceof z.ZodObject && wordsOf(schema).expected === undefined ? inner.shape : {}
    const at = inner === bare ? '' : '[]'
    return [
      row,
      ...Object.entries<z.core.$ZodType>(of).flatMap(([field, each]) =>
        rowsOf(`${name}${at}.${field}`, each),
      ),
    ]
  }
  return [
    '| field | expected | meaning |',
    '|---|---|---|',
    ...fields.flatMap(([name, schema]) => rowsOf(name, schema)),
  ]
}

/** One type as a heading, its sentence, and a table of its fields. */
function typeText(text: string, type: string, files: readonly string[]): readonly string[] {
  const found = new RegExp(
    `((?:/\\*\\*(?:(?!\\*/)[\\s\\S])*\\*/\\s*)?)(?:export )?interface ${type}\\b([^{]*)\\{\\n([\\s\\S]*?)\\n\\}`,
  ).exec(text)
  if (found === null) throw new Error(`no interface ${type} in ${files.join(', ')}`)
  const [, doc = '', head = '', body = ''] = found
  const base = /extends (\w+)/.exec(head)?.[1]
  const rows = [
    ...body.matchAll(
      /((?: {2}\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n)?) {2}(?:readonly )?(\w+)(\??)(\([^\n]*|:[^\n]*(?:\n {4}[^\n]*)*)/g,
    ),
  ].map(([, comment = '', name = '', optional = '', kind = '']) => {
    const shown = kind.replace(/^:\s*/, '').replace(/\s+/g, ' ').trim()
    return `| \`${name}${optional}\` | \`${cell(shown)}\` | ${cell(sentence(comment))} |`
  })
  return [
    `### ${type}`,
    '',
    ...[`${sentence(doc)}${base === undefined ? '' : ` With the fields of \`${base}\`.`}`.trim()].filter(
      (line) => line !== '',
    ),
    '',
    '| field | type | meaning |',
    '|---|---|---|',
    ...rows,
  ]
}

/** A comment as one line of text. */
function sentence(comment: string): string {
  return comment
    .replace(/^\s*\/\*\*|\*\/\s*$/g, '')
    .replace(/^\s*\* ?/gm, '')
    .replace(/\s+/g, ' ')
    .trim()
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|')
}
