/** A past of the modelled chain that is made by chance, and the product's reader over it: for tests of the reader alone. */

import { createTimeline, processClock, type Timeline } from '../../src/backtest/lab/timeline.ts'
import { connectChain } from '../../src/chain/connectEndpoints.ts'
import type { Event } from '../../src/domain/event.ts'
import type {
  AttemptQuery,
  PositionChange,
  PositionChangeQuery,
} from '../../src/domain/machine/chainReader.ts'
import type { ChainView } from '../../src/domain/machine/chainView.ts'
import type { BlockRef } from '../../src/domain/order/intent.ts'
import type { Address, Hex } from '../../src/protocol/address.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { usd } from '../../src/protocol/units.ts'
import { type Message, ModelChain, type OrderSpec, type Tx } from './chainModel.ts'
import type { Endpoint, Illness } from './endpoints.ts'
import { chooseFaults } from './faults.ts'
import { markets } from './intentsOf.ts'
import { type Random, randomOf } from './random.ts'
import { createRpcFetch, endpointUrl, rpcChain } from './rpcFetch.ts'

/** The account of every past. */
export const account: Address = '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A'

/** A chain with a past, and what may be asked about it. */
export class Past {
  readonly chain: ModelChain
  readonly timeline: Timeline = createTimeline()
  readonly messages: Message[] = []
  readonly #random: Random

  constructor(seed: number) {
    this.#random = randomOf(seed, 'past')
    this.chain = new ModelChain(randomOf(seed, 'chain'), { finalityMs: 20_000, skewMs: 0 })
  }

  wait(ms: number): void {
    this.timeline.after(ms, () => {})
    this.timeline.runNext(Number.POSITIVE_INFINITY)
  }

