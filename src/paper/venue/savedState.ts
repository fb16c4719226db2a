/**
 * The content of a venue's state file: taken at one moment, with copied records wherever the venue changes them in place, so that
 * what is taken stays as it is while the venue continues and the text is made in slices.
 */
import { defined } from '../../base/defined.ts'
import type { Address } from '../../protocol/address.ts'
import { restoreBlockChain, type SavedBlockChain, savedBlockChain } from '../blocks/chainMemory.ts'
import { cloneMarket, type MarketState } from '../math/marketState.ts'
import type { SubmitEntry } from '../state/submitRecord.ts'
import type {
  Account,
  DueWork,
  OrderOutcome,
  OrderRecord,
  PooledTransaction,
  PositionRecord,
  SubaccountState,
  TradeRow,
  Withdrawal,
} from '../state/venueRecords.ts'
import { type SavedLedger, takeLedger } from './ledgerFile.ts'
import { keepRecord, type OrderChainRecord } from './peer.ts'
import type { VenueParts } from './venueParts.ts'
import { readOperation, type WrittenOperation, writtenOperation } from './writtenOperation.ts'

/** Version of what is written. */
export const STATE_VERSION = 1

/** The content of the file. Maps are lists of pairs; bigints are `{"$bigint":"..."}`. */
export interface SavedState {
  readonly version: number
  /** Part of the log that begins where this state was taken; absent in files of before: the first. */
  readonly logPart?: number
  readonly chain: string
  readonly seed: number
  readonly epochSeconds: number
  /** Full symbols of the only markets that it has; empty: all. */
  readonly onlyMarkets: readonly string[]
  readonly advancedToSeconds: number
  readonly counters: VenueParts['venueState']['counters']
  readonly markets: readonly (readonly [string, MarketState])[]
  readonly accounts: readonly {
    readonly address: Account['address']
    readonly balances: readonly (readonly [string, bigint])[]
    readonly allowances?: readonly (readonly [string, bigint])[]
    readonly claimableFunding: readonly (readonly [string, bigint])[]
    readonly claimableCollateral: readonly (readonly [string, bigint])[]
    readonly nonce?: number
  }[]
  readonly positions: readonly PositionRecord[]
  readonly orders: readonly OrderRecord[]
  readonly outcomes: readonly (readonly [string, OrderOutcome])[]
  readonly operations: readonly WrittenOperation[]
  readonly subaccounts?: readonly (readonly [string, SubaccountState])[]
  readonly approvalNonces?: readonly (readonly [string, bigint])[]
  readonly withdrawals?: readonly (readonly [string, Withdrawal])[]
  readonly gmxAccounts?: readonly (readonly [string, bigint])[]
  readonly usedDigests: readonly string[]
  /** The chain's newest transactions; absent in files of before. */
  readonly blockChain?: SavedBlockChain
  /** Transactions that no block has taken yet, and amounts that accounts left with contracts; absent in files of before. */
  readonly mempool?: readonly PooledTransaction[]
  readonly contractHoldings?: readonly (readonly [string, bigint])[]
  readonly trades: readonly TradeRow[]
  readonly due: readonly DueWork[]
  readonly peers: readonly { readonly host: string; readonly records: readonly OrderChainRecord[] }[]
  readonly record: readonly SubmitEntry[]
  /** Absent in files written before the venue kept books. */
  readonly ledger?: SavedLedger
}

