/** Quote of an order by hand and its cost: as expected, and at worst by the bounds of its signature. Pure. */
import type { Book } from '../../books/books.ts'
import { bookName, openResultUsd } from '../../books/bookView.ts'
import { takesOf } from '../../books/sideMove.ts'
import { UNATTRIBUTED } from '../../books/sideParts.ts'
import { sideKeyOf } from '../../domain/accountRecords/accountRecord.ts'
import { OPERATOR } from '../../domain/accountRecords/operatorName.ts'
import type { Intent } from '../../domain/order/intent.ts'
import type { ExpectedFee } from '../../execution/context/feeEstimates.ts'
import { relayFeeLimit, type SigningPolicy, widthFor } from '../../execution/context/policy.ts'
import type { PositionFees } from '../../market/marketFees.ts'
import {
  type ExpectedCost,
  expectedCost,
  feeUsdOf,
  highestFeeOf,
  likelyFeeOf,
  signedPriceOf,
  usdOfFee,
} from '../../market/orderCost.ts'
import type { Direction } from '../../protocol/market.ts'
import type { Position } from '../../protocol/position.ts'
import { BPS_ONE, bps, formatUnits, type Usd } from '../../protocol/units.ts'

/** Common fields of every preview. Amounts are decimal texts of integers with 30 decimals; prices are USD per whole index token. */
interface Quote {
  readonly market: string
  readonly direction: Direction
  readonly sizeUsd: string
  /** Size of its position before; 0 for none. */
  readonly heldUsd: string
  readonly referencePrice: string
  /** The acceptable price that is signed, about: the fill may not be worse. null: any, as stops at the venue are. */
  readonly signedPrice: string | null
  readonly slippageBps: number
  /** Distance beyond its trigger at which a waiting order signs, for price impact, in place of the slippage, bps; null: the slippage holds. */
  readonly impactBudgetBps: number | null
  readonly expected: ExpectedCost
  /** The furthest price that perpd's own check lets be signed, whatever a host prepares; null: any. */
  readonly boundPrice: string | null
  /** Cost of that price against the reference, the venue's fee, and the fees of relay and execution; each at most. */
  readonly boundPriceUsd: string | null
  readonly venueFeesUsd: string
  /** The highest fee of the market, hundredths of a basis point of the size; of any market where this one's is not known. */
  readonly venueFeeBps100: number
  readonly orderFeesUsd: string
  /** All of them; null where the price is unbounded. */
  readonly worstCostUsd: string | null
}

/** Size, leverage and liquidation of a position. Decimal texts of integers; null: there is none, or it is not known. */
export interface ShownPosition {
  readonly sizeUsd: string
  /** 10000 = 1x. */
  readonly leverageBps: string | null
  readonly liquidationPrice: string | null
  /** Distance of the liquidation from the price at which the order fills, bps of it. */
  readonly liquidationBps: number | null
}

/** Terms that were shown, as a send carries them: it is for this market and size, and is refused where it would cost more. Plain decimals, USD. */
export interface QuotedTerms {
  /** The whole symbol. */
  readonly market: string
  readonly size: string
  /** The worst price of the fill; absent: any. */
  readonly price?: string
  /** The highest cost of opening; of an order at any price its fees alone. */
  readonly cost: string
}

/** Outcome of an order at its exits, and its effects on position and limits. Amounts are decimal texts of integers with 30 decimals. */
export interface OpenOutlook {
  /** The size in index tokens: `0.0245 BTC`. */
  readonly tokens: string
  /** The part of the expected cost of sending that comes back, USD; null where nothing shows it yet. */
  readonly comesBackUsd: string | null
  /** null: nothing is held. */
  readonly before: ShownPosition | null
  /** null: the venue's settings of the market are not known. */
  readonly after: ShownPosition | null
  /** Loss at the nearest stop and gain at the nearest target, both after all costs, USD, signed; null without one. */
  readonly lostAtStopUsd: string | null
  readonly wonAtTargetUsd: string | null
  /** Limits that count the order, with what of them is used once it has filled, USD. */
  readonly limits: readonly { readonly limit: string; readonly usedUsd: string; readonly wholeUsd: string }[]
  /** The cap that made the size smaller than its risk allows, in words; null: none. */
  readonly cap: string | null
  /** Distance of an entry that waits from the price now, bps of it, where it is so far that it must be confirmed; null: it is not. */
  readonly farBps: number | null
  readonly quoted: QuotedTerms
  /** Instants of the quote and of its oldest price, Unix ms. */
  readonly atMs: number
  readonly priceAtMs: number
}

/** A quote in words, as every surface shows it: rows of the order, its costs (name, expected, at most), and rows of what follows. */
export interface QuoteRows {
  readonly order: readonly (readonly [name: string, text: string])[]
  readonly costs: readonly (readonly [name: string, expected: string, atMost: string])[]
  readonly outcome: readonly (readonly [name: string, text: string])[]
}

