/** Order events of a look as an order's story takes them: with the figures of those that ended, from the receipts of their transactions. */
import { defined } from '../base/defined.ts'
import type { AttemptQuery } from '../domain/machine/chainReader.ts'
import type { OrderLog } from '../domain/machine/chainView.ts'
import type { BlockRef } from '../domain/order/intent.ts'
import type { EndpointOptions } from './endpointTypes.ts'
import { cancelSettlementOf, type Execution, executionOf, settlementOf } from './logs/executionLogs.ts'
import type { OrderEvent } from './logs/orderLogs.ts'
import { createBoundedMap } from './node/boundedMap.ts'
import type { ChainNode } from './node/node.ts'
import { unreadable } from './wire/jsonRpc.ts'

const EXECUTIONS_KEPT = 20_000

/** Reads the figures of ended orders once, and remembers them. */
export interface OrderLogReader {
  /** Reads the ends among events; rejects with BaseError where the endpoint has no receipt of one, or an unreadable one. */
  readEnds(events: readonly OrderEvent[], signal: AbortSignal): Promise<void>
  /**
   * Makes the log of an event whose end, if it is one, was read. `boughtAt` is the contract price of the native token that the message's fee bought, where
   * it is known. Throws BaseError RPC_UNREADABLE where the block is another than the event's.
   */
  logOf(
    event: OrderEvent,
    query: AttemptQuery,
    block: BlockRef | undefined,
    boughtAt: bigint | undefined,
  ): OrderLog
  /** Forgets all: what counted as final was not. */
  forget(): void
}

/** Makes a reader for one endpoint. */
export function createOrderLogReader(node: ChainNode, options: EndpointOptions): OrderLogReader {
  const executions = createBoundedMap<Execution>(EXECUTIONS_KEPT)
  return {
    async readEnds(events, signal) {
      const missing = events.filter((one) => isEnd(one) && executions.get(executionKey(one)) === undefined)
      const places = [
        ...new Map(missing.map((one) => [`${one.transactionHash}:${one.blockHash}`, one])).values(),
      ]
      const receipts = await node.receipts(places, signal)
      const byPlace = new Map(
        places.map((one, index) => [`${one.transactionHash}:${one.blockHash}`, receipts[index]]),
      )
      for (const event of missing) {
        const receipt = byPlace.get(`${event.transactionHash}:${event.blockHash}`)
        if (receipt === undefined) throw unreadable(node.name, 'it has no receipt for a log that it returned')
        try {
          const execution = executionOf(
            receipt.logs,
            options.eventEmitter,
            event.orderKey,
            options.markets,
            options.wrappedNative,
          )
          executions.set(executionKey(event), execution)
        } catch (error) {
          if (!(error instanceof RangeError)) throw error
          throw unreadable(node.name, error.message)
        }
      }
    },
    logOf(event, query, block, boughtAt) {
      if (block === undefined || block.number !== event.blockNumber) {
        throw unreadable(node.name, 'a log has another block number than its block')
      }
      const { orderKey, transactionHash, logIndex, created, reason } = event
      const execution = isEnd(event) ? executions.get(executionKey(event)) : undefined
      const at = { transactionHash, timestampSeconds: block.timestampSeconds }
      const settlement =
        execution === undefined || event.event === 'OrderExecuted'
          ? execution && settlementOf(execution, query, at, boughtAt)
          : cancelSettlementOf(execution, boughtAt)
      return {
        event: event.event,
        orderKey,
        transactionHash,
        block: refOf(block),
        logIndex,
        ...defined({ created, reason, settlement }),
      }
    },
    forget: () => executions.clear(),
  }
}

/** Judges whether an event ends its order. */
function isEnd({ event }: OrderEvent): boolean {
  return event === 'OrderExecuted' || event === 'OrderCancelled'
}

function executionKey({ orderKey, transactionHash, blockHash }: OrderEvent): string {
  return `${orderKey}:${transactionHash}:${blockHash}`
}

/** Returns the place of a block. */
export function refOf({ number, hash, timestampSeconds }: BlockRef): BlockRef {
  return { number, hash, timestampSeconds }
}
