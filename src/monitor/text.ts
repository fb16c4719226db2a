/** Small pieces of text for people: ids, spans of time, counts, amounts. Used by the log and by the commands. */

import type { ContestedPrice } from '../domain/order/contestedPrice.ts'
import type { Intent } from '../domain/order/intent.ts'
import { orderTypeName } from '../domain/order/orderTerms.ts'
import type { TermsInForce } from '../domain/order/termsInForce.ts'
import type { PriceSource } from '../protocol/market.ts'
import { formatExactPrice, formatPrice } from '../protocol/priceText.ts'
import { formatSize, formatUnits, type Usd } from '../protocol/units.ts'

/** First eight characters of an intent id: enough for people and for `perpd explain`. */
export function shortId(intentId: string): string {
  return intentId.replace(/^0x/, '').slice(0, 8)
}

/**
 * An amount of dollars for people: whole cents, two digits of what is less, and words for the size that stands for all of a position. Prices go
 * through `formatUsd`.
 */
export function money(amount: Usd): string {
  return formatSize(amount)
}

/** `0.21 ms`, `250 ms`, `12.3 s`, `4 min 5 s`, `2 h 3 min`. */
export function span(ms: number): string {
  // A clock that was set back makes no age of less than nothing.
  if (ms <= 0) return '0 ms'
  if (ms < 1) return `${ms.toFixed(2)} ms`
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1).replace(/\.0$/, '')} s`
  const seconds = Math.round(ms / 1_000)
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  return `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} min`
}

/** Describes a halt or a reduction: `trading is halted`, `trading on the account is reducing`, `trading of eth-trend is halted`. */
export function tradingText(scope: string, state: string): string {
  const whose =
    scope === 'global'
      ? ''
      : scope === 'account'
        ? ' on the account'
        : ` of ${scope.replace(/^strategy:/, '')}`
  return `trading${whose} is ${state}`
}

/** `1 order`, `3 orders`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/**
 * Describes an order for people: `increase long ETH/USD [WETH-USDC] $500.00`, `limit increase long ... at $1,900.00`, `swap 100 USDC to WETH (...)`,
 * `cancel 2 orders of long ...`.
 *
 * @param inForce terms after edits; absent: as they were accepted
 */
export function termsOf({ terms: accepted, kind }: Intent, inForce: TermsInForce = {}): string {
  const terms = { ...accepted, ...inForce }
  const side = `${terms.direction} ${terms.symbol}`
  const amount = `${formatUnits(terms.collateralDelta, terms.collateralToken.decimals)} ${terms.collateralToken.symbol}`
  const price = terms.triggerPrice === undefined ? '' : ` at ${formatExactPrice(terms.triggerPrice)}`
  const parts = terms.twap === undefined ? '' : ` in ${terms.twap.parts} parts`
  const exits = (terms.tpsl ?? []).map(
    ({ type, triggerPrice }) => `, ${type} ${formatExactPrice(triggerPrice)}`,
  )
  const type = terms.orderType === 'market' ? '' : `${orderTypeName(terms.orderType)} `
  switch (kind) {
    case 'swap':
      return `swap ${amount} to ${terms.swap?.receiveToken.symbol ?? 'the other token'} in ${terms.symbol}`
    case 'collateral-in':
    case 'collateral-out':
      return `${kind} ${side} ${amount}`
    case 'cancel':
      return `cancel ${counted(terms.cancelOrderKeys?.length ?? 0, 'order')} of ${side}`
    case 'edit':
      return `edit ${type}order of ${side} to ${money(terms.sizeDeltaUsd)}${price}`
    default:
      return `${type}${kind} ${side} ${money(terms.sizeDeltaUsd)}${price}${parts}${exits.join('')}`
  }
}

/** A sentence to be embedded in another: on one line, without its full stop. */
export function plain(sentence: string): string {
  return sentence.replace(/\s+/g, ' ').trim().replace(/\.$/, '')
}

/** The same with its end: a full stop, or the question mark or full stop that it has. */
export function ended(sentence: string): string {
  const text = plain(sentence)
  return /[?!]$/.test(text) ? text : `${text}.`
}

/** Names as a list: `a`, `a and b`, `a, b and c`. */
export function listed(names: readonly string[]): string {
  return names.length < 3 ? names.join(' and ') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}

/** Words for each price that replaces the oracle's. */
export const sourceTexts: Readonly<Record<PriceSource, string>> = {
  'old-oracle': "the oracle's freshest price of any host",
  ticker: "the venue's own mark price",
  position: "the mark price in the position's row",
}

/** Each host's word on a price that they differ on; those that the band is made of first. */
export function contestedText(words: ContestedPrice['words']): string {
  return words
    .toSorted((one, other) => Number(other.isTaken) - Number(one.isTaken))
    .map(({ host, price, isTaken }) => `${host} ${formatPrice(price)}${isTaken ? '' : ' (left out)'}`)
    .join(', ')
}