/** A preview of an order that opens or adds. */
export interface ManualQuote extends Quote, OpenOutlook {
  readonly rows: QuoteRows
  /** The rule that took the market, where its name means several pools; absent: it was named. */
  readonly chosen?: string
  readonly orderType: string
  readonly leverageBps: number
  /** Decimal amount and symbol: `250 USDC`. */
  readonly collateral: string
  readonly triggerPrice: string | null
  /** `sizeUsd`: the most that each closes, which is the addition of this order, and nothing of the earlier position. */
  readonly exits: readonly {
    readonly type: string
    readonly triggerPrice: string
    readonly sizeUsd: string
  }[]
  /** Exits that a plan of `perpd protect` keeps on the position: they grow by this order. Absent: none is planned. */
  readonly planned?: readonly { readonly type: string; readonly triggerPrice: string }[]
  /** Strategies that look at positions of this market. */
  readonly managers: readonly string[]
  /** Reasons why a guard would at once reduce or close the new position, and stops that cannot fire, a sentence each; empty for none. */
  readonly guardWarnings: readonly string[]
}

/** A preview of a close, or of a part of one. */
export interface CloseQuote extends Quote {
  /** Whose parts it takes, in their order: the operator's own first. Names of books; the PnL of the price from the part's own entry. */
  readonly parts: readonly { readonly strategy: string; readonly sizeUsd: string; readonly pnlUsd: string }[]
  /** PnL of the closed parts: from their own entries, less pending funding and borrowing by size, before the cost of closing. */
  readonly pnlUsd: string
  /** The same less the expected cost of closing; the cost of opening is not in it. */
  readonly netPnlUsd: string
}

/** Inputs of a quote besides the intent. */
export interface QuoteParts {
  readonly policy: SigningPolicy
  readonly feeTokenDecimals: number
  readonly fees: PositionFees
  /** Our own estimate of its price impact, USD, signed. Absent: not known. */
  readonly impactUsd?: Usd | undefined
  /** Expected cost of sending it; absent: nothing estimates it. */
  readonly sending?: ExpectedFee | undefined
  /** Its position before; absent: nothing is held. */
  readonly held?: Position | undefined
  /** Room of the shown bounds for what moves while they are read. Absent: they are those of this moment. */
  readonly drift?: QuoteDrift
}

/** Room of shown bounds, bps: of the price, and of the fees of sending. */
export interface QuoteDrift {
  readonly priceBps: number
  readonly feesBps: number
}

/** The quote of an increase without its outlook. */
export type BoundQuote = Omit<ManualQuote, keyof OpenOutlook | 'rows'>

/** The quote of an increase that would be accepted now. */
export function quoteOf(
  intent: Intent,
  parts: QuoteParts,
  managers: readonly string[] = [],
  warningsOf: (venueFeesUsd: Usd) => readonly string[] = () => [],
): BoundQuote {
  const { terms, decision } = intent
  const { sizeDeltaUsd, triggerPrice, direction, tpsl = [], collateralToken, collateralDelta } = terms
  const { fees, impactUsd } = parts
  const likelyBps100 = likelyFeeOf(fees, impactUsd)
  const cost = {
    positionFeeUsd: feeUsdOf(sizeDeltaUsd, likelyBps100),
    positionFeeBps100: likelyBps100,
    impactUsd,
  }
  const quote = quoted(intent, parts, direction === 'long', sizeDeltaUsd, cost)
  return {
    ...quote,
    orderType: terms.orderType,
    leverageBps: decision.kind === 'increase' ? decision.leverageBps : BPS_ONE,
    collateral: `${formatUnits(collateralDelta, collateralToken.decimals)} ${collateralToken.symbol}`,
    triggerPrice: text(triggerPrice),
    exits: tpsl.map((exit) => ({
      type: exit.type,
      triggerPrice: exit.triggerPrice.toString(),
      sizeUsd: exit.sizeDeltaUsd.toString(),
    })),
    managers,
    guardWarnings: warningsOf(BigInt(quote.venueFeesUsd)),
  }
}

/**
 * Returns the quote of a close, or of a reduction, that would be accepted now. Where the venue gives the cost of closing the whole position, its
 * figures count by size.
 */
export function closeQuoteOf(
  intent: Intent,
  held: Position,
  { books, ...parts }: Omit<QuoteParts, 'held'> & { readonly books: readonly Book[] },
): CloseQuote {
  const { sizeDeltaUsd, direction } = intent.terms
  const { sizeInUsd, closingFeeUsd, netPriceImpactDeltaUsd } = held
  const closedUsd = sizeDeltaUsd < sizeInUsd ? sizeDeltaUsd : sizeInUsd
  const share = (whole: Usd): Usd => (whole * closedUsd) / sizeInUsd
  const impactUsd = netPriceImpactDeltaUsd === undefined ? parts.impactUsd : share(netPriceImpactDeltaUsd)
  const likelyBps100 = likelyFeeOf(parts.fees, parts.impactUsd)
  const cost =
    closingFeeUsd === undefined
      ? { positionFeeUsd: feeUsdOf(closedUsd, likelyBps100), positionFeeBps100: likelyBps100, impactUsd }
      : { positionFeeUsd: share(closingFeeUsd), impactUsd }
  const quote = quoted(intent, { ...parts, held }, direction === 'short', closedUsd, cost)
  const taken = takenParts(books, held, closedUsd)
  const priceUsd = taken.reduce((sum, part) => sum + part.pnlUsd, 0n)
  const pnlUsd = priceUsd + share(held.pnlAfterFeesUsd - held.pnlUsd)
  return {
    ...quote,
    parts: taken.map(({ strategy, ...part }) => ({
      ...{ strategy: bookName(strategy), sizeUsd: part.sizeUsd.toString(), pnlUsd: part.pnlUsd.toString() },
    })),
    pnlUsd: pnlUsd.toString(),
    netPnlUsd: (pnlUsd - BigInt(quote.expected.totalUsd)).toString(),
  }
}

