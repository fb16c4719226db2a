/**
 * Wallet balances at past blocks, for contract reads as of a block. Each wallet keeps the states before its newest changes; those of the simulated
 * population are not kept. A read older than all of them returns the oldest, like a node that pruned the rest. A reorganisation takes no balance
 * back: the application has already reported it.
 */
import { type Address, hexKey } from '../../protocol/address.ts'
import { blockNumberAt, type Inclusion } from '../blocks/blockChain.ts'
import { startBalances } from './accounts.ts'
import { presentOf } from './rpcEndpoints.ts'
import type { VenueState } from './venueState.ts'

/** Changes of a wallet that are remembered. */
const MAX_CHANGES = 256
/** Wallets whose changes are remembered; the first to change go first. */
const MAX_WALLETS = 2000

/** Balances and allowances by lower-case token, token units. */
export interface Holdings {
  readonly balances: ReadonlyMap<string, bigint>
  /** Absent: what a new account allows. */
  readonly allowances: ReadonlyMap<string, bigint>
}

interface Change extends Holdings {
  /** Block in which this state ended. */
  readonly before: number
}

const memory = new WeakMap<VenueState, Map<string, Change[]>>()

function changesOf(venueState: VenueState): Map<string, Change[]> {
  let changes = memory.get(venueState)
  if (changes === undefined) {
    changes = new Map()
    memory.set(venueState, changes)
  }
  return changes
}

/** Remembers what a wallet holds, before it changes at a moment (Unix ms). */
export function rememberHoldings(venueState: VenueState, address: Address, atMs: number): void {
  if (venueState.traders.has(address)) return
  const all = changesOf(venueState)
  const key = hexKey(address)
  const changes = all.get(key) ?? []
  const before = blockNumberAt(venueState.blockChain, atMs)
  if (changes.at(-1)?.before === before) return
  const { balances, allowances } = current(venueState, key)
  changes.push({ before, balances: new Map(balances), allowances: new Map(allowances) })
  if (changes.length > MAX_CHANGES) changes.shift()
  all.set(key, changes)
  for (const oldest of all.keys()) {
    if (all.size <= MAX_WALLETS) break
    all.delete(oldest)
  }
}

function current(venueState: VenueState, key: string): Holdings {
  const account = venueState.accounts.get(key)
  return {
    balances: account?.balances ?? startBalances(venueState),
    allowances: account?.allowances ?? new Map(),
  }
}

/** Returns an address's balances at the end of a block, without creating an account for it. */
export function holdingsAt(view: VenueState, address: string, block: Inclusion): Holdings {
  const venueState = presentOf(view)
  const key = hexKey(address)
  const then = changesOf(venueState)
    .get(key)
    ?.find(({ before }) => before > block.number)
  return then ?? current(venueState, key)
}
