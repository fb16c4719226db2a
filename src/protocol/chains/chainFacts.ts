/** Facts of a chain: its id, the hosts of both APIs, and the contracts that are pinned in code. */
import type { Address } from 'viem'
import type { ShippedFacts } from '../catalogue.ts'
import type { TokenAmount, Usd } from '../units.ts'
import type { Finality } from './finality.ts'
import type { ChainGas } from './gasFacts.ts'

/** Contracts by name; addresses repeat across chains for different contracts, so always key by (chain, name). */
export interface Contracts {
  /** Verifying contract of a Batch signed by the account itself; keeps the used digests. */
  readonly gelatoRelayRouter: Address
  /** Verifying contract of a Batch signed by a subaccount. */
  readonly subaccountGelatoRelayRouter: Address
  /** Takes the owner's own transactions about subaccounts. */
  readonly subaccountRouter: Address
  readonly multichainOrderRouter: Address
  readonly multichainSubaccountRouter: Address
  readonly multichainTransferRouter: Address
  readonly exchangeRouter: Address
  /** The one token spender ("SyntheticsRouter"). */
  readonly router: Address
  readonly orderVault: Address
  /** Runs the newest order in a call that always reverts; keeps no state. */
  readonly simulationRouter: Address
  readonly eventEmitter: Address
  readonly dataStore: Address
  readonly reader: Address
  readonly multicall: Address
  readonly referralStorage: Address
  readonly externalHandler: Address
  readonly chainlinkPriceFeedProvider: Address
  readonly wrappedNative: Address
}

/** Facts of one chain. Hosts may be overridden by configuration; contracts and ids may not. */
export interface ChainFacts<Name extends string = string> {
  readonly name: Name
  /** EIP-155 number. */
  readonly chainId: number
  readonly nativeSymbol: string
  readonly contracts: Contracts
  /** Tokens that may pay the relay's fee; the first is the venue's default. */
  readonly gasPaymentTokens: readonly Address[]
  /** The stable token that perpd pays the relay's fee in; the first of the tokens above. One unit counts as one USD for the fee's cap. */
  readonly feeToken: { readonly address: Address; readonly symbol: string; readonly decimals: number }
  /** Markets through which the fee token becomes the wrapped native token, when no prepare said which. */
  readonly feeSwapPath: readonly Address[]
  readonly hosts: {
    /** Peers of equal rank, base addresses with the version segment. */
    readonly api: readonly string[]
    /** Primary first, then the fallbacks. */
    readonly oracle: readonly string[]
    /** Summaries of the chain's pairs for exchange listings, `{pair_feed_url}`; absent where the chain has none. */
    readonly pairFeed?: readonly string[]
  }
  /** Its markets and tokens, as shipped. */
  readonly facts: ShippedFacts
  /** Seconds before a user may cancel a market order (contract `Keys`, `REQUEST_EXPIRATION_TIME`). */
  readonly requestExpirationSeconds: number
  /** Finality that evidence requires when nothing else is configured. */
  readonly finality: Finality
  /** Gas facts for the protocol's fees. */
  readonly gas: ChainGas
  /** Assumed fees before any order has landed: one order's execution fee, and its whole fee through the relay. */
  readonly usualFees: { readonly usualExecutionFee: TokenAmount; readonly usualRelayFeeUsd: Usd }
  /** USD per whole native token while nobody has said one: what is told with, and what no price is thought to be above. */
  readonly nativePriceUsd: { readonly assumed: Usd; readonly highest: Usd }
  /** Most auto-cancel orders of a position (contract setting). */
  readonly maxAutoCancelOrders: number
  /** Blocks as the paper venue makes them: time between two, a height like the chain's, and the usual gas price, wei. */
  readonly blocks: { readonly timeMs: number; readonly firstNumber: number; readonly gasPriceWei: number }
}
