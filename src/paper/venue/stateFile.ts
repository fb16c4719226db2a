/** The venue on disk between runs: one JSON file, replaced whole, so that a crash leaves the old or the new one. */
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { BaseError } from '../../base/errors.ts'
import type { Address } from '../../protocol/address.ts'
import type { Chain } from '../../protocol/chains/chain.ts'
import { restoreBlockChain, type SavedBlockChain, savedBlockChain } from '../chain/chainMemory.ts'
import type { MarketState } from '../math/marketState.ts'
import type { SubmitEntry } from '../state/submitRecord.ts'
import type {
  Account,
  DueWork,
  Operation,
  OrderOutcome,
  OrderRecord,
  PooledTransaction,
  PositionRecord,
  SubaccountState,
  TradeRow,
  Withdrawal,
} from '../state/venueRecords.ts'
import { restoreLedger, type SavedLedger, saveLedger } from './ledgerFile.ts'
import { keepRecord, type OrderChainRecord } from './peer.ts'
import { decodeState, encodeState } from './stateLog.ts'
import type { VenueParts } from './venueParts.ts'
import { writeWhole } from './wholeFile.ts'

const STATE_VERSION = 1

/** What the file holds. Maps are lists of pairs; bigints are `{"$bigint":"..."}`. */
interface SavedState {
  readonly version: number
  readonly chain: string
  readonly seed: number
  readonly epochSeconds: number
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
  readonly operations: readonly Operation[]
  readonly subaccounts?: readonly (readonly [string, SubaccountState])[]
  readonly approvalNonces?: readonly (readonly [string, bigint])[]
  readonly withdrawals?: readonly (readonly [string, Withdrawal])[]
  readonly gmxAccounts?: readonly (readonly [string, bigint])[]
  readonly usedDigests: readonly string[]
  /** The chain's newest transactions; absent in files of before. */
  readonly blockChain?: SavedBlockChain
  /** What accounts sent and no block has taken yet, and what they left with contracts; absent in files of before. */
  readonly mempool?: readonly PooledTransaction[]
  readonly contractHoldings?: readonly (readonly [string, bigint])[]
  readonly trades: readonly TradeRow[]
  readonly due: readonly DueWork[]
  readonly peers: readonly { readonly host: string; readonly records: readonly OrderChainRecord[] }[]
  readonly record: readonly SubmitEntry[]
  /** Absent in files written before the venue kept books. */
  readonly ledger?: SavedLedger
}

/** A saved venue: where its prices begin, and how to put the rest back into a fresh venue. */
export interface LoadedState {
  readonly seed: number
  readonly epochSeconds: number
  /** How far its time had come, Unix seconds. */
  readonly advancedToSeconds: number
  restore(venue: VenueParts): void
}

function unreadable(path: string, why: string, cause?: unknown): BaseError {
  return new BaseError(`The paper venue's state file cannot be read: ${why}.`, {
    code: 'PAPER_STATE_UNREADABLE',
    facts: { path },
    details: 'Nothing was changed. Move the file away to begin a new paper venue, or restore it from a copy.',
    ...(cause === undefined ? {} : { cause }),
  })
}

/** Reads a state file; undefined when there is none yet. Throws BaseError PAPER_STATE_UNREADABLE. */
export function loadState(path: string, chain: Chain): LoadedState | undefined {
  const saved = readState(path)
  if (saved === undefined) return undefined
  if (saved.chain !== chain.name)
    throw unreadable(path, `it is the state of ${saved.chain}, not of ${chain.name}`)
  return {
    seed: saved.seed,
    epochSeconds: saved.epochSeconds,
    advancedToSeconds: saved.advancedToSeconds,
    restore: (venue) => {
      restore(saved, venue)
      if (saved.ledger !== undefined) restoreLedger(path, venue.venueState, saved.ledger)
    },
  }
}

/** Where the prices of a state file begin; undefined when there is no file yet. Throws BaseError PAPER_STATE_UNREADABLE. */
export function savedStart(
  path: string,
): { readonly seed: number; readonly epochSeconds: number } | undefined {
  return readState(path)
}

function readState(path: string): SavedState | undefined {
  if (!existsSync(path)) return undefined
  let saved: SavedState
  try {
    saved = decodeState(readFileSync(path, 'utf8')) as SavedState
  } catch (cause) {
    throw unreadable(path, 'it is not JSON', cause)
  }
  if (saved.version !== STATE_VERSION) throw unreadable(path, `its version is ${String(saved.version)}`)
  return saved
}

function restore(saved: SavedState, { venueState, peers, record }: VenueParts): void {
  venueState.advancedToSeconds = saved.advancedToSeconds
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
      ...(nonce === undefined ? {} : { nonce }),
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
  for (const operation of saved.operations) venueState.operations.set(operation.taskId, operation)
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
}

/** Writes the state beside the file, forces it to disk, and renames it into place. Throws what the file system throws. */
export function saveState(path: string, { venueState, peers, record }: VenueParts): void {
  mkdirSync(dirname(path), { recursive: true })
  const saved: SavedState = {
    version: STATE_VERSION,
    chain: venueState.chain.name,
    seed: venueState.seed,
    epochSeconds: venueState.epochSeconds,
    advancedToSeconds: venueState.advancedToSeconds,
    counters: venueState.counters,
    markets: venueState.markets.map((market) => [market.key, market.state]),
    accounts: [...venueState.accounts.values()].map((account) => ({
      address: account.address,
      balances: [...account.balances],
      allowances: [...account.allowances],
      claimableFunding: [...account.claimableFunding],
      claimableCollateral: [...account.claimableCollateral],
      ...(account.nonce === undefined ? {} : { nonce: account.nonce }),
    })),
    positions: [...venueState.positions.values()],
    orders: [...venueState.orders.values()],
    outcomes: [...venueState.outcomes],
    operations: [...venueState.operations.values()],
    subaccounts: [...venueState.subaccounts],
    approvalNonces: [...venueState.approvalNonces],
    withdrawals: [...venueState.withdrawals],
    gmxAccounts: [...venueState.gmxAccounts],
    usedDigests: [...venueState.usedDigests],
    blockChain: savedBlockChain(venueState.blockChain, (account) =>
      venueState.traders.has(account as Address),
    ),
    mempool: [...venueState.mempool.values()],
    contractHoldings: [...venueState.contractHoldings],
    trades: venueState.trades,
    due: venueState.due,
    peers: peers.map((peer) => ({ host: peer.host, records: [...peer.byRequestId.values()] })),
    record,
    ledger: saveLedger(path, venueState),
  }
  writeWhole(path, encodeState(saved))
}
