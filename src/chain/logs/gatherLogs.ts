/**
 * Questions for logs of several accounts, asked together: readers that run side by side wait for each other, and what they ask up to one block goes out as
 * one question. So a look costs the endpoint the same for a hundred accounts as for one.
 */
import { BaseError } from '../../base/errors.ts'
import type { Address, Hex } from '../../protocol/address.ts'
import type { LogRow } from '../node/blockRows.ts'
import type { ChainNode } from '../node/node.ts'
import { unreadable } from '../wire/jsonRpc.ts'
import { addressTopic, orderTopics } from './orderLogs.ts'

/** A range of blocks of one account, both ends in it. */
export interface LogsQuestion {
  readonly account: Address
  readonly from: bigint
  readonly to: bigint
}

/** Asks for the order events of an account; rejects as the endpoint's questions do. */
export type AskLogs = (question: LogsQuestion) => Promise<readonly LogRow[]>

/** Runs readers side by side, each with its own way to ask; resolves when all are done. */
export type GatherLogs = <T>(
  readers: readonly ((ask: AskLogs) => Promise<T>)[],
  signal: AbortSignal,
) => Promise<readonly PromiseSettledResult<T>[]>

/** Most accounts of one question. */
export const MOST_ACCOUNTS = 100
/** Questions that go out one by one after an endpoint did not answer one for several accounts, before that is tried again. */
const ALONE_AFTER_REFUSAL = 200

interface Waiting extends LogsQuestion {
  readonly settle: PromiseWithResolvers<readonly LogRow[]>
}

/** Makes it for one endpoint, which is asked for events of `emitter`. */
export function createGatherLogs(node: ChainNode, emitter: Address): GatherLogs {
  let aloneLeft = 0

  async function one({ account, from, to }: LogsQuestion, signal: AbortSignal): Promise<readonly LogRow[]> {
    return await node.logs({ address: emitter, topics: orderTopics(account), from, to }, signal)
  }

  /** Answers a group of questions up to the same block. */
  async function answer(group: readonly Waiting[], signal: AbortSignal): Promise<void> {
    const [first] = group
    if (first === undefined) return
    if (group.length > 1 && aloneLeft === 0) {
      try {
        const from = group.reduce((least, each) => (each.from < least ? each.from : least), first.from)
        const topics = orderTopics(first.account, ...group.slice(1).map(({ account }) => account))
        const rows = await node.logs({ address: emitter, topics, from, to: first.to }, signal)
        const byTopic = Map.groupBy(rows, (row) => row.topics[3] ?? '0x')
        const asked = new Set<Hex>(group.map(({ account }) => addressTopic(account)))
        if ([...byTopic.keys()].some((topic) => !asked.has(topic)))
          throw unreadable(node.name, 'a log was not asked for')
        for (const each of group) {
          const own = byTopic.get(addressTopic(each.account)) ?? []
          each.settle.resolve(own.filter(({ blockNumber }) => blockNumber >= each.from))
        }
        return
      } catch (error) {
        // It may limit accounts or results of a question: each account may be answered by itself.
        const isOfQuestion =
          error instanceof BaseError && (error.code === 'RPC_REFUSED' || error.code === 'RPC_UNREADABLE')
        if (!isOfQuestion) {
          for (const { settle } of group) settle.reject(error)
          return
        }
        aloneLeft = ALONE_AFTER_REFUSAL
      }
    }
    for (const each of group) {
      aloneLeft = Math.max(0, aloneLeft - 1)
      await one(each, signal).then(each.settle.resolve, each.settle.reject)
    }
  }

  return async (readers, signal) => {
    let running = readers.length
    let waiting: Waiting[] = []
    /** Sends what is waited for, once every reader that still runs waits. */
    function send(): void {
      if (waiting.length === 0 || waiting.length < running) return
      const together = waiting
      waiting = []
      for (const group of Map.groupBy(together, ({ to }) => to).values())
        for (let at = 0; at < group.length; at += MOST_ACCOUNTS)
          void answer(group.slice(at, at + MOST_ACCOUNTS), signal)
    }
    const ask: AskLogs = (question) => {
      const settle = Promise.withResolvers<readonly LogRow[]>()
      waiting.push({ ...question, settle })
      send()
      return settle.promise
    }
    return await Promise.allSettled(
      readers.map(async (read) => {
        try {
          return await read(ask)
        } finally {
          running -= 1
          send()
        }
      }),
    )
  }
}