  #spec(): OrderSpec {
    const random = this.#random
    return {
      role: 'main',
      orderType: random.pick([0, 2, 3, 4, 5, 6, 8]),
      marketToken: random.pick(markets).toLowerCase() as Hex,
      direction: random.pick(['long', 'short'] as const),
      sizeDeltaUsd: usd(random.int(1, 9_999)),
      adds: false,
    }
  }

  #message(): Message {
    const random = this.#random
    const open = [...this.chain.canonical.orders.values()].filter(({ state }) => state === 'open')
    const changed = open.length > 0 && random.chance(0.3) ? [random.pick(open).orderKey] : []
    const message: Message = {
      digest: random.hex(32),
      signature: random.hex(65),
      deadlineSeconds: this.chain.timeAt(this.timeline.nowMs) + random.int(60, 3_600),
      // As of hosts that count seconds: it stands in other messages too.
      userNonce: BigInt(this.chain.timeAt(this.timeline.nowMs)),
      intentId: `intent ${this.messages.length}`,
      creates: Array.from({ length: random.int(changed.length === 0 ? 1 : 0, 3) }, () => this.#spec()),
      changes: changed.map((orderKey) => ({
        orderKey,
        event: random.pick(['OrderUpdated', 'OrderCancelled'] as const),
      })),
      revertsLeft: random.chance(0.1) ? 1 : 0,
    }
    this.messages.push(message)
    return message
  }

  #transaction(): Tx {
    const random = this.#random
    const hash = this.chain.freshHash()
    const showsSignature = random.chance(0.7)
    const open = [...this.chain.canonical.orders.values()].filter(({ state }) => state === 'open')
    const known = this.messages.length === 0 ? this.#message() : random.pick(this.messages)
    const { digest, deadlineSeconds, userNonce } = random.chance(0.5) ? known : this.#message()
    switch (random.int(0, 9)) {
      case 0:
        return { hash, action: { kind: 'foreign', digest, deadlineSeconds, userNonce } }
      case 1:
        return { hash, action: { kind: 'manual', spec: this.#spec() } }
      case 2: {
        const messages = [this.#message(), known, this.#message()]
        return { hash, action: { kind: 'bundle', messages, showsSignature } }
      }
      case 3:
      case 4:
      case 5:
        if (open.length > 0) {
          const { orderKey } = random.pick(open)
          const event = random.pick(['OrderExecuted', 'OrderCancelled', 'OrderFrozen'] as const)
          return {
            hash,
            action: {
              kind: 'keeper',
              orderKey,
              event,
              reason: event === 'OrderExecuted' ? '' : 'EmptyPosition',
            },
          }
        }
        return { hash, action: { kind: 'manual', spec: this.#spec() } }
      default: {
        const message = random.chance(0.8) ? this.#message() : known
        return { hash, action: { kind: 'batch', message, showsSignature } }
      }
    }
  }

  /** Something happens; the time moves on. */
  happen(): void {
    const random = this.#random
    this.wait(random.int(100, 6_000))
    const nowMs = this.timeline.nowMs
    if (random.chance(0.15)) {
      const gone = this.chain.reorganise(nowMs, random.int(1, 8), random.pick([0, 0.5, 1]))
      for (const tx of gone) if (random.chance(0.5)) this.chain.mine(nowMs, [tx])
    } else if (random.chance(0.8)) this.chain.mine(nowMs, [this.#transaction()])
    else this.chain.mine(nowMs, [])
  }

  /** Mines transactions now, in one block. */
  mine(...actions: readonly Tx['action'][]): void {
    const txs = actions.map((action) => ({ hash: this.chain.freshHash(), action }))
    this.chain.mine(this.timeline.nowMs, txs)
  }

  /** A message that creates one market order. */
  order(): Message {
    return { ...this.#message(), creates: [{ ...this.#spec(), orderType: 2 }], changes: [], revertsLeft: 0 }
  }

  /** Nothing happens, for so many blocks of three seconds. */
  pass(blocks: number): void {
    for (let left = blocks; left > 0; left -= 1) {
      this.wait(3_000)
      this.chain.mine(this.timeline.nowMs, [])
    }
  }

  /** How an endpoint is ill next; undefined: it is well. */
  illness(): Illness | undefined {
    const random = this.#random
    const branch = this.chain.left.at(-1)
    const kinds: readonly (Illness | undefined)[] = [
      undefined,
      undefined,
      { kind: 'lag', blocks: random.int(1, 12) },
      branch === undefined ? undefined : { kind: 'fork', branch },
      { kind: 'error' },
    ]
    return random.pick(kinds)
  }

  /** What is asked of a message by whoever knows nothing but what was signed. */
  queryOf({ digest, signature, deadlineSeconds, userNonce }: Message): AttemptQuery {
    return {
      account,
      router: arbitrum.contracts.gelatoRelayRouter,
      digest,
      signature,
      fromBlock: 0n,
      deadlineSeconds,
      userNonce,
      orderKeys: [],
      transactionHashes: [],
      marketToken: markets[0] as Hex,
      indexTokenDecimals: 18,
    }
  }

  /** What is asked of the newest messages, with and without what hosts may have told. */
  queries(): readonly AttemptQuery[] {
    const random = this.#random
    return this.messages.slice(-8).map((message): AttemptQuery => {
      const { fromBlock: _none, ...query } = this.queryOf(message)
      const use = this.chain.canonical.uses.get(message.digest)
      return {
        ...query,
        orderKeys: use !== undefined && random.chance(0.3) ? use.orderKeys : [],
        transactionHashes: use !== undefined && random.chance(0.3) ? [use.transactionHash] : [],
        ...(random.chance(0.9) ? { fromBlock: 0n } : {}),
      }
    })
  }
}

/** A reader of a past's endpoints, for which the chain stands still while it looks. */
export interface PastReader {
  /** What it told of itself. */
  readonly events: readonly Event[]
  look(queries: readonly AttemptQuery[]): Promise<readonly ChainView[]>
  latest(): Promise<readonly BlockRef[]>
  positionChange(query: PositionChangeQuery): Promise<PositionChange | 'none' | undefined>
}

/** Makes the product's reader over the endpoints of a past; `edit` may change an answer on its way. */
export function readerOf(
  history: Past,
  endpoints: readonly Endpoint[],
  seed: number,
  edit: (url: string, body: string, text: string) => string = (_url, _body, text) => text,
): PastReader {
  const random = randomOf(seed, 'reader')
  const clock = processClock(
    history.timeline,
    () => true,
    () => 0,
  )
  const events: Event[] = []
  let nowMs = 0
  const timeline = {
    get nowMs() {
      return nowMs
    },
    after(_ms: number, run: () => void) {
      queueMicrotask(run)
      return () => {}
    },
  } as Timeline
  const parts = {
    chain: history.chain,
    endpoints,
    faults: chooseFaults(random, true, new Set()),
    process: { epoch: 1, isAlive: true },
    random,
    timeline,
  }
  const fetch = createRpcFetch(parts, account)
  const reader = connectChain({
    ...rpcChain,
    http: endpoints.map(endpointUrl),
    ws: [],
    clock,
    emit: (event) => void events.push(event),
    fetch: async (url, init) => {
      const { status, text } = await fetch(url, init)
      const edited = edit(url, init.body, await text())
      return { status, text: async () => edited }
    },
  })
  /** Waits; time passes only for what never comes. */
  async function settled<T>(work: Promise<T>): Promise<T> {
    let isDone = false
    void work.finally(() => {
      isDone = true
    })
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve))
      if (isDone) return work
      history.timeline.runNext(Number.POSITIVE_INFINITY)
    }
  }
  return {
    events,
    look: (queries: readonly AttemptQuery[]) => {
      nowMs = history.timeline.nowMs
      return settled(reader.poll(queries))
    },
    latest: async () => (await settled(reader.latestBlocks())).map(({ block }) => block),
    positionChange(query) {
      nowMs = history.timeline.nowMs
      return settled(reader.positionChange?.(query) ?? Promise.resolve(undefined))
    },
  }
}
