/** Warns about `protect.minEdgeBps` as far as possible without a market: by the file's own figures no entry can ever pass it. Pure. */
import type { ExitSettings } from '../../domain/order/exitSettings.ts'
import type { LoadedStrategy } from './load.ts'

/**
 * Fees of opening and of closing, bps of the size: the least cost of an entry. They are those of every market in the paper venue's catalogue. Opening
 * counts as balancing the market, closing as unbalancing it, as entries are judged.
 */
export const LEAST_FEES = { openingBps: 4, closingBps: 6 } as const

/** Built-in kinds whose entries state their expected profit, or may have take-profits of their own: their files do not show it. */
export const kindsThatSay: readonly string[] = ['carry', 'hedged-carry', 'impact-capture', 'ladder', 'signal']

/** Returns a warning that no entry of the file can pass `protect.minEdgeBps`, with the reason and a remedy; undefined: some may pass. */
export function edgeWarning({ name, strategy, hosted, protect, exits }: LoadedStrategy): string | undefined {
  const { edge } = protect ?? {}
  if (edge === undefined || !strategy.opensPositions || kindsThatSay.includes(strategy.kind)) return undefined
  const feesBps = LEAST_FEES.openingBps + LEAST_FEES.closingBps
  const neededBps = edge.minBps + feesBps
  // The file of a user's own kind does not show what its entries expect.
  const unless = hosted === undefined ? '' : ', unless its kind gives expectedEdgeBps or a take-profit'
  const targets = exits?.takeProfits ?? []
  if (targets.length === 0)
    return `${name}: protect.minEdgeBps denies every entry (EDGE_UNKNOWN)${unless}: the file has no exit.takeProfit, so the expected profit is unknown. Add one well above ${neededBps} bps, or remove minEdgeBps.`
  const nearestBps = nearestOf(targets)
  if (nearestBps === undefined || nearestBps >= neededBps) return undefined
  return `${name}: protect.minEdgeBps denies every entry (EDGE_TOO_SMALL)${unless}: the nearest exit.takeProfit lies ${nearestBps} bps away, the venue's fees alone are ${LEAST_FEES.openingBps} + ${LEAST_FEES.closingBps} bps, and the ${nearestBps - feesBps} bps that are left are less than its ${edge.minBps} bps. Put takeProfit well above ${neededBps} bps, or minEdgeBps well below ${nearestBps - feesBps}.`
}

/** The nearest of those whose distance the file says in bps, which the true nearest is no farther than; undefined: none. */
function nearestOf(targets: ExitSettings['takeProfits']): number | undefined {
  const known = targets.flatMap(({ bps }) => (bps === undefined ? [] : [bps]))
  return known.length === 0 ? undefined : Math.min(...known)
}