/** The parts that an operator's reduction of a position takes, with their PnL by the price now; what no book holds counts by the position's own. */
function takenParts(
  books: readonly Book[],
  held: Position,
  closedUsd: Usd,
): readonly { readonly strategy: string; readonly sizeUsd: Usd; readonly pnlUsd: Usd }[] {
  const own = books.filter((book) => sideKeyOf(book) === sideKeyOf(held))
  const parts = new Map(own.map((book) => [book.strategy, book]))
  const { takes, beyondUsd } = takesOf(parts, [OPERATOR, UNATTRIBUTED], closedUsd)
  const byPosition = (sizeUsd: Usd): Usd => (held.pnlUsd * sizeUsd) / held.sizeInUsd
  const rows = takes.map(([strategy, sizeUsd]) => {
    const part = parts.get(strategy)
    const isKnown = part !== undefined && part.sizeInTokens > 0n
    const pnlUsd = isKnown ? (openResultUsd([part], [held]) * sizeUsd) / part.sizeUsd : byPosition(sizeUsd)
    return { strategy, sizeUsd, pnlUsd }
  })
  if (beyondUsd === 0n) return rows
  return [...rows, { strategy: UNATTRIBUTED, sizeUsd: beyondUsd, pnlUsd: byPosition(beyondUsd) }]
}

function quoted(
  intent: Intent,
  parts: QuoteParts,
  buys: boolean,
  sizeUsd: Usd,
  cost: Pick<Parameters<typeof expectedCost>[0], 'positionFeeUsd' | 'positionFeeBps100' | 'impactUsd'>,
): Quote {
  const { terms } = intent
  const { policy, feeTokenDecimals, fees, sending, held } = parts
  const { referencePrice, triggerPrice, direction, tpsl = [] } = terms
  const { priceBps = 0, feesBps = 0 } = parts.drift ?? {}
  const worst = worstBps(intent, policy)
  const badBps = worst === undefined ? undefined : worst + priceBps
  const boundPriceUsd = badBps === undefined ? undefined : bps(sizeUsd, badBps)
  const center = terms.orderType === 'limit' ? (triggerPrice ?? referencePrice) : referencePrice
  const boundPrice =
    badBps === undefined ? undefined : buys ? center + bps(center, badBps) : center - bps(center, badBps)
  const venueFeeBps100 = highestFeeOf(fees)
  const venueFeesUsd = feeUsdOf(sizeUsd, venueFeeBps100)
  const fee = relayFeeLimit(policy, intent) * BigInt(1 + tpsl.length)
  const orderFeesUsd = usdOfFee(fee + bps(fee, feesBps), feeTokenDecimals)
  const worstCostUsd = boundPriceUsd === undefined ? undefined : boundPriceUsd + venueFeesUsd + orderFeesUsd
  return {
    market: terms.symbol,
    direction,
    sizeUsd: sizeUsd.toString(),
    heldUsd: (held?.sizeInUsd ?? 0n).toString(),
    referencePrice: referencePrice.toString(),
    signedPrice: text(signedPriceOf(terms, buys, parts.impactUsd)),
    slippageBps: terms.slippageBps,
    impactBudgetBps: terms.acceptablePriceImpactBps ?? null,
    expected: expectedCost({ ...cost, sending, feeTokenDecimals }),
    boundPrice: text(boundPrice),
    boundPriceUsd: text(boundPriceUsd),
    venueFeesUsd: venueFeesUsd.toString(),
    venueFeeBps100,
    orderFeesUsd: orderFeesUsd.toString(),
    worstCostUsd: text(worstCostUsd),
  }
}

function text(amount: Usd | undefined): string | null {
  return amount?.toString() ?? null
}

/** Returns the largest distance at our cost between the signed price and its center, bps; undefined: a stop takes any price. */
function worstBps(intent: Intent, policy: SigningPolicy): number | undefined {
  const { orderType, acceptablePriceImpactBps, priceImpactBps = 0 } = intent.terms
  if (orderType === 'stop-market') return undefined
  const { slippageBps, toleranceBps, maxImpactBps = 0 } = widthFor(policy, intent)
  if (acceptablePriceImpactBps !== undefined) return slippageBps + acceptablePriceImpactBps
  return slippageBps + toleranceBps + Math.min(Math.max(0, -priceImpactBps), maxImpactBps)
}
