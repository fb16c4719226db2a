/** Intent to Prepared: ask one host to build the order. Moves nothing; may be repeated. */
import type { Prepared } from '../api/orders.ts'
import type { PrepareRequest } from '../api/prepareRequest.ts'
import type { Intent } from '../domain/intent.ts'
import type { ExecutionContext } from './context.ts'

/** The request that an intent makes. Every field that has a default at the venue is sent, so that none is guessed. */
export function prepareRequestOf(context: Pick<ExecutionContext, 'chain'>, intent: Intent): PrepareRequest {
  const { terms, kind, account } = intent
  const base = {
    orderType: 'market',
    from: account,
    symbol: terms.symbol,
    direction: terms.direction,
    sizeDeltaUsd: terms.sizeDeltaUsd,
    slippageBps: terms.slippageBps,
    collateralToken: terms.collateralToken.symbol,
    gasPaymentToken: context.chain.feeToken.address,
  } as const
  if (kind === 'increase') {
    return {
      ...base,
      kind: 'increase',
      collateralToPay: { amount: terms.collateralDelta, token: terms.collateralToken.symbol },
    }
  }
  return {
    ...base,
    kind: 'decrease',
    receiveToken: terms.collateralToken.symbol,
    keepLeverage: terms.keepLeverage,
  }
}

/** Attempts at one host; after them the next prepare asks another. */
const attemptsPerHost = 2

/** Asks a host to prepare the intent. Throws RefusedError, UnreachableError or DecodeError. */
export async function prepare(context: ExecutionContext, intent: Intent, host: string): Promise<Prepared> {
  const request = prepareRequestOf(context, intent)
  const { value } = await context.api.prepareOrder(request, { host, attempts: attemptsPerHost })
  return value
}
