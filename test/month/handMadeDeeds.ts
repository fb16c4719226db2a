/** Deeds made by hand, for tests of the judge of limits: an ordinary one of each, with what is to be otherwise. */
import type { Usd } from '../../src/protocol/units.ts'
import type {
  AdmittedDeed,
  EndedDeed,
  FillDeed,
  LookDeed,
  MessageDeed,
  OrderDeed,
  PositionDeed,
} from './monthDeeds.ts'

/** A minute, ms. */
export const MIN = 60_000
/** An hour, ms. */
export const HOUR = 60 * MIN
/** A day, ms. */
export const DAY = 24 * HOUR
const START = 20_000 * DAY
/** Whole dollars. */
export const usd = (dollars: number): Usd => BigInt(dollars) * 10n ** 30n
/** The side that all are on. */
export const side = '0xaa long'

/** An increase of 100 USD. */
export const order = (change: Partial<OrderDeed> = {}): OrderDeed => ({
  orderKey: '0x01',
  side,
  isIncrease: true,
  sizeUsd: usd(100),
  collateralUsd: usd(50),
  isUnbounded: false,
  slippageBps: 30,
  capacityUsd: usd(1_000_000),
  ...change,
})
/** A message `atMs` after the start of a day. */
export const message = (
  atMs: number,
  orders: readonly OrderDeed[],
  change: Partial<MessageDeed> = {},
): MessageDeed => ({
  atMs: START + atMs,
  strategy: 'one',
  executionFee: 10n,
  relayFeeUsd: usd(1),
  orders,
  ...change,
})
/** A fill of 100 USD. */
export const fill = (atMs: number, change: Partial<FillDeed> = {}): FillDeed => ({
  atMs: START + atMs,
  strategy: 'one',
  side,
  isIncrease: true,
  sizeUsd: usd(100),
  resultUsd: 0n,
  ...change,
})
/** A position of 100 USD. */
export const position = (change: Partial<PositionDeed> = {}): PositionDeed => ({
  side,
  market: '0xaa',
  sizeUsd: usd(100),
  leverageBps: 20_000,
  liquidationBps: 4_000,
  ...change,
})
/** A look at an account of 1000 USD. */
export const look = (
  atMs: number,
  positions: readonly PositionDeed[],
  change: Partial<LookDeed> = {},
): LookDeed => ({
  atMs: START + atMs,
  positions,
  resting: [],
  equityUsd: usd(1_000),
  ...change,
})
/** An increase that was taken up on fresh data. */
export const admitted = (atMs: number, change: Partial<AdmittedDeed> = {}): AdmittedDeed => ({
  atMs: START + atMs,
  strategy: 'one',
  intentId: `at ${atMs}`,
  kind: 'increase',
  side,
  isMarket: true,
  ageMs: { ticker: 2_000, oracle: 2_000, account: 2_000 },
  divergenceBps: 3,
  ...change,
})
/** The end of an increase; without a cause it did what was wanted. */
export const ended = (
  atMs: number,
  cause: string | undefined,
  change: Partial<EndedDeed> = {},
): EndedDeed => ({
  atMs: START + atMs,
  strategy: 'one',
  intentId: `ended ${atMs}`,
  kind: 'increase',
  side,
  cause,
  ...change,
})
