/** The part of docs/reference/strategies.md with everything that a kind of the user's own sees and may decide, from the source itself. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

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
    title: 'The snapshot',
    files: ['domain/snapshot.ts', 'protocol/reading.ts'],
    types: ['Snapshot', 'MarketView', 'Reading'],
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
  {
    title: 'Decisions',
    files: ['domain/order/decision.ts'],
    types: [
      'DecisionBase',
      'IncreaseDecision',
      'ExitRequest',
      'DecreaseDecision',
      'CloseDecision',
      'SwapDecision',
      'EditDecision',
      'CancelDecision',
      'CollateralDecision',
      'BatchDecision',
      'UnwindDecision',
    ],
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
