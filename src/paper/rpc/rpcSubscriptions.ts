/** `eth_subscribe` of one connection: new heads and logs as blocks appear, and again when they are replaced; transactions as they are sent. */

import { isObject } from '../../base/isObject.ts'
import type { Hex } from '../../protocol/address.ts'
import type { LostTransaction } from '../blocks/blockChain.ts'
import { RpcError, rpcCodes } from '../blocks/rpcError.ts'
import { stringify } from '../http/http.ts'
import { presentOf } from '../state/rpcEndpoints.ts'
import { madeHash, type VenueState } from '../state/venueState.ts'
import { sentAfter } from '../transactions/transactionPool.ts'
import type { ConnectionMethods } from './jsonRpcServer.ts'
import { canonical, headerRow, type LogTest } from './rpcBlocks.ts'
import { logsBetween, lostLogs } from './rpcLogs.ts'
import { headOf, logTestOf, readLogFilter } from './rpcParams.ts'
import { signedRow } from './rpcSendRows.ts'

/** Most subscriptions of one connection. */
const MAX_SUBSCRIPTIONS = 100
/** Most new heads told at once; after a longer leap of the clock only the newest. */
const MAX_HEADS = 256

type Subscription =
  | { readonly kind: 'newHeads' }
  | { readonly kind: 'logs'; readonly test: LogTest }
  | { readonly kind: 'newPendingTransactions'; readonly isFull: boolean }

/** The subscriptions of a connection. */
export interface Subscriptions {
  readonly methods: ConnectionMethods
  /** Tells what has happened since the last time. The venue must have been brought to the present. */
  tell(): void
}

/** Subscriptions that write their notifications with `send`. */
export function createSubscriptions(venueState: VenueState, send: (text: string) => void): Subscriptions {
  const open = new Map<Hex, Subscription>()
  let told = headOf(venueState)
  let view = venueState.blockChain.reorgs.length
  let made = 0
  let seen = sentAfter(presentOf(venueState), 0).count

  const subscribe = (params: readonly unknown[]): Hex => {
    const [kind, filter] = params
    if (open.size >= MAX_SUBSCRIPTIONS) {
      throw new RpcError(
        rpcCodes.limitExceeded,
        `a connection has at most ${MAX_SUBSCRIPTIONS} subscriptions`,
      )
    }
    let subscription: Subscription
    if (kind === 'newHeads') subscription = { kind }
    else if (kind === 'newPendingTransactions') subscription = { kind, isFull: filter === true }
    else if (kind === 'logs') {
      const wanted = readLogFilter(isObject(filter) ? filter : {})
      subscription = { kind, test: logTestOf(wanted) }
    } else {
      throw new RpcError(rpcCodes.methodNotFound, `no "${String(kind)}" subscription in eth namespace`)
    }
    // The first subscription reports nothing that happened before it.
    if (open.size === 0) {
      told = headOf(venueState)
      view = venueState.blockChain.reorgs.length
      seen = sentAfter(presentOf(venueState), 0).count
    }
    made += 1
    const id: Hex = `0x${madeHash(venueState, 'subscription', made).slice(2, 34)}`
    open.set(id, subscription)
    return id
  }

  const notify = (id: Hex, result: unknown): void => {
    send(stringify({ jsonrpc: '2.0', method: 'eth_subscription', params: { subscription: id, result } }))
  }
  const logSubscriptions = (): [Hex, LogTest][] =>
    [...open].flatMap(([id, one]) => (one.kind === 'logs' ? [[id, one.test]] : []))

  /** Tells the logs of blocks that a reorganisation took away, newest block first. */
  const takeBack = (lost: readonly LostTransaction[]): void => {
    for (const [id, test] of logSubscriptions())
      for (const log of lostLogs(venueState, lost, told, test)) notify(id, log)
  }
  const tellPending = (): void => {
    const { count, sent } = sentAfter(presentOf(venueState), seen)
    seen = count
    const rows = { chain: venueState.chain, blocks: venueState.blockChain }
    for (const [id, one] of open) {
      if (one.kind !== 'newPendingTransactions') continue
      for (const each of sent)
        notify(id, one.isFull ? signedRow(rows, each, each.signed, undefined) : each.hash)
    }
  }

  return {
    methods: (name, params) => {
      if (name === 'eth_subscribe') return { result: subscribe(params) }
      if (name !== 'eth_unsubscribe') return undefined
      return { result: open.delete(String(params[0]) as Hex) }
    },
    tell: () => {
      const { reorgs, lost } = venueState.blockChain
      const head = headOf(venueState)
      tellPending()
      if (open.size > 0) {
        for (; view < reorgs.length; view += 1) {
          takeBack(lost.get(view + 1) ?? [])
          told = Math.min(told, (reorgs[view]?.first ?? told + 1) - 1)
        }
        if (told >= head) return
        const rows = { chain: venueState.chain, blocks: venueState.blockChain }
        const heads = [...open].filter(([, one]) => one.kind === 'newHeads')
        if (heads.length > 0) {
          for (let number = Math.max(told + 1, head - MAX_HEADS + 1); number <= head; number += 1) {
            const header = headerRow(rows, canonical(venueState.blockChain, number))
            for (const [id] of heads) notify(id, header)
          }
        }
        for (const [id, test] of logSubscriptions()) {
          for (const log of logsBetween(venueState, told + 1, head, test, Number.POSITIVE_INFINITY))
            notify(id, log)
        }
      }
      told = head
      view = reorgs.length
    },
  }
}
