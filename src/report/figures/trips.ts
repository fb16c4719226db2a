/** Trades built from fills: what a strategy did on one side of a market from nothing to nothing. Pure. */
import type { Usd } from '../../protocol/units.ts'
import type { Trade } from './reportSubject.ts'

/** One executed order. Fees are positive at the account's cost; impact and result are signed. */
export interface TripFill extends Pick<Trade, 'strategy' | 'market' | 'side'> {
  readonly second: number
  readonly action: 'increase' | 'decrease' | 'liquidation'
  /** Never negative. */
  readonly sizeUsd: Usd
  /** USD per whole index token; null where no evidence shows it. */
  readonly price: Usd | null
  readonly impactUsd: Usd
  /** All fees of the venue and of sending the message. */
  readonly feesUsd: Usd
  /** Result of the price alone, before impact and fees; 0 of an increase. */
  readonly pnlUsd: Usd
  /** Id of the order's story; empty where no order of perpd asked for it. */
  readonly intentId: string
  readonly reason: string
}

interface Open {
  readonly fills: TripFill[]
  leftUsd: Usd
}

/**
 * Trades in the order of their beginnings. A liquidation closes whatever strategies hold of its side. A reduction of what no fill
 * here opened begins no trade.
 */
export function tradesOf(fills: readonly TripFill[]): readonly Trade[] {
  const open = new Map<string, Open>()
  const trades: Trade[] = []
  const close = (key: string, own: Open): void => {
    trades.push(tradeOf(own.fills, true))
    open.delete(key)
  }
  for (const fill of fills) {
    const side = `${fill.market} ${fill.side}`
    if (fill.action === 'liquidation') {
      const all = [...open].filter(([key]) => key.startsWith(`${side} `))
      for (const [at, [key, own]] of all.entries()) {
        own.fills.push(at === 0 ? fill : { ...fill, ...nothing })
        close(key, own)
      }
      continue
    }
    const key = `${side} ${fill.strategy}`
    const own = open.get(key) ?? { fills: [], leftUsd: 0n }
    if (fill.action === 'increase') {
      own.fills.push(fill)
      own.leftUsd += fill.sizeUsd
      open.set(key, own)
      continue
    }
    if (!open.has(key)) continue
    own.fills.push(fill)
    own.leftUsd -= fill.sizeUsd
    if (own.leftUsd <= 0n) close(key, own)
  }
  for (const own of open.values()) trades.push(tradeOf(own.fills, false))
  return trades.toSorted((one, other) => one.openedSecond - other.openedSecond)
}

/** The amounts of a liquidation stand with one trade alone. */
const nothing = { pnlUsd: 0n, impactUsd: 0n, feesUsd: 0n }

function tradeOf(fills: readonly TripFill[], isClosed: boolean): Trade {
  const [first] = fills
  const last = fills.at(-1)
  const entries = fills.filter(({ action }) => action === 'increase')
  const exits = fills.filter(({ action }) => action !== 'increase')
  const sum = (of: (fill: TripFill) => Usd): Usd => fills.reduce((total, fill) => total + of(fill), 0n)
  const ids = fills.map(({ intentId }) => intentId).filter((id) => id !== '')
  return {
    strategy: first?.strategy ?? '',
    market: first?.market ?? '',
    side: first?.side ?? 'long',
    openedSecond: first?.second ?? 0,
    closedSecond: isClosed ? (last?.second ?? 0) : null,
    sizeUsd: entries.reduce((total, { sizeUsd }) => total + sizeUsd, 0n),
    entryPrice: averagePrice(entries),
    exitPrice: averagePrice(exits),
    costsUsd: sum(({ feesUsd, impactUsd }) => feesUsd - impactUsd),
    resultUsd: sum(({ pnlUsd, impactUsd, feesUsd }) => pnlUsd + impactUsd - feesUsd),
    openReason: first?.reason ?? '',
    closeReason: isClosed ? (last?.reason ?? '') : '',
    intentIds: [...new Set(ids)],
  }
}

function averagePrice(fills: readonly TripFill[]): Usd | null {
  let [weighted, sizeUsd] = [0n, 0n]
  for (const fill of fills) {
    if (fill.price === null) return null
    weighted += fill.price * fill.sizeUsd
    sizeUsd += fill.sizeUsd
  }
  return sizeUsd === 0n ? null : weighted / sizeUsd
}
