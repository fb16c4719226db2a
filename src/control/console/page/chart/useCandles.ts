/** Reads the candles of a market for as long as they are shown: the newest again and again, older ones when they are asked for. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { usePage } from '../markup.ts'
import { read } from '../pageApi.ts'
import type { Candles } from '../pageWire.ts'
import { mostCandles, withCandles } from './candleList.ts'

/** Candles of a chart: those that were read; `none`: the venue has no price of the market; `unread`: they cannot be read. Undefined: not yet. */
export type Prices = Candles | 'none' | 'unread' | undefined

/** Interval between readings of the newest candles, ms. */
const everyMs = 15_000
/** Candles that are read at first, at each later reading, and at once of older ones. */
const [firstCount, newestCount, olderCount] = [400, 200, 800]

/** Gives the candles, and what loads older ones. */
export function useCandles(
  market: string,
  period: Candles['period'],
): readonly [prices: Prices, loadOlder: () => void] {
  const { store } = usePage()
  const [prices, setPrices] = useState<Prices>(undefined)
  const known = useRef<{ readonly of: string; prices: Prices; isLoading: boolean; isWhole: boolean }>(
    undefined,
  )
  const of = `${period} ${market}`
  if (known.current?.of !== of) known.current = { of, prices: undefined, isLoading: false, isWhole: false }
  const state = known.current

  const take = (next: Prices): void => {
    if (known.current !== state) return
    state.prices = next
    setPrices(next)
  }
  const path = (limit: number, before?: number): string =>
    `/api/candles?market=${encodeURIComponent(market)}&period=${period}&limit=${limit}${before === undefined ? '' : `&before=${before}`}`

  const look = useCallback(async (): Promise<void> => {
    const answer = await read<Candles>(path(typeof state.prices === 'object' ? newestCount : firstCount))
    if (typeof store.get().session === 'string') return
    const before = state.prices
    if (answer.ok) {
      const list =
        typeof before === 'object' ? withCandles(before.candles, answer.value.candles) : answer.value.candles
      take({ ...answer.value, candles: list })
    } else if (answer.status === 404) take('none')
    // Prices that cannot be read now stay as they were, and their age is shown.
    else take(before ?? 'unread')
  }, [of])

  const loadOlder = useCallback(async (): Promise<void> => {
    const { prices: shown, isLoading, isWhole } = state
    if (typeof shown !== 'object' || isLoading || isWhole) return
    const first = shown.candles[0]?.timestampSeconds
    const limit = Math.min(olderCount, mostCandles - shown.candles.length)
    if (first === undefined || limit <= 0) return
    state.isLoading = true
    const answer = await read<Candles>(path(limit, first))
    state.isLoading = false
    if (!answer.ok || typeof state.prices !== 'object') return
    const older = answer.value.candles
    state.isWhole = older.length < limit
    if (older.length > 0) take({ ...state.prices, candles: withCandles(state.prices.candles, older) })
  }, [of])

  useEffect(() => {
    setPrices(undefined)
    void look()
    const timer = setInterval(() => document.visibilityState === 'visible' && void look(), everyMs)
    return () => clearInterval(timer)
  }, [of])
  return [prices, () => void loadOlder()]
}
