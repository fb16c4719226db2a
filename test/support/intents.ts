/** Intents and observations for tests, whole and plausible. */
import type { AccountView, HostAnswer, Observation } from '../../src/domain/machine/observation.ts'
import type { ArmedFacts, Intent } from '../../src/domain/order/intent.ts'
import { swapMarketsOf } from '../../src/execution/context/swapPath.ts'
import type { Address, Hex } from '../../src/protocol/address.ts'
import type { Trade } from '../../src/protocol/position.ts'
import { usd } from '../../src/protocol/units.ts'

export const account: Address = '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A'
export const ethMarket: Address = '0x70d95587d40A2caf56bd97485aB3Eec10Bee6336'
export const weth: Address = '0x82aF49447D8a07e3bd95BD0d56f35241523fBab1'
export const usdc: Address = '0xaf88d065e77c8cC2239327C5EDb3A432268e5831'
/** The one market that swaps may go through where a test names no other. */
export const ethSwapMarkets = swapMarketsOf([
  { marketToken: ethMarket, indexToken: weth, longToken: weth, shortToken: usdc },
])
export const router: Address = '0x5503b99308dB6923758F9A22d118207D633c4e87'
export const orderKey: Hex = `0x${'0a'.repeat(32)}`
export const startMs = 1_800_000_000_000

/** An increase of $500 on ETH, long, 2x, accepted at `startMs`; parts may be replaced. */
export function intentOf(parts: Partial<Intent> = {}): Intent {
  return {
    intentId: 'f00d00000000000000000001',
    decisionKey: 'eth-trend@2027-01-15T08:00:00.000Z#0',
    strategy: 'eth-trend',
    account,
    chain: 'arbitrum',
    lane: 'order-chain',
    kind: 'increase',
    decision: {
      kind: 'increase',
      marketToken: ethMarket,
      direction: 'long',
      sizeDeltaUsd: usd(500),
      leverageBps: 20_000,
      collateralToken: usdc,
      reason: 'the fast average is above the slow one',
    },
    terms: {
      orderType: 'market',
      symbol: 'ETH/USD [WETH-USDC]',
      marketToken: ethMarket,
      indexToken: { symbol: 'WETH', address: weth, decimals: 18 },
      direction: 'long',
      collateralToken: { symbol: 'USDC', address: usdc, decimals: 6 },
      sizeDeltaUsd: usd(500),
      collateralDelta: 250_000_000n,
      keepLeverage: false,
      slippageBps: 100,
      referencePrice: usd(1800),
    },
    sizing: { wantedUsd: usd(500), sizeDeltaUsd: usd(500), cuts: [], dataAgeMs: 10 },
    reservationUsd: usd(500),
    acceptedAtMs: startMs,
    expiresAtMs: startMs + 60_000,
    ...parts,
  }
}

/** What J3 holds for it. */
export function armedFacts(parts: Partial<ArmedFacts> = {}): ArmedFacts {
  return {
    host: 'http://127.0.0.1:1/v1',
    requestId: 'req-1',
    router,
    digest: `0x${'d1'.repeat(32)}`,
    deadlineSeconds: startMs / 1000 + 300,
    userNonce: 7n,
    signature: `0x${'51'.repeat(65)}`,
    acceptableContractPrice: 1818000000000000n,
    executionFee: 10n ** 14n,
    relayFeeToken: usdc,
    relayFeeAmount: 250_000n,
    creates: [],
    validationWarnings: [],
    comparedFields: 0,
    leaseEpoch: 1,
    ...parts,
  }
}

/** A trade row of the order. */
export function tradeOf(parts: Partial<Trade> = {}): Trade {
  return {
    id: 'trade-1',
    account,
    orderKey,
    transactionHash: `0x${'7a'.repeat(32)}`,
    eventName: 'OrderExecuted',
    orderType: 2,
    timestampSeconds: startMs / 1000 + 3,
    initialCollateralToken: usdc,
    initialCollateralDeltaAmount: 250_000_000n,
    marketToken: ethMarket,
    direction: 'long',
    sizeDeltaUsd: usd(500),
    executionContractPrice: 1800n * 10n ** 12n,
    collateralTokenContractPriceMin: 10n ** 24n,
    collateralTokenContractPriceMax: 10n ** 24n,
    positionFeeAmount: 300_000n,
    ...parts,
  }
}

/** Lists of the account with nothing in them, every peer heard. */
export function emptyAccount(parts: Partial<AccountView> = {}): AccountView {
  return { complete: true, orders: [], positions: [], trades: [], ...parts }
}

/** A host's answer. */
export function statusAnswer(
  status: string,
  parts: Partial<Extract<HostAnswer, { kind: 'status' }>> = {},
): HostAnswer {
  return {
    kind: 'status',
    host: 'http://127.0.0.1:1/v1',
    status,
    orderKeys: [],
    serverDateMs: startMs + 4000,
    ...parts,
  }
}

/** One look. */
export function observationOf(
  answer: HostAnswer,
  view?: AccountView,
  explained: readonly string[] = [],
): Observation {
  return {
    atMs: startMs + 5000,
    answer,
    explained: new Set(explained),
    ...(view === undefined ? {} : { account: view }),
  }
}
