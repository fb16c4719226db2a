/** Results and costs of a book's trading, as sums. Pure. */
import { type TokenAmount, tenTo, USD_DECIMALS, type Usd } from '../protocol/units.ts'

/** Sums of results. USD has 30 decimals; fees are positive, results and funding signed. */
export interface Figures {
  /** Reductions: the PnL of the price alone, by the book's own entry. */
  readonly pricePnlUsd: Usd
  /** Reductions: settled price impact, negative at our cost. */
  readonly impactUsd: Usd
  /** Position fees; of fills whose evidence does not tell fees apart, all of them. */
  readonly positionFeesUsd: Usd
  readonly borrowingUsd: Usd
  /** Funding paid less funding received: negative for a net receipt. */
  readonly fundingUsd: Usd
  /** Swaps: the output less the input. */
  readonly swapUsd: Usd
  /** Whole fees of messages that landed, less the returns of the relay and keepers; one unit of the fee token counts as a dollar. */
  readonly relayFeesUsd: Usd
  /** Execution fees that keepers retained, else the signed fees; native token, base units. Part of the relay fees, but shown separately. */
  readonly executionFees: TokenAmount
  /** Fills of the book's own orders. */
  readonly fills: number
  /** Reductions of the book, whoever made them, and those that brought more than all their costs. */
  readonly trades: number
  readonly wins: number
}

/** Nothing yet. */
export const noFigures: Figures = {
  pricePnlUsd: 0n,
  impactUsd: 0n,
  positionFeesUsd: 0n,
  borrowingUsd: 0n,
  fundingUsd: 0n,
  swapUsd: 0n,
  relayFeesUsd: 0n,
  executionFees: 0n,
  fills: 0,
  trades: 0,
  wins: 0,
}

/** The sum of two. */
export function addFigures(one: Figures, other: Partial<Figures>): Figures {
  return {
    pricePnlUsd: one.pricePnlUsd + (other.pricePnlUsd ?? 0n),
    impactUsd: one.impactUsd + (other.impactUsd ?? 0n),
    positionFeesUsd: one.positionFeesUsd + (other.positionFeesUsd ?? 0n),
    borrowingUsd: one.borrowingUsd + (other.borrowingUsd ?? 0n),
    fundingUsd: one.fundingUsd + (other.fundingUsd ?? 0n),
    swapUsd: one.swapUsd + (other.swapUsd ?? 0n),
    relayFeesUsd: one.relayFeesUsd + (other.relayFeesUsd ?? 0n),
    executionFees: one.executionFees + (other.executionFees ?? 0n),
    fills: one.fills + (other.fills ?? 0),
    trades: one.trades + (other.trades ?? 0),
    wins: one.wins + (other.wins ?? 0),
  }
}

/** Tells whether all figures are zero. */
export function isNone(figures: Figures): boolean {
  return Object.values(figures).every((figure) => BigInt(figure) === 0n)
}

/** Returns the figures with opposite signs, for subtraction. */
export function negated(figures: Figures): Figures {
  return {
    pricePnlUsd: -figures.pricePnlUsd,
    impactUsd: -figures.impactUsd,
    positionFeesUsd: -figures.positionFeesUsd,
    borrowingUsd: -figures.borrowingUsd,
    fundingUsd: -figures.fundingUsd,
    swapUsd: -figures.swapUsd,
    relayFeesUsd: -figures.relayFeesUsd,
    executionFees: -figures.executionFees,
    fills: -figures.fills,
    trades: -figures.trades,
    wins: -figures.wins,
  }
}

/** Returns the result by the venue's own count: after price impact and its fees, before the cost of sending messages. USD, signed. */
export function venueResultOf(figures: Partial<Figures>): Usd {
  const { pricePnlUsd, impactUsd, positionFeesUsd, borrowingUsd, fundingUsd, swapUsd } = {
    ...noFigures,
    ...figures,
  }
  return pricePnlUsd + impactUsd + swapUsd - positionFeesUsd - borrowingUsd - fundingUsd
}

/** The result after all costs, those of sending included. USD, signed. */
export function resultOf(figures: Partial<Figures>): Usd {
  return venueResultOf(figures) - (figures.relayFeesUsd ?? 0n)
}

/** Fee tokens, base units, as dollars: one counts as one. */
export function dollarsOf(amount: TokenAmount, decimals: number): Usd {
  return amount * tenTo(USD_DECIMALS - decimals)
}
