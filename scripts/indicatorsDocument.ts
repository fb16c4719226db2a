/** Prints docs/reference/indicators.md: the calls of `#indicators` with what each takes, gives and needs, from the source itself and by calling it. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Candle } from '../src/protocol/market.ts'
import * as indicators from '../src/strategy/indicators.ts'

/** One call, as the source declares it. */
interface Declared {
  readonly name: string
  readonly takes: string
  readonly gives: string
  readonly means: string
}

/** The usual further arguments of each call over candles, for its example and for counting the candles that it needs. */
const usual: Readonly<Record<string, readonly unknown[]>> = {
  sma: [20],
  ema: [20],
  atr: [14],
  rsi: [14],
  adx: [14],
  macd: [{ fast: 12, slow: 26, signal: 9 }],
  bollinger: [20],
  stochastic: [{ k: 14, slowing: 3, d: 3 }],
  zScore: [20],
  donchian: [20],
  highest: [20],
  lowest: [20],
  roc: [10],
}

/** Most candles that a call with its usual arguments may need. */
const MOST = 200

/** The page. */
export function indicatorsDocument(): string {
  const [source = '', ofNoPackage = ''] = ['indicators', 'closedCandles'].map((name) =>
    readFileSync(fileURLToPath(new URL(`../src/strategy/${name}.ts`, import.meta.url)), 'utf8'),
  )
  const order = Object.keys(usual)
  const declared = [...declaredIn(source), ...declaredIn(ofNoPackage)].sort(
    (a, b) => order.indexOf(a.name) - order.indexOf(b.name),
  )
  const over = declared.filter(({ takes, name }) => takes.startsWith('candles') && name !== 'closedCandles')
  const others = declared.filter((each) => !over.includes(each))
  return `${[
    '# Indicators',
    '',
    '<!-- Printed from src/strategy/indicators.ts by `npm run docs`. Do not edit. -->',
    '',
    "A kind of one's own imports them: `import { rsi } from '#indicators'` ([own-kinds.md](../own-kinds.md)). `candles` are those of",
    '`view.candles`, the oldest first; results are numbers of the last one, for signals only. `undefined`: there are too few candles. "Needs" is the least',
    'number of candles of the usual call.',
    '',
    '| call | usual | gives | needs | meaning |',
    '|---|---|---|---|---|',
    ...over.map(({ name, takes, gives, means }) => {
      const given = usual[name]
      if (given === undefined)
        throw new Error(`scripts/indicatorsDocument.ts has no usual arguments of ${name}`)
      const call = `${name}(candles, ${given.map(shown).join(', ')})`
      return `| \`${name}(${takes})\` | \`${call}\` | \`${cell(gives)}\` | ${neededBy(name, given)} | ${means} |`
    }),
    '',
    '## Candles and periods',
    '',
    '| call | gives | meaning |',
    '|---|---|---|',
    ...others.map(
      ({ name, takes, gives, means }) => `| \`${name}(${takes})\` | \`${cell(gives)}\` | ${means} |`,
    ),
    '',
    '## Classes',
    '',
    'For values that are fed one by one, the classes of [trading-signals](https://github.com/bennycode/trading-signals) are there too:',
    `${classesIn(source)
      .map((name) => `\`${name}\``)
      .join(', ')}.`,
  ].join('\n')}\n`
}

/** The exported functions of a source, in its order. */
function declaredIn(source: string): readonly Declared[] {
  const form = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\nexport function (\w+)\(([\s\S]*?)\): ([^\n]*) \{\n/g
  return [...source.matchAll(form)].map(([, words = '', name = '', takes = '', gives = '']) => ({
    name,
    takes: plain(takes).replace(/,$/, ''),
    gives: plain(gives),
    means: words.replaceAll(/\s*\n \* ?/g, ' ').trim(),
  }))
}

function plain(text: string): string {
  return text.replaceAll('readonly ', '').replaceAll(/\s+/g, ' ').trim()
}

function classesIn(source: string): readonly string[] {
  const [, list = ''] = /export \{([^}]*)\} from 'trading-signals'/.exec(source) ?? []
  return list.split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]))
}

/** The least number of candles with which a call gives something. */
function neededBy(name: string, given: readonly unknown[]): number {
  const call = (indicators as unknown as Record<string, (...args: readonly unknown[]) => unknown>)[name]
  for (let count = 1; count <= MOST; count += 1)
    if (call?.(waves.slice(0, count), ...given) !== undefined) return count
  throw new Error(`${name} gives nothing with ${MOST} candles`)
}

/** Candles around a price of 100. */
const waves: readonly Candle[] = Array.from({ length: MOST }, (_, at) => {
  const close = 100 + 5 * Math.sin(at / 7)
  return { timestampSeconds: 60 * at, open: close - 1, high: close + 2, low: close - 2, close } as Candle
})

function shown(value: unknown): string {
  return typeof value === 'number'
    ? `${value}`
    : `{ ${Object.entries(value as object)
        .map(([name, each]) => `${name}: ${each}`)
        .join(', ')} }`
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|')
}
