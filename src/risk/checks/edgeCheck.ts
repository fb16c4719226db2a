/**
 * Checks whether an entry is expected to earn more than it costs (`protect.minEdgeBps` of a strategy file). perpd estimates the costs: the venue's
 * fees and the price impact of both ways, sending, and funding and borrowing for the holding time in the file. Possible gains among them (an impact
 * that pays, a net rate above 0) are not counted: they may be gone when the order fills. Pure.
 */
import type { Protections } from '../../domain/limits/protection.ts'
import type { Denial, Intent } from '../../domain/order/intent.ts'
import type { MarketView } from '../../domain/snapshot.ts'
import { netRateOf } from '../../protocol/market.ts'
import type { ImpactData } from '../../protocol/priceImpact.ts'
import { absOf, BPS_ONE, maxOf, minOf, mulDivUp, ONE_USD, type Usd } from '../../protocol/units.ts'

/** Costs are counted in thousandths of a basis point. */
const MILLI = 1_000n
const MILLI_ONE = MILLI * BigInt(BPS_ONE)
/** The venue's highest fee of a change of a position, 10 bps: where a market's own is not known. */
const HIGHEST_FEE = 10n * MILLI
const hourMs = 3_600_000n

/** Market data from which its costs are computed. */
export interface EdgeMarket {
  readonly impact?: { readonly value: Pick<ImpactData, 'positionFeeFactors'> }
  readonly ticker?: NonNullable<MarketView['ticker']>
}

/** Costs of an entry, thousandths of a basis point of its size; none is below 0. */
export interface EdgeCosts {
  /** Fees of opening and of closing. */
  readonly fees: bigint
  readonly impact: bigint
  readonly sending: bigint
  readonly holding: bigint
}

/**
 * Returns the expected costs of an increase. `sendingUsd`: relay and execution of the order and of the exits that come with it; undefined: nothing
 * estimates it, and it counts as zero. An unknown impact counts as zero too: parts of a twap take any price.
 */
export function edgeCosts(
  { terms }: Intent,
  holdMs: number,
  { impact, ticker }: EdgeMarket,
  sendingUsd: Usd | undefined,
): EdgeCosts {
  const { sizeDeltaUsd, priceImpactBps = 0, tpsl = [], direction } = terms
  const { positionFeeFactors } = impact?.value ?? {}
  const feeOf = (factor: bigint | undefined) =>
    factor === undefined ? HIGHEST_FEE : mulDivUp(factor, MILLI_ONE, ONE_USD)
  const unbalancing = feeOf(positionFeeFactors?.unbalancing)
  const opening = priceImpactBps > 0 ? feeOf(positionFeeFactors?.balancing) : unbalancing
  const exitImpact = Math.max(0, ...tpsl.map((exit) => -(exit.priceImpactBps ?? 0)))
  // An entry without exits is closed by one more message.
  const messages = tpsl.length === 0 ? 2n : 1n
  const rate = (ticker === undefined ? undefined : netRateOf(ticker.value, direction)) ?? 0n
  return {
    fees: opening + unbalancing,
    impact: BigInt(Math.max(0, -priceImpactBps) + exitImpact) * MILLI,
    sending: sizeDeltaUsd <= 0n ? 0n : mulDivUp((sendingUsd ?? 0n) * messages, MILLI_ONE, sizeDeltaUsd),
    holding: mulDivUp(maxOf(0n, -rate) * MILLI_ONE, BigInt(holdMs), ONE_USD * hourMs),
  }
}

/** EDGE_UNKNOWN, EDGE_TOO_SMALL: why an entry is not worth its costs; undefined: it is, or it is no entry. */
export function checkEdge(
  intent: Intent,
  { edge }: Protections,
  view: EdgeMarket,
  sendingUsd: Usd | undefined,
): Denial | undefined {
  if (edge === undefined || intent.kind !== 'increase') return undefined
  const expected = expectedEdge(intent)
  if (expected === undefined) {
    return {
      code: 'EDGE_UNKNOWN',
      reason:
        'the file requires a least edge (protect.minEdgeBps), but this entry has no take-profit and its kind gives no expectedEdgeBps; give the file an exit with a takeProfit',
    }
  }
  const { fees, impact, sending, holding } = edgeCosts(intent, edge.holdMs, view, sendingUsd)
  const left = expected - fees - impact - sending - holding
  if (left >= BigInt(edge.minBps) * MILLI) return undefined
  return {
    code: 'EDGE_TOO_SMALL',
    reason: `the expected profit of this entry, ${inBps(expected)} bps, is too small for its costs: fees ${inBps(fees)}, price impact ${inBps(impact)}, sending ${inBps(sending)}, holding ${inBps(holding)} bps; set a more distant take-profit or a lower protect.minEdgeBps`,
    wanted: `${inBps(left)} bps are left`,
    allowed: `${edge.minBps} bps or more (protect.minEdgeBps)`,
  }
}

/** Returns the decision's expected edge, or the distance to its nearest take-profit, thousandths of a basis point. */
function expectedEdge({ decision, terms }: Intent): bigint | undefined {
  if (decision.kind === 'increase' && decision.expectedEdgeBps !== undefined)
    return BigInt(decision.expectedEdgeBps) * MILLI
  const { referencePrice, triggerPrice = referencePrice, tpsl = [] } = terms
  const ways = tpsl
    .filter(({ type }) => type === 'take-profit')
    .map((exit) => (absOf(exit.triggerPrice - triggerPrice) * MILLI_ONE) / triggerPrice)
  const [first, ...others] = ways
  return first === undefined ? undefined : minOf(first, ...others)
}

function inBps(milli: bigint): string {
  return (Number(milli) / 1_000).toFixed(1)
}
