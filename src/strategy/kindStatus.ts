/**
 * The status line of a kind: what an instance waits for, with the values that it decided by. It comes with a turn, is shown as it is, and is never
 * persisted: the next turn replaces it.
 */
import { defined } from '../base/defined.ts'
import { reasonOf } from '../base/errors.ts'
import { isObject } from '../base/isObject.ts'
import type { Usd } from '../protocol/units.ts'
import { isShownPrice } from './levels.ts'

/** One line on what an instance waits for. */
export interface StatusLine {
  /** One line of 1 to 160 characters without a full stop, as `RSI 52, waits for below 45`. Controls, line ends and keys are refused. */
  readonly text: string
  /** Values that it decided by, at most 16: finite numbers, true or false, and words of at most 80 characters. */
  readonly facts?: Readonly<Record<string, number | string | boolean>>
  /**
   * Prices that it decided by, by market symbol and name, as `{ 'BTC/USD [BTC-USDC]': { fast: priceOfLevel(61_204.5) } }`: USD per whole index token with
   * 30 decimals, above 0 and below 10^18 dollars. The console draws each as a line over the candles of its market. At most 32 prices in all.
   */
  readonly prices?: Readonly<Record<string, Readonly<Record<string, Usd>>>>
}

/** Most prices of a status, over all of its markets. */
export const MOST_PRICES = 32
/** Most characters of the line, of a word among its values and of a market's symbol, and most values. */
const [MOST_TEXT, MOST_WORD, MOST_SYMBOL, MOST_FACTS] = [160, 80, 120, 16]
/** Form of a name of a value. */
const nameForm = /^\w{1,40}$/

/** Characters that a terminal obeys, that turn text around, or that end a line. */
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u
/** As many hexadecimal digits as a private key has. */
const keyLike = /(?:0x)?[0-9a-f]{64}/i

/**
 * Takes the status that a kind returns. Undefined where it has none. A line that is refused, and an error of the kind, becomes a line that says so:
 * a status never costs a turn.
 */
export function takenStatus(ask: () => unknown): StatusLine | undefined {
  try {
    const returned = ask()
    if (returned === undefined) return undefined
    const problem = problemOf(returned)
    if (problem !== undefined) return { text: `its status is refused: ${problem}` }
    const { text, facts, prices } = returned as StatusLine
    return { text, ...defined({ facts: facts && { ...facts }, prices: prices && copyOf(prices) }) }
  } catch (error) {
    return { text: `its status failed: ${shown(reasonOf(error))}` }
  }
}

function copyOf(prices: NonNullable<StatusLine['prices']>): NonNullable<StatusLine['prices']> {
  return Object.fromEntries(Object.entries(prices).map(([symbol, named]) => [symbol, { ...named }]))
}

/** Returns the first reason to refuse a status; undefined: it may be shown. */
function problemOf(returned: unknown): string | undefined {
  if (!isObject(returned)) return 'it is not { text, facts }'
  const { text, facts, prices } = returned
  const inText = wordProblem(text, MOST_TEXT)
  if (inText !== undefined) return `text ${inText}`
  return factsProblem(facts) ?? pricesProblem(prices)
}

function factsProblem(facts: unknown): string | undefined {
  if (facts === undefined) return undefined
  if (!isObject(facts)) return 'facts is not a record of values'
  const rows = Object.entries(facts)
  if (rows.length > MOST_FACTS) return `facts has ${rows.length} values; the most is ${MOST_FACTS}`
  for (const [name, value] of rows) {
    if (!nameForm.test(name)) return 'a name in facts is not 1 to 40 letters and digits'
    if (typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) continue
    const inWord = typeof value === 'number' ? 'is not finite' : wordProblem(value, MOST_WORD)
    if (inWord !== undefined) return `facts.${name} ${inWord}`
  }
  return undefined
}

function pricesProblem(prices: unknown): string | undefined {
  if (prices === undefined) return undefined
  if (!isObject(prices)) return 'prices is not a record of markets'
  const markets = Object.entries(prices)
  let count = 0
  for (const [symbol, named] of markets.slice(0, MOST_PRICES)) {
    const inSymbol = wordProblem(symbol, MOST_SYMBOL)
    if (inSymbol !== undefined) return `a market in prices ${inSymbol}`
    if (!isObject(named)) return 'a market in prices has no record of prices'
    const rows = Object.entries(named)
    count += rows.length
    for (const [name, price] of rows.slice(0, MOST_PRICES)) {
      if (!nameForm.test(name)) return 'a name in prices is not 1 to 40 letters and digits'
      if (typeof price !== 'bigint' || !isShownPrice(price))
        return `prices.${name} is no price: a bigint above 0, USD with 30 decimals`
    }
  }
  const isTooMany = count > MOST_PRICES || markets.length > MOST_PRICES
  return isTooMany ? `prices has more than ${MOST_PRICES} prices or markets` : undefined
}

function wordProblem(value: unknown, most: number): string | undefined {
  if (typeof value !== 'string' || value.trim() === '') return 'is not a text'
  if (value.length > most) return `has ${value.length} characters; the most is ${most}`
  if (unseen.test(value)) return 'has a control character or a line end'
  return keyLike.test(value) ? 'has as many hexadecimal digits as a key' : undefined
}

/** The message of an error in the form of a status. */
function shown(message: string): string {
  const line = message.replace(new RegExp(unseen, 'gu'), ' ').replace(keyLike, '...')
  return line.length > 100 ? `${line.slice(0, 97)}...` : line
}
