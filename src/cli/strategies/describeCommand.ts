/** `perpd strategies describe`: what a kind does, which parameters it has, and what it reads. */
import { exitCodes } from '../../config/exit.ts'
import { fieldsOf, wordsOf } from '../../strategy/files/fieldWords.ts'
import { builtInKinds } from '../../strategy/kinds/kinds.ts'
import type { Needs, Strategy } from '../../strategy/strategy.ts'
import type { Call } from '../call/command.ts'
import { type Column, columns, table } from '../output/table.ts'
import { builtInKind, exampleOf, typedPath } from './shippedExamples.ts'

/** The market by which needs are told. */
const sampleMarket = 'ETH/USD [WETH-USDC]'

interface Parameter {
  readonly name: string
  /** Unit and range. */
  readonly expected: string | null
  /** As a file says it; null where there is none. */
  readonly default: unknown
  readonly isRequired: boolean
  readonly meaning: string | null
}

/** Describes one kind, or lists all. */
export async function describe({ positionals, flags, cwd, width, out }: Call): Promise<number> {
  const [name] = positionals
  if (name === undefined) {
    if (flags.has('json')) out(JSON.stringify(Object.values(builtInKinds).map(summaryOf), undefined, 2))
    else {
      out(columns(Object.values(builtInKinds).map(({ kind, description }) => [kind, description])))
      out('\nOne of them: perpd strategies describe KIND')
    }
    return exitCodes.ok
  }
  const kind = builtInKind(name)
  const params = parametersOf(kind)
  const example = exampleOf(name)
  const needs = needsOf(kind, example?.params ?? {})
  const path = example && typedPath(example.path, cwd)
  if (flags.has('json')) {
    out(JSON.stringify({ ...summaryOf(kind), params, needs, example: path ?? null }, undefined, 2))
    return exitCodes.ok
  }
  out(`${kind.kind}: ${kind.description}\n`)
  out(`${roleOf(kind)}\n`)
  const rows = params.map((each) => [
    each.name,
    each.default === null ? (each.isRequired ? 'required' : 'none') : String(each.default),
    each.expected ?? '',
    each.meaning ?? '',
  ])
  out(table(parameterColumns, rows, width))
  out(`\nIt reads, as its example has it: ${needsText(needs)}.`)
  if (path !== undefined) out(`An example: ${path}`)
  out(`A file of your own: perpd strategies new ${name}`)
  return exitCodes.ok
}

const parameterColumns: readonly Column[] = [
  { title: 'PARAMETER', rank: 0 },
  { title: 'DEFAULT', rank: 0 },
  { title: 'EXPECTED', rank: 1 },
  { title: 'MEANING', rank: 2, isProse: true },
]

function summaryOf({ kind, description, opensPositions, takesSignals, memory }: Strategy) {
  return {
    kind,
    description,
    opensPositions,
    remembers: memory !== undefined,
    takesSignals: takesSignals === true,
  }
}

function parametersOf({ params }: Strategy): readonly Parameter[] {
  return (fieldsOf(params) ?? []).map(([name, field]) => {
    const { meaning = null, expected = null, initial = null, isRequired } = wordsOf(field)
    return { name, expected, default: initial, isRequired, meaning }
  })
}

function roleOf({ opensPositions, memory, takesSignals }: Strategy): string {
  const sentences = [
    opensPositions
      ? 'It opens positions: its file names a market and a size.'
      : 'It only reduces: its file needs no market and no size.',
    memory === undefined ? undefined : 'It remembers between its turns, in the journal.',
    takesSignals === true ? 'It takes signals from outside (docs/signals.md).' : undefined,
  ]
  return sentences.filter((sentence) => sentence !== undefined).join(' ')
}

/** Returns the data that the kind reads from one market with these parameters, as a file writes them. */
function needsOf(kind: Strategy, written: Readonly<Record<string, unknown>>): Needs {
  return kind.needs(kind.params.parse(written), kind.opensPositions ? [sampleMarket] : [])
}

function needsText({ symbols, candles = [], balances, allPositionMarkets }: Needs): string {
  const parts = [
    symbols.length > 0 ? 'price, rates and capacity of its markets' : undefined,
    ...candles.map(({ period, limit }) => `${limit} candles of ${period}`),
    allPositionMarkets === true ? 'every market with a position' : undefined,
    balances === true ? 'the wallet' : undefined,
  ]
  return parts.filter((part) => part !== undefined).join(', ')
}
