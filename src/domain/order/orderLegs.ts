/**
 * The created orders of an intent as people follow them: the role of each (the entry, an exit, a part), its state, and the cost and result of its
 * fill. Pure.
 */
import { defined } from '../../base/defined.ts'
import type { Hex } from '../../protocol/address.ts'
import { MAX_UINT256, priceOfContractPrice, type Usd } from '../../protocol/units.ts'
import {
  type Child,
  type ChildRole,
  type Evidence,
  hasEnded,
  type IntentState,
  isProvisional,
  lastAttempt,
  type SignedOrder,
} from './intent.ts'
import type { ListedOrder } from './signedOrder.ts'

/** One created order. USD has 30 decimals; prices are per whole index token. */
export interface OrderLeg {
  readonly index: number
  readonly orderKey: Hex
  readonly role: ChildRole
  readonly phase: Child['phase']
  /** The chain showed its newest phase in a block that may be taken back. */
  readonly isProvisional: boolean
  /** Trigger in force: as signed, with the edits that landed, or as another client changed it. */
  readonly triggerPrice?: Usd
  readonly sizeDeltaUsd?: Usd
  /** Another client changed it: the same as perpd signed them. */
  readonly changedFrom?: { readonly triggerPrice?: Usd; readonly sizeDeltaUsd?: Usd }
  readonly executionPrice?: Usd
  /** The venue's fees of this order. */
  readonly feesUsd?: Usd
  readonly priceImpactUsd?: Usd
  /** Reductions: PnL after all costs (docs/reference/glossary.md), by the books of whose parts it took. */
  readonly pnlUsd?: Usd
  /** Reductions: the venue's own figure of the fill, after its price impact, fees, funding and borrowing. */
  readonly venuePnlUsd?: Usd
  /** Reductions: funding received by the position that this fill put aside for the account, in no figure of the venue's; absent: none, or not known. */
  readonly fundingReceivedUsd?: Usd
  /** Further costs of a fill, as far as they are known. */
  readonly costs?: FillCosts
}

/** Result of a fill by the books (docs/books.md), and its costs besides the venue's charges, USD. */
export interface FillCosts {
  /** Reductions: result of the reduced parts, after all costs, signed. 0 for an entry. */
  readonly pnlUsd: Usd
  /** Cost of sending its message at most, execution fees included; 0 for an exit, which its entry's message paid for. */
  readonly sendingUsd: Usd
  /**
   * Reductions: share by size of the earlier costs of those parts: fees and sending of their entries, funding and borrowing charged since, and
   * messages meanwhile that filled nothing. 0 for an entry.
   */
  readonly entryCostsUsd: Usd
  /** Cost so far of cancelling the exits that it left behind. */
  readonly cancellingUsd: Usd
  /** True if known orders opened everything that it reduced; else the share lacks the costs of the rest. */
  readonly isEntryKnown: boolean
}

/** Finds the further costs of a fill; undefined for an order without a fill. */
export type CostsLookup = (orderKey: Hex) => FillCosts | undefined

/**
 * Returns the part of a fill's result besides the venue's figure, the funding received and its costs, USD, signed. It exists because the reduced
 * parts have their own entry price, and their own share of the settled funding and borrowing. 0 where a single strategy owns the position and closes
 * all of it.
 */
export function ownEntryUsdOf(
  venuePnlUsd: Usd,
  { pnlUsd, sendingUsd, entryCostsUsd, cancellingUsd }: FillCosts,
  fundingReceivedUsd: Usd = 0n,
): Usd {
  return pnlUsd - (venuePnlUsd + fundingReceivedUsd - sendingUsd - entryCostsUsd - cancellingUsd)
}

/** Finds an order as it was signed, with its later changes; undefined where that is not known. */
export type SignedLookup = (orderKey: Hex) => SignedOrder | undefined

/** Finds an order as another client left it at the venue; undefined where it is in force as it was signed. */
export type ListedLookup = (orderKey: Hex) => ListedOrder | undefined

