/** Filters that a client polls: new blocks, logs and transactions since it asked last. Those that nobody asks for are forgotten. */

import { isObject } from '../../base/isObject.ts'
import type { Hex } from '../../protocol/address.ts'
import { blockHash } from '../blocks/blockChain.ts'
import { invalidParams, RpcError, rpcCodes } from '../blocks/rpcError.ts'
import { presentOf } from '../state/rpcEndpoints.ts'
import type { VenueState } from '../state/venueState.ts'
import { sentAfter } from '../transactions/transactionPool.ts'
import { canonical } from './rpcBlocks.ts'
import { getLogs, logsBetween, lostLogs } from './rpcLogs.ts'
import { headOf, logTestOf, readLogFilter } from './rpcParams.ts'

/** A method: parameters in, result out. Throws RpcError. */
export type RpcMethod = (venueState: VenueState, params: readonly unknown[]) => unknown

/** Most filters at once; one more makes the oldest go. */
const MAX_FILTERS = 1_000
/** Lifetime of a filter that nobody polls, ms. */
const LIFETIME_MS = 300_000
const MAX_RESULTS = 10_000

interface Filter {
  readonly kind: 'logs' | 'blocks' | 'pending'
  readonly wanted: Readonly<Record<string, unknown>>
  /** Progress already reported: blocks up to this number, reorganisations and sent transactions up to these counts. */
  told: number
  view: number
  seen: number
  askedAtMs: number
}

interface Filters {
  readonly byId: Map<string, Filter>
  made: number
}

const kept = new WeakMap<VenueState, Filters>()

function filtersOf(venueState: VenueState): Filters {
  const present = presentOf(venueState)
  const filters = kept.get(present) ?? { byId: new Map(), made: 0 }
  kept.set(present, filters)
  const nowMs = venueState.clock.now()
  for (const [id, { askedAtMs }] of filters.byId) if (nowMs - askedAtMs > LIFETIME_MS) filters.byId.delete(id)
  return filters
}

function make(venueState: VenueState, kind: Filter['kind'], wanted: Filter['wanted'] = {}): Hex {
  const filters = filtersOf(venueState)
  const [oldest] = filters.byId.keys()
  if (filters.byId.size >= MAX_FILTERS && oldest !== undefined) filters.byId.delete(oldest)
  filters.made += 1
  const id: Hex = `0x${filters.made.toString(16)}`
  filters.byId.set(id, {
    ...{ kind, wanted },
    told: headOf(venueState),
    view: venueState.blockChain.reorgs.length,
    seen: sentAfter(presentOf(venueState), 0).count,
    askedAtMs: venueState.clock.now(),
  })
  return id
}

function filterOf(venueState: VenueState, id: unknown): Filter {
  const filter = filtersOf(venueState).byId.get(String(id))
  if (filter === undefined) throw new RpcError(rpcCodes.invalidInput, 'filter not found')
  filter.askedAtMs = venueState.clock.now()
  return filter
}

function changesOf(venueState: VenueState, filter: Filter): readonly unknown[] {
  if (filter.kind === 'pending') {
    const { count, sent } = sentAfter(presentOf(venueState), filter.seen)
    filter.seen = count
    return sent.map(({ hash }) => hash)
  }
  const { blockChain } = venueState
  const test = logTestOf(readLogFilter(filter.wanted))
  const found: unknown[] = []
  for (; filter.view < blockChain.reorgs.length; filter.view += 1) {
    if (filter.kind === 'logs')
      found.push(...lostLogs(venueState, blockChain.lost.get(filter.view + 1) ?? [], filter.told, test))
    filter.told = Math.min(filter.told, (blockChain.reorgs[filter.view]?.first ?? filter.told + 1) - 1)
  }
  const head = headOf(venueState)
  if (filter.kind === 'logs' && head > filter.told)
    found.push(...logsBetween(venueState, filter.told + 1, head, test, MAX_RESULTS))
  if (filter.kind === 'blocks') {
    for (let number = Math.max(filter.told + 1, head - MAX_RESULTS + 1); number <= head; number += 1)
      found.push(blockHash(blockChain, canonical(blockChain, number)))
  }
  filter.told = Math.max(filter.told, head)
  return found
}

/** The methods, by name. */
export const filterMethods: Readonly<Record<string, RpcMethod>> = {
  eth_newFilter: (venueState, [wanted = {}]) => {
    if (!isObject(wanted)) throw invalidParams('invalid argument: the filter must be an object')
    readLogFilter(wanted)
    return make(venueState, 'logs', wanted)
  },
  eth_newBlockFilter: (venueState) => make(venueState, 'blocks'),
  eth_newPendingTransactionFilter: (venueState) => make(venueState, 'pending'),
  eth_getFilterChanges: (venueState, [id]) => changesOf(venueState, filterOf(venueState, id)),
  eth_getFilterLogs: (venueState, [id]) => {
    const { kind, wanted } = filterOf(venueState, id)
    if (kind !== 'logs') throw new RpcError(rpcCodes.invalidInput, 'filter not found')
    return getLogs(venueState, wanted)
  },
  eth_uninstallFilter: (venueState, [id]) => filtersOf(venueState).byId.delete(String(id)),
}
