/**
 * Files of the schema `gmx-messages/1`: prepare answers of express orders with what was asked, the state of the world that they
 * were made in, and what a verifier must do with each. Amounts are decimal texts.
 */
import { readFileSync } from 'node:fs'
import type { Address, Hex } from '../../src/protocol/address.ts'
import type { ChainName } from '../../src/protocol/chains/chain.ts'
import { chains } from '../../src/protocol/chains/index.ts'
import type { Direction } from '../../src/protocol/market.ts'
import { batchTypes } from '../../src/protocol/signing/batchTypes.ts'

/** Why a message is refused. */
export type RefusalClass = 'tampered' | 'price-moved' | 'too-dear' | 'expired'

export interface TokenRow {
  readonly symbol: string
  readonly address: Address
  readonly decimals: number
}

export interface ExitRow {
  readonly type: 'take-profit' | 'stop-loss'
  readonly triggerPrice: string
  /** Absent: the whole position. */
  readonly sizeDeltaUsd?: string
}

/** What the trader asked. */
export interface Want {
  readonly kind:
    | 'increase'
    | 'decrease'
    | 'close'
    | 'swap'
    | 'edit'
    | 'cancel'
    | 'collateral-in'
    | 'collateral-out'
  readonly symbol?: string
  readonly direction?: Direction
  readonly orderType?: 'market' | 'limit' | 'stop-market' | 'take-profit' | 'stop-loss' | 'twap'
  readonly sizeDeltaUsd?: string
  readonly collateralToken?: Address
  readonly collateralAmount?: string
  readonly slippageBps?: number
  readonly acceptablePriceImpactBps?: number
  readonly keepLeverage?: boolean
  readonly triggerPrice?: string
  readonly tpsl?: readonly ExitRow[]
  readonly twap?: { readonly parts: number; readonly durationSeconds: number }
  readonly payToken?: Address
  readonly payTokenSymbol?: string
  readonly payAmount?: string
  readonly receiveToken?: Address
  readonly receiveTokenSymbol?: string
  readonly positionKey?: string
  readonly orderKeys?: readonly Hex[]
  readonly newSizeDeltaUsd?: string
  readonly newTriggerPrice?: string
  readonly newAcceptablePrice?: string
  readonly newAutoCancel?: boolean
  readonly executionFeeTopUp?: string
}

export interface MarketRow {
  readonly symbol: string
  readonly marketToken: Address
  readonly indexToken: TokenRow
  readonly longToken: TokenRow
  readonly shortToken: TokenRow
  readonly minCollateralFactor: string
  readonly minCollateralUsd: string
  readonly minPositionSizeUsd: string
  readonly positionImpactFactorPositive?: string
  readonly positionImpactFactorNegative?: string
  readonly positionImpactExponentFactorPositive?: string
  readonly positionImpactExponentFactorNegative?: string
  readonly maxPositionImpactFactorPositive?: string
  readonly maxPositionImpactFactorNegative?: string
  readonly useOpenInterestInTokensForBalance?: boolean
  readonly longInterestUsd?: string
  readonly shortInterestUsd?: string
  readonly longInterestInTokens?: string
  readonly shortInterestInTokens?: string
}

export interface PositionRow {
  readonly key: string
  readonly marketToken: Address
  readonly collateralToken: TokenRow
  readonly direction: Direction
  readonly sizeInUsd: string
  readonly sizeInTokens: string
  readonly collateralAmount: string
  readonly collateralUsd: string
  readonly entryPrice: string
  readonly pnlUsd: string
  readonly pendingBorrowingFeesUsd: string
  readonly pendingFundingFeesUsd: string
}

export interface OrderRow {
  readonly key: Hex
  readonly orderType: 'limit' | 'stop-market' | 'take-profit' | 'stop-loss'
  readonly direction: Direction
  readonly marketToken: Address
  readonly initialCollateralToken: Address
  readonly initialCollateralDeltaAmount: string
  readonly sizeDeltaUsd: string
  readonly contractTriggerPrice: string
  readonly contractAcceptablePrice: string
  readonly minOutputAmount: string
  readonly autoCancel: boolean
  readonly executionFee: string
  readonly isFrozen: boolean
  readonly validFromTime: string
}

