/** Order events of all accounts at one endpoint: each with a memory of its own, read side by side. */
import { BaseError } from '../../base/errors.ts'
import { type Address, hexKey } from '../../protocol/address.ts'
import type { ChainNode, Heads } from '../node/node.ts'
import { type AccountLogs, createAccountLogs } from './accountLogs.ts'
import { createGatherLogs } from './gatherLogs.ts'
import type { OrderEvent } from './orderLogs.ts'

/** Time after which the events of an account that nobody asks about are dropped, seconds of the chain's time. */
const UNASKED_SECONDS = 3_600

/** The first block of interest of an account. */
export interface AskedAccount {
  readonly account: Address
  readonly from: bigint
}

/** Events of an account since its first block; undefined while its past is still being read; the fault that kept them from being read. */
export type AccountEvents = readonly OrderEvent[] | BaseError | undefined

/** The memories of an endpoint. */
export interface AccountsLogs {
  /** Reads the events of accounts, in their order. An account's fault is its own. */
  read(asked: readonly AskedAccount[], heads: Heads, signal: AbortSignal): Promise<readonly AccountEvents[]>
  /** Forgets an account's events: some were missing. */
  forget(account: Address): void
  /** Forgets all: what counted as final was not. */
  forgetAll(): void
}

/** Makes them. `maxSpan` is the widest range of one question, blocks. */
export function createAccountsLogs(node: ChainNode, emitter: Address, maxSpan: number): AccountsLogs {
  const kept = new Map<string, { readonly logs: AccountLogs; askedSeconds: number }>()
  const gather = createGatherLogs(node, emitter)

  function logsOf(account: Address, nowSeconds: number): AccountLogs {
    const key = hexKey(account)
    const known = kept.get(key)
    if (known !== undefined) {
      known.askedSeconds = nowSeconds
      return known.logs
    }
    const logs = createAccountLogs(node.name, emitter, account, maxSpan)
    kept.set(key, { logs, askedSeconds: nowSeconds })
    return logs
  }

  return {
    async read(asked, heads, signal) {
      const nowSeconds = heads.latest.timestampSeconds
      const memories = asked.map(({ account }) => logsOf(account, nowSeconds))
      for (const [key, { askedSeconds }] of kept)
        if (askedSeconds < nowSeconds - UNASKED_SECONDS) kept.delete(key)
      const found = await gather(
        asked.map(
          ({ from }, at) =>
            async (ask) =>
              await memories[at]?.read(from, heads, ask),
        ),
        signal,
      )
      return found.map((each) => {
        if (each.status === 'fulfilled') return each.value
        if (each.reason instanceof BaseError) return each.reason
        throw each.reason
      })
    },
    forget: (account) => kept.get(hexKey(account))?.logs.reset(),
    forgetAll() {
      for (const { logs } of kept.values()) logs.reset()
    },
  }
}
