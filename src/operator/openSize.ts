/** The size of an order by hand: dollars, tokens, a share of the equity, or the dollars that it may lose at its stop. */
import { tolerate } from '../base/tolerate.ts'
import type { IncreaseDecision } from '../domain/order/decision.ts'
import type { MarketView, Snapshot } from '../domain/snapshot.ts'
import { positionFeesOf } from '../market/marketFees.ts'
import { usdOfFee } from '../market/orderCost.ts'
import { sameHex } from '../protocol/address.ts'
import {
  BPS_ONE,
  bps,
  formatDollars,
  maxOf,
  mulDiv,
  parseUnits,
  type Usd,
  usd,
  usdOfAmount,
} from '../protocol/units.ts'
import { isDenial } from '../risk/exposure/admissionContext.ts'
import { lossAtStopUsd, type RiskTerms, sizeAtRisk, wholeCents } from '../risk/sizing/riskSize.ts'
import type { SizeLimit } from '../risk/sizing/sizeLimits.ts'
import type { PreviewContext } from './manualPreview.ts'
import { denied, type Refusal, refusal } from './operatorAnswer.ts'
import { LOOKED_AT, stopBeyondBps } from './ownExperience.ts'
import { riskTermsOf } from './riskTerms.ts'

/** A size as it is asked for; exactly one of its fields. */
export interface SizeWish {
  /** USD. */
  readonly size?: string
  /** Whole index tokens. */
  readonly tokens?: string
  /** Share of the equity, bps. */
  readonly equityBps?: number
  /** USD lost at the stop, after all costs. */
  readonly risk?: string
}

/** An order by hand without its size. */
export interface Unsized {
  readonly snapshot: Snapshot
  readonly view: MarketView
  readonly decisionKey: string
  /** Its size counts for nothing. */
  readonly decision: IncreaseDecision
  /** USD per whole index token; undefined: the oracle has none. */
  readonly entryPrice: Usd | undefined
}

/** A size, and the cap that made it smaller than its risk allows. */
export interface OpenSize {
  readonly sizeUsd: Usd
  /** `limit maxPositionSizeUsd; $40.08 at risk instead of $50.00`; absent: nothing capped it. */
  readonly cap?: string
}

/** Returns the size in dollars. Refuses with ENTRY_UNKNOWN, EQUITY_UNKNOWN, STOP_NEEDED, RISK_BELOW_COSTS, and what says that the capacity is unknown. */
export async function openSizeOf(
  context: PreviewContext,
  { size, tokens, equityBps, risk }: SizeWish,
  order: Unsized,
): Promise<OpenSize | Refusal> {
  if (size !== undefined) return { sizeUsd: usd(size) }
  const { snapshot, view, decision, decisionKey, entryPrice } = order
  const { symbol } = view.market
  if (tokens !== undefined) {
    if (entryPrice === undefined) return entryUnknown(symbol)
    const { decimals } = view.indexToken
    return { sizeUsd: usdOfAmount(parseUnits(tokens, decimals), entryPrice, decimals) }
  }
  const room = context.judging.roomFor(snapshot, decision, decisionKey)
  if (isDenial(room)) return denied(room)
  if (equityBps !== undefined) {
    return room.equityUsd === undefined
      ? refusal(
          'EQUITY_UNKNOWN',
          'the equity of the account is not known yet: give the size in dollars, or retry',
        )
      : { sizeUsd: wholeCents(bps(room.equityUsd, equityBps)) }
  }
  const riskUsd = usd(risk ?? '0')
  const stop = decision.tpsl?.find(({ type }) => type === 'stop-loss')
  if (stop === undefined)
    return refusal(
      'STOP_NEEDED',
      'a size by risk needs the price at which the risk is lost: give a stop-loss',
    )
  if (entryPrice === undefined) return entryUnknown(symbol)
  const terms = await termsOf(context, order, entryPrice, stop.triggerPrice)
  if (riskUsd <= terms.sendingUsd) {
    return refusal(
      'RISK_BELOW_COSTS',
      `sending and executing the order and its exits costs about ${formatDollars(terms.sendingUsd)}: nothing of a risk of ${formatDollars(riskUsd)} is left for a position`,
    )
  }
  return cappedSize(riskUsd, terms, [...room.limits, walletLimit(order)])
}

function entryUnknown(symbol: string): Refusal {
  return refusal(
    'ENTRY_UNKNOWN',
    `the oracle has no fresh price of ${symbol}: give the size in dollars, or retry`,
  )
}

/** The circumstances of the order at its stop. */
async function termsOf(
  { api, chain, fees: gasFees, journal }: PreviewContext,
  { view, decision }: Unsized,
  entryPrice: Usd,
  stopPrice: Usd,
): Promise<RiskTerms> {
  const configs = await tolerate(api.getMarketsConfig())
  const { marketToken } = view.market
  const sending = gasFees?.expectedForEntry(decision.tpsl?.length ?? 0)
  const inputs = {
    direction: decision.direction,
    entryPrice,
    fees: positionFeesOf(configs?.value.find((each) => sameHex(each.marketToken, marketToken))),
    sendingUsd: sending === undefined ? 0n : usdOfFee(sending.relayFee, chain.feeToken.decimals),
    beyondBps: stopBeyondBps(journal.recentIntents({ limit: LOOKED_AT }), marketToken),
  }
  return riskTermsOf(inputs, stopPrice, view)
}

/** The cap by the wallet: what its collateral carries at the leverage of the order. */
function walletLimit({ snapshot, view, decision }: Unsized): SizeLimit {
  const { collateralToken, leverageBps } = decision
  const token = [view.longToken, view.shortToken].find(({ address }) => sameHex(address, collateralToken))
  const balances = snapshot.balances?.value
  if (token?.minPrice === undefined || balances === undefined) return { by: 'wallet', limitUsd: undefined }
  const held = balances.find(({ address }) => sameHex(address, collateralToken))?.balance ?? 0n
  const worthUsd = usdOfAmount(held, token.minPrice, token.decimals)
  // The payment is rounded up to a unit of the token.
  const unitUsd = usdOfAmount(1n, token.minPrice, token.decimals) + 1n
  return {
    by: 'wallet',
    limitUsd: mulDiv(maxOf(0n, worthUsd - unitUsd), BigInt(leverageBps), BigInt(BPS_ONE)),
  }
}

/** Names of caps that are no limits. */
const capWords: Readonly<Record<string, string>> = {
  capacity: "the venue's capacity",
  wallet: 'the wallet at this leverage',
}

/**
 * The largest size whose loss at the stop is within the risk and that every cap leaves; of several caps that hold, the tightest is named. Pure.
 *
 * @param caps absent ones cap nothing
 */
export function cappedSize(riskUsd: Usd, terms: RiskTerms, caps: readonly SizeLimit[]): OpenSize {
  const freeUsd = sizeAtRisk(riskUsd, terms)
  const [tightest] = caps
    .flatMap(({ by, limitUsd }) => (limitUsd === undefined ? [] : [{ by, limitUsd }]))
    .toSorted((one, other) => (one.limitUsd < other.limitUsd ? -1 : one.limitUsd > other.limitUsd ? 1 : 0))
  if (tightest === undefined || tightest.limitUsd >= freeUsd) return { sizeUsd: freeUsd }
  const sizeUsd = wholeCents(tightest.limitUsd)
  const lostUsd = lossAtStopUsd(sizeUsd, terms)
  return {
    sizeUsd,
    cap: `${capWords[tightest.by] ?? `limit ${tightest.by}`}; ${formatDollars(lostUsd)} at risk instead of ${formatDollars(riskUsd)}`,
  }
}