export interface ApprovalRow {
  readonly subaccount: Address
  readonly shouldAdd: boolean
  readonly expiresAt: string
  readonly maxAllowedCount: string
  readonly actionType: Hex
  readonly nonce: string
  readonly desChainId: string
  readonly deadline: string
  readonly integrationId: Hex
  readonly signature: Hex
}

/** The world that a message was made in. */
export interface State {
  /** Unix seconds. */
  readonly blockTime: number
  readonly account: Address
  readonly gas: { readonly networkGasPrice: string; readonly priorityFee: string }
  readonly prices: Readonly<
    Record<
      string,
      { readonly symbol: string; readonly decimals: number; readonly min: string; readonly max: string }
    >
  >
  readonly market: MarketRow
  readonly swapMarkets?: readonly MarketRow[]
  readonly position: PositionRow | null
  readonly orders: readonly OrderRow[]
  readonly signing:
    | { readonly mode: 'own' }
    | { readonly mode: 'subaccount'; readonly sessionKey: Address; readonly subaccountApproval: ApprovalRow }
  readonly operator: {
    readonly addingFeeUsdPerOrder: string
    readonly reducingFeeUsdPerOrder: string
    readonly addingExecutionFee: string
    readonly reducingExecutionFee: string
    readonly addingPriceToleranceBps: number
    readonly reducingPriceToleranceBps: number
    readonly minDeadlineSeconds: number
    readonly maxDeadlineSeconds: number
  }
}

/** One case. */
export interface MessageCase {
  readonly id: string
  readonly chain: ChainName
  readonly tags: readonly string[]
  readonly expect: 'sign' | 'refuse'
  readonly why: string
  readonly refusal?: { readonly class: RefusalClass; readonly fields: readonly string[] }
  readonly want: Want
  readonly state: State
  /** The body of the prepare answer. */
  readonly prepared: Readonly<Record<string, unknown>>
  readonly digest: Hex
}

/** Reads a file. Throws an Error that names the file, and what in it is wrong. */
export function readMessages(path: string): readonly MessageCase[] {
  const file = parsed(path)
  if (file === null || typeof file !== 'object' || file.schema !== 'gmx-messages/1')
    throw new Error(`${path}: schema is ${JSON.stringify(file?.schema)}, expected "gmx-messages/1"`)
  if (!Array.isArray(file.cases) || file.cases.length === 0)
    throw new Error(`${path}: cases is no list with a case in it`)
  const cases = file.cases as readonly MessageCase[]
  for (const [index, each] of cases.entries()) {
    for (const field of ['id', 'chain', 'tags', 'expect', 'want', 'state', 'prepared'] as const)
      if (each?.[field] === undefined) throw new Error(`${path}: cases[${index}].${field} is missing`)
    if (!Object.hasOwn(chains, each.chain))
      throw new Error(`${path}: cases[${index}].chain is ${each.chain}, which is none of ours`)
    if (each.expect !== 'sign' && each.expect !== 'refuse')
      throw new Error(`${path}: cases[${index}].expect is ${each.expect}, expected sign or refuse`)
  }
  return cases.map(withTypes)
}

function parsed(path: string): { readonly schema?: unknown; readonly cases?: unknown } {
  const why = (error: unknown) => (error instanceof Error ? error.message : String(error))
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw new Error(`${path} cannot be read: ${why(error)}`)
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Error(`${path} is not JSON: ${why(error)}`)
  }
}

/** The case with its typed data's types written out, where they only say that they are the router's own. */
function withTypes(one: MessageCase): MessageCase {
  const payload = one.prepared.payload as { readonly typedData?: { readonly types?: unknown } } | undefined
  if (payload?.typedData?.types !== 'standard') return one
  const typedData = { ...payload.typedData, types: batchTypes }
  return { ...one, prepared: { ...one.prepared, payload: { ...payload, typedData } } }
}