/** Look-ups from which legs are built, besides their intent. */
export interface LegLookups {
  /** Orders as they are in force, with the edits of them that landed; absent: as they were signed. */
  readonly signedOf?: SignedLookup
  /** Orders that another client changed; absent: none is known to be. */
  readonly listedOf?: ListedLookup
  /** Further costs of fills; absent: no PnL after all costs is known. */
  readonly costsOf?: CostsLookup
}

/** The legs of the newest attempt; none before it landed. */
export function legsOf(
  state: IntentState,
  { signedOf = () => undefined, listedOf = () => undefined, costsOf = () => undefined }: LegLookups = {},
): readonly OrderLeg[] {
  const attempt = lastAttempt(state)
  const { terms, kind } = state.intent
  const decimals = terms.indexToken.decimals
  return (attempt?.children ?? []).map((child): OrderLeg => {
    const { index, orderKey, role, phase, settlement } = child
    const signed = signedOf(orderKey) ?? attempt?.armed?.creates[index]
    const trigger = signed?.kept?.triggerContractPrice ?? 0n
    const told = terms.tpsl?.filter(({ type }) => type === role) ?? []
    const only = told.length === 1 ? told[0] : undefined
    const signedTrigger =
      trigger > 0n && trigger < MAX_UINT256
        ? priceOfContractPrice(trigger, decimals)
        : (only?.triggerPrice ?? (role === 'main' ? terms.triggerPrice : undefined))
    const signedSize = signed?.sizeDeltaUsd ?? only?.sizeDeltaUsd
    const listed = hasEnded(child) ? undefined : listedOf(orderKey)
    const triggerPrice = listed === undefined ? signedTrigger : listed.triggerPrice
    const sizeDeltaUsd = settlement?.sizeDeltaUsd ?? listed?.sizeDeltaUsd ?? signedSize
    const { executionPrice, feesUsd, priceImpactUsd } = settlement ?? {}
    const venuePnlUsd = kind === 'increase' && !isExit(child) ? undefined : settlement?.pnlUsd
    const costs = phase === 'EXECUTED' ? costsOf(orderKey) : undefined
    return {
      index,
      orderKey,
      role,
      phase,
      isProvisional: isProvisional(child.evidence),
      ...defined({
        triggerPrice,
        sizeDeltaUsd,
        changedFrom: listed && defined({ triggerPrice: signedTrigger, sizeDeltaUsd: signedSize }),
        executionPrice,
        feesUsd,
        priceImpactUsd,
        venuePnlUsd,
        fundingReceivedUsd: venuePnlUsd === undefined ? undefined : settlement?.fundingReceivedUsd,
        pnlUsd: venuePnlUsd === undefined ? undefined : costs?.pnlUsd,
        costs,
      }),
    }
  })
}

/** Tells whether it is an exit that came with an order. */
export function isExit({ role }: Child): boolean {
  return role === 'take-profit' || role === 'stop-loss'
}

/** Returns the part of a resting exit that is in force, USD: it reduces no more than the position. Undefined for all other legs. */
export function inForceOf(leg: OrderLeg, heldUsd: Usd | undefined): Usd | undefined {
  const rests = leg.phase === 'OPEN' || leg.phase === 'FROZEN'
  if (!isExit(leg) || !rests || heldUsd === undefined || leg.sizeDeltaUsd === undefined) return undefined
  return heldUsd < leg.sizeDeltaUsd ? heldUsd : leg.sizeDeltaUsd
}

/** Tells whether its entry is filled while exits of it still rest: the intent is then an open position rather than a waiting order. */
export function isOpened(state: IntentState): boolean {
  const children = lastAttempt(state)?.children ?? []
  const entries = children.filter((child) => !isExit(child))
  return (
    state.closing === undefined &&
    entries.some(({ phase }) => phase === 'EXECUTED') &&
    entries.every(hasEnded) &&
    children.some((child) => isExit(child) && !hasEnded(child))
  )
}

/**
 * Tells whether the fill of a created order is reported on a separate line. A single order that hosts show has none: it ends at once, and its end is
 * reported with the same figures.
 */
export function isFillTold(
  { attempts }: IntentState,
  { evidence }: { readonly evidence?: Evidence },
): boolean {
  const children = attempts.at(-1)?.children ?? []
  return children.length > 1 || evidence?.level === 'chain-latest' || evidence?.level === 'chain-final'
}
