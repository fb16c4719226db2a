/** Histories as a check changes them: the same until a moment, noise from there on. Pure. */
import type { PriceHistory } from '../../paper/catalog/historyPrices.ts'
import { unit } from '../../paper/math/random.ts'

/** Largest step of the noise from a candle to the next, ten-thousandths. */
const STEP = 200

/** The history with a random walk in the place of every candle that begins at `fromSeconds` or later. */
export function noisyFrom(history: PriceHistory, fromSeconds: number, seed: number): PriceHistory {
  const changed = {
    ...history,
    open: history.open.slice(),
    high: history.high.slice(),
    low: history.low.slice(),
    close: history.close.slice(),
  }
  let last: bigint | undefined
  for (let at = 0; at < history.length; at += 1) {
    if ((history.startSeconds[at] ?? 0) < fromSeconds) continue
    const open = last ?? history.close[Math.max(0, at - 1)] ?? 1n
    const close = stepped(open, seed, 2 * at)
    const [top, bottom] = open > close ? [open, close] : [close, open]
    const reach = (top * BigInt(Math.floor(unit(seed, 2 * at + 1) * STEP))) / 10_000n
    changed.open[at] = open
    changed.close[at] = close
    changed.high[at] = top + reach
    changed.low[at] = bottom > reach ? bottom - reach : 1n
    last = close
  }
  return changed
}

function stepped(price: bigint, seed: number, draw: number): bigint {
  const bps = BigInt(Math.floor((unit(seed, draw) * 2 - 1) * STEP))
  const next = (price * (10_000n + bps)) / 10_000n
  return next > 0n ? next : 1n
}