/** Takes the state of a venue. `logPart` is the part of the log that begins now. */
export function takeState({ venueState, peers, record }: VenueParts, logPart: number): SavedState {
  return {
    version: STATE_VERSION,
    logPart,
    chain: venueState.chain.name,
    seed: venueState.seed,
    epochSeconds: venueState.epochSeconds,
    onlyMarkets: venueState.settings.onlyMarkets,
    advancedToSeconds: venueState.advancedToSeconds,
    counters: { ...venueState.counters },
    markets: venueState.markets.map((market) => [market.key, cloneMarket(market.state)]),
    accounts: [...venueState.accounts.values()].map((account) => ({
      address: account.address,
      balances: [...account.balances],
      allowances: [...account.allowances],
      claimableFunding: [...account.claimableFunding],
      claimableCollateral: [...account.claimableCollateral],
      ...defined({ nonce: account.nonce }),
    })),
    positions: Array.from(venueState.positions.values(), (position) => ({
      ...position,
      state: { ...position.state, claimablePerSize: [...position.state.claimablePerSize] },
    })),
    orders: copies(venueState.orders.values()),
    outcomes: Array.from(venueState.outcomes, ([key, outcome]) => [key, { ...outcome }]),
    operations: Array.from(venueState.operations.values(), (one) => writtenOperation(one, peers)),
    subaccounts: Array.from(venueState.subaccounts, ([key, state]) => [key, { ...state }]),
    approvalNonces: [...venueState.approvalNonces],
    withdrawals: Array.from(venueState.withdrawals, ([key, withdrawal]) => [key, { ...withdrawal }]),
    gmxAccounts: [...venueState.gmxAccounts],
    usedDigests: [...venueState.usedDigests],
    blockChain: savedBlockChain(
      venueState.blockChain,
      (account) => venueState.traders.has(account as Address),
      venueState.settings.mostRequests,
    ),
    mempool: [...venueState.mempool.values()],
    contractHoldings: [...venueState.contractHoldings],
    trades: [...venueState.trades],
    due: [...venueState.due],
    peers: peers.map((peer) => ({ host: peer.host, records: copies(peer.byRequestId.values()) })),
    record: copies(record),
    ledger: takeLedger(venueState),
  }
}

function copies<T extends object>(records: Iterable<T>): T[] {
  return Array.from(records, (one) => ({ ...one }))
}

/** Puts a saved state back into a fresh venue. */
export function restoreState(saved: SavedState, { venueState, peers, record }: VenueParts): void {
  venueState.advancedToSeconds = saved.advancedToSeconds
  venueState.followedToSeconds = saved.advancedToSeconds
  Object.assign(venueState.counters, saved.counters)
  for (const [key, state] of saved.markets) {
    const market = venueState.marketByKey.get(key)
    // A file of before the swap impact pools leaves them as they are seeded.
    if (market !== undefined) market.state = { ...market.state, ...state }
  }
  for (const account of saved.accounts) {
    const { address, balances, allowances, claimableFunding, claimableCollateral, nonce } = account
    venueState.accounts.set(address.toLowerCase(), {
      address,
      ...defined({ nonce }),
      balances: new Map(balances),
      allowances: new Map(allowances),
      claimableFunding: new Map(claimableFunding),
      claimableCollateral: new Map(claimableCollateral),
    })
  }
  for (const position of saved.positions) {
    venueState.positions.set(position.contractKey, position)
    const account = position.account.toLowerCase()
    const keys = venueState.positionKeysByAccount.get(account) ?? new Set()
    venueState.positionKeysByAccount.set(account, keys.add(position.contractKey))
  }
  for (const order of saved.orders) venueState.orders.set(order.key.toLowerCase(), order)
  for (const [key, outcome] of saved.outcomes) venueState.outcomes.set(key, outcome)
  for (const [key, state] of saved.subaccounts ?? []) venueState.subaccounts.set(key, state)
  for (const [account, nonce] of saved.approvalNonces ?? []) venueState.approvalNonces.set(account, nonce)
  for (const [key, one] of saved.withdrawals ?? [])
    venueState.withdrawals.set(key, { ...one, taskId: one.taskId })
  for (const [key, balance] of saved.gmxAccounts ?? []) venueState.gmxAccounts.set(key, balance)
  for (const digest of saved.usedDigests) venueState.usedDigests.add(digest)
  if (saved.blockChain !== undefined) restoreBlockChain(venueState.blockChain, saved.blockChain)
  for (const pooled of saved.mempool ?? []) venueState.mempool.set(pooled.hash, pooled)
  for (const [key, amount] of saved.contractHoldings ?? []) venueState.contractHoldings.set(key, amount)
  venueState.trades.push(...saved.trades)
  venueState.due.push(...saved.due)
  record.push(...saved.record)
  for (const { host, records } of saved.peers) {
    const peer = peers.find((one) => one.host === host)
    if (peer !== undefined) for (const one of records) keepRecord(peer, { ...one, taskId: one.taskId })
  }
  for (const one of saved.operations) venueState.operations.set(one.taskId, readOperation(one, peers))
}
