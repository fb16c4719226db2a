/** A reverted batch leaves the world as it was, whatever it did before it failed. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { acceptOperation, landOperation } from '../../src/paper/keeper/operations.ts'
import { createVenue } from '../../src/paper/server/venue.ts'
import type { VenueState } from '../../src/paper/state/venueState.ts'
import { encodeState } from '../../src/paper/venue/stateLog.ts'
import type { Hex } from '../../src/protocol/address.ts'
import { chains } from '../../src/protocol/chains/index.ts'
import {
  type Batch,
  type CreateOrderParams,
  digestOf,
  domainSeparator,
} from '../../src/protocol/signing/relayRouter.ts'
import { type Any, ethMarket, manualClock, START_MS, stranger, trader, usdc } from './support.ts'

const zero: Hex = `0x${'00'.repeat(20)}`
const word: Hex = `0x${'00'.repeat(32)}`

function order(size: bigint, pay: bigint, orderType: bigint, autoCancel = false): CreateOrderParams {
  return {
    addresses: {
      receiver: trader.address,
      cancellationReceiver: zero,
      callbackContract: zero,
      uiFeeReceiver: zero,
      market: ethMarket,
      initialCollateralToken: usdc,
      swapPath: [],
    },
    numbers: {
      sizeDeltaUsd: size * 10n ** 30n,
      initialCollateralDeltaAmount: pay * 10n ** 6n,
      triggerPrice: 10n ** 15n,
      acceptablePrice: 10n ** 15n,
      executionFee: 10n ** 15n,
      callbackGasLimit: 0n,
      minOutputAmount: 0n,
      validFromTime: 0n,
    },
    orderType,
    decreasePositionSwapType: 0n,
    isLong: true,
    shouldUnwrapNativeToken: false,
    autoCancel,
    referralCode: word,
    dataList: [],
  }
}

/** Everything of a world but its chain, its operations and the count of transactions: those do keep a revert. */
function told(venueState: VenueState): string {
  const { transaction: _transaction, task: _task, ...counters } = venueState.counters
  return encodeState({
    counters,
    accounts: [...venueState.accounts].map(([key, one]) => [key, [...one.balances], [...one.allowances]]),
    markets: venueState.markets.map(({ state }) => state),
    positions: [...venueState.positions],
    orders: [...venueState.orders],
    outcomes: [...venueState.outcomes],
    subaccounts: [...venueState.subaccounts],
    nonces: [...venueState.approvalNonces],
    digests: [...venueState.usedDigests],
    trades: venueState.trades,
    populationTrades: venueState.populationTrades,
    due: venueState.due.filter(({ kind }) => kind !== 'land'),
  })
}

let nonce = 0

/** Lands a batch at once; its status and the error's name. */
function land(
  venueState: VenueState,
  account: Hex,
  actions: Partial<Batch>,
): { status: string; error?: string } {
  nonce += 1
  const { contracts, gasPaymentTokens } = chains.arbitrum
  const batch: Batch = {
    account: zero,
    createOrderParamsList: [],
    updateOrderParamsList: [],
    cancelOrderKeys: [],
    relayParams: word,
    subaccountApproval: word,
    ...actions,
  }
  const relayParams: Any = {
    oracleParams: { tokens: [], providers: [], data: [] },
    externalCalls: {
      sendTokens: [],
      sendAmounts: [],
      externalCallTargets: [],
      externalCallDataList: [],
      refundTokens: [],
      refundReceivers: [],
    },
    tokenPermits: [],
    fee: { feeToken: gasPaymentTokens[0], feeAmount: 90_000_000n, feeSwapPath: [ethMarket] },
    userNonce: BigInt(nonce),
    deadline: BigInt(START_MS / 1000 + 3600),
    desChainId: 42161n,
  }
  const operation = acceptOperation(venueState, {
    account,
    requestId: null,
    batch,
    relayParams,
    digest: digestOf(domainSeparator(42161, contracts.gelatoRelayRouter), {
      ...batch,
      relayParams: `0x${nonce.toString(16).padStart(64, '0')}`,
    }),
    nowMs: START_MS,
  })
  landOperation(venueState, operation.taskId, START_MS)
  return {
    status: operation.status,
    ...(operation.error === undefined ? {} : { error: operation.error.code }),
  }
}

test('a reverted batch leaves the world as it was, byte for byte', () => {
  const { venueState } = createVenue({ clock: manualClock(), chain: chains.arbitrum, seed: 7 })
  const resting = (account: Hex): Hex[] => {
    land(venueState, account, {
      createOrderParamsList: [order(50n, 20n, 3n), order(60n, 20n, 8n), order(5n, 0n, 5n)],
    })
    return [...venueState.orders.values()].filter((one) => one.account === account).map(({ key }) => key)
  }
  const ours = resting(trader.address)
  const [foreign = word] = resting(stranger.address)
  expect(ours).toHaveLength(3)
  const failing: Partial<Batch>[] = [
    { cancelOrderKeys: [word] },
    { cancelOrderKeys: [foreign] },
    { createOrderParamsList: [order(10n, 10n, 7n)] },
    { createOrderParamsList: [order(10n, 10n ** 9n, 2n)] },
    { createOrderParamsList: [order(10n, 10n, 3n, true)] },
    { createOrderParamsList: Array.from({ length: 12 }, () => order(1n, 0n, 6n, true)) },
  ]
  const key = fc.constantFrom(...ours)
  fc.assert(
    fc.property(
      fc.constantFrom(trader.address, `0x${'ab'.repeat(20)}` as Hex),
      fc.array(fc.tuple(fc.bigInt(1n, 500n), fc.bigInt(1n, 300n), fc.constantFrom(0n, 2n, 3n, 4n, 5n, 8n)), {
        maxLength: 4,
      }),
      fc.uniqueArray(fc.tuple(key, fc.bigInt(1n, 10n ** 33n)), { maxLength: 3, selector: ([one]) => one }),
      fc.uniqueArray(key, { maxLength: 3 }),
      fc.constantFrom(...failing),
      (account, creates, updates, cancels, last) => {
        const before = told(venueState)
        const { status, error } = land(venueState, account, {
          createOrderParamsList: [
            ...creates.map(([size, pay, type]) => order(size, pay, type)),
            ...(last.createOrderParamsList ?? []),
          ],
          updateOrderParamsList: updates.map(([one, value]) => ({
            key: one,
            sizeDeltaUsd: value,
            acceptablePrice: value,
            triggerPrice: value,
            minOutputAmount: 0n,
            validFromTime: 0n,
            autoCancel: false,
            executionFeeIncrease: value,
          })),
          cancelOrderKeys: [...cancels, ...(last.cancelOrderKeys ?? [])],
        })
        expect(status).toBe('reverted')
        expect(error).toBeDefined()
        expect(told(venueState)).toBe(before)
      },
    ),
    { seed: 4, numRuns: 150 },
  )
  expect(land(venueState, trader.address, { cancelOrderKeys: ours }).status).toBe('executed')
})
