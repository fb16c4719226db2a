/**
 * The chain as perpd sees it: every configured endpoint, asked side by side. What one endpoint says is never filled in for
 * another; one that does not answer is missing from the view, which holds open whatever needs the word of all.
 */

import type { Clock } from '../base/clock.ts'
import { defined } from '../base/defined.ts'
import { BaseError, reasonOf } from '../base/errors.ts'
import type { Emit } from '../domain/event.ts'
import type {
  AttemptQuery,
  ChainReader,
  EndpointBlock,
  PositionChange,
} from '../domain/machine/chainReader.ts'
import type { ChainView, EndpointView } from '../domain/machine/chainView.ts'
import type { BlockRef } from '../domain/order/intent.ts'
import { type Address, sameHex } from '../protocol/address.ts'
import type { Endpoint, EndpointPoll } from './endpointTypes.ts'
import type { RecentEvents } from './logs/recentEvents.ts'

/** First rest of an endpoint that failed, ms; doubles up to the longest. */
const FIRST_COOLDOWN_MS = 500
const LONGEST_COOLDOWN_MS = 15_000

/** Options of a reader. */
export interface ReaderOptions {
  readonly endpoints: readonly Endpoint[]
  readonly clock: Clock
  readonly emit: Emit
  /** Longest time of one look at one endpoint, ms; afterwards it did not answer. */
  readonly pollTimeoutMs: number
  /** Pushed heads, where an endpoint pushes them. */
  readonly onHead?: NonNullable<ChainReader['onHead']>
}

/** A chain reader with the endpoints' states. */
export interface EndpointsReader extends ChainReader {
  /**
   * Looks for events of orders of these accounts in the newest two minutes. Undefined unless every endpoint says so, and each was looked at for as long
   * before. Never rejects because of network faults.
   */
  recentEvents(accounts: readonly Address[]): Promise<RecentEvents | undefined>
  /**
   * Asks every endpoint which chain it serves. One that does not answer is told of by events and asked again later.
   *
   * @throws BaseError RPC_WRONG_CHAIN when one serves another chain
   */
  check(): Promise<void>
  close(): void
}

interface State {
  readonly endpoint: Endpoint
  cooldownUntilMs: number
  cooldownMs: number
}

/** Makes the reader. At least one endpoint. */
export function createChainReader(options: ReaderOptions): EndpointsReader {
  const { clock, emit, pollTimeoutMs } = options
  const states = options.endpoints.map((endpoint): State => ({ endpoint, cooldownUntilMs: 0, cooldownMs: 0 }))
  const closing = new AbortController()

  /** Runs work with a signal that ends it when the time of a look is over, or the reader closes. */
  async function timed<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const over = new AbortController()
    const timer = new AbortController()
    const abort = (): void => over.abort()
    closing.signal.addEventListener('abort', abort, { once: true })
    void clock.sleep(pollTimeoutMs, timer.signal).then(() => {
      if (!timer.signal.aborted) over.abort()
    })
    try {
      return await work(over.signal)
    } finally {
      // Without a reason one is made up, with a trace of the stack.
      timer.abort('answered')
      closing.signal.removeEventListener('abort', abort)
    }
  }

  /** Runs one question to an endpoint within the time of a look; undefined when it was not answered, which is reported. */
  async function within<T>(
    state: State,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<{ readonly value: T; readonly tookMs: number } | undefined> {
    const startedMs = clock.monotonicMs()
    if (startedMs < state.cooldownUntilMs || closing.signal.aborted) return undefined
    try {
      const value = await timed(work)
      state.cooldownMs = 0
      return { value, tookMs: clock.monotonicMs() - startedMs }
    } catch (error) {
      if (!(error instanceof BaseError)) throw error
      state.cooldownMs = Math.min(Math.max(FIRST_COOLDOWN_MS, state.cooldownMs * 2), LONGEST_COOLDOWN_MS)
      state.cooldownUntilMs = clock.monotonicMs() + state.cooldownMs
      if (!closing.signal.aborted) {
        emit({
          type: 'chain.read',
          endpoint: state.endpoint.name,
          durationMs: clock.monotonicMs() - startedMs,
          outcome: error.code,
          error: reasonOf(error),
        })
      }
      return undefined
    }
  }

  /** Asks one endpoint for data that is no evidence; undefined when it gives none, which does not affect its other responses. */
  async function aside<T>(
    { endpoint, cooldownUntilMs }: State,
    ask: (endpoint: Endpoint, signal: AbortSignal) => Promise<T>,
  ): Promise<T | undefined> {
    if (clock.monotonicMs() < cooldownUntilMs || closing.signal.aborted) return undefined
    try {
      return await timed((signal) => ask(endpoint, signal))
    } catch (error) {
      if (!(error instanceof BaseError)) throw error
      return undefined
    }
  }

  function report(
    { name }: Endpoint,
    { heads, views, trouble }: EndpointPoll,
    tookMs: number,
    newest: bigint,
  ): void {
    const { latest, final } = heads
    emit({
      type: 'chain.read',
      endpoint: name,
      durationMs: tookMs,
      outcome: views.length === 0 ? 'catching-up' : 'ok',
      latest: latest.number,
      final: final.number,
      lagBlocks: Number(newest - latest.number),
      latestAgeSeconds: clock.now() / 1000 - latest.timestampSeconds,
      ...defined({ error: trouble }),
    })
  }

  return {
    configured: states.length,
    async check() {
      const failures = await Promise.all(
        states.map(async (state) => {
          try {
            await within(state, async (signal) => {
              try {
                await state.endpoint.check(signal)
              } catch (error) {
                if (error instanceof BaseError && error.code === 'RPC_WRONG_CHAIN')
                  throw new WrongChain(error)
                throw error
              }
            })
            return undefined
          } catch (error) {
            if (error instanceof WrongChain) return error.fault
            throw error
          }
        }),
      )
      const wrong = failures.find((failure) => failure !== undefined)
      if (wrong !== undefined) throw wrong
    },
    async latestBlocks() {
      const found = await Promise.all(
        states.map(async (state): Promise<readonly EndpointBlock[]> => {
          const read = await within(state, (signal) => state.endpoint.latest(signal))
          if (read === undefined) return []
          return [{ endpoint: state.endpoint.name, block: read.value, readMs: clock.monotonicMs() }]
        }),
      )
      return found.flat()
    },
    async gasPrices() {
      const found = await Promise.all(
        states.map((state) => aside(state, (endpoint, signal) => endpoint.gasPrice(signal))),
      )
      return found.flatMap((price) => price ?? [])
    },
    async nativeBalances(account) {
      const found = await Promise.all(
        states.map((state) => aside(state, (endpoint, signal) => endpoint.nativeBalance(account, signal))),
      )
      return found.flatMap((balance) => balance ?? [])
    },
    async recentEvents(accounts) {
      const found = await Promise.all(
        states.map((state) => aside(state, (endpoint, signal) => endpoint.recentEvents(accounts, signal))),
      )
      const answered = found.filter((events) => events !== undefined)
      if (answered.length < states.length) return undefined
      return {
        throughSeconds: Math.min(...answered.map(({ throughSeconds }) => throughSeconds)),
        active: new Set(answered.flatMap(({ active }) => [...active])),
      }
    },
    async positionChange(query) {
      const found = await Promise.all(
        states.map(
          async (state) =>
            (await within(state, (signal) => state.endpoint.positionChange(query, signal)))?.value,
        ),
      )
      const [first, ...others] = found
      if (first === undefined) return undefined
      if (first === 'none') return others.every((other) => other === 'none') ? 'none' : undefined
      const isSame = (other: PositionChange | 'none' | undefined): boolean =>
        other !== undefined &&
        other !== 'none' &&
        sameHex(other.marketToken, first.marketToken) &&
        other.direction === first.direction &&
        other.isIncrease === first.isIncrease &&
        other.sizeDeltaUsd === first.sizeDeltaUsd &&
        other.pnlUsd === first.pnlUsd &&
        other.fundingReceivedUsd === first.fundingReceivedUsd &&
        other.orderType === first.orderType &&
        other.isDeleveraging === first.isDeleveraging
      return others.every(isSame) ? first : undefined
    },
    async poll(queries: readonly AttemptQuery[]): Promise<readonly ChainView[]> {
      if (queries.length === 0) return []
      const looks = await Promise.all(
        states.map((state) => within(state, (signal) => state.endpoint.poll(queries, signal))),
      )
      const answered = looks.flatMap((look) => (look === undefined ? [] : [look.value]))
      const newest = newestOf(answered.map(({ heads }) => heads.latest))?.number ?? 0n
      for (const [index, look] of looks.entries()) {
        const state = states[index]
        if (look !== undefined && state !== undefined) report(state.endpoint, look.value, look.tookMs, newest)
      }
      return queries.map((_query, index): ChainView => {
        const endpoints = answered.flatMap(({ views }): readonly EndpointView[] => {
          const view = views[index]
          return view === undefined ? [] : [view]
        })
        return { configured: states.length, endpoints }
      })
    },
    ...defined({ onHead: options.onHead }),
    close() {
      closing.abort()
      for (const { endpoint } of states) endpoint.close()
    },
  }
}

/** Carries a fault past the rule that an endpoint's faults are only reported. */
class WrongChain extends Error {
  readonly fault: BaseError
  constructor(fault: BaseError) {
    super(fault.shortMessage)
    this.fault = fault
  }
}

function newestOf(blocks: readonly (BlockRef | undefined)[]): BlockRef | undefined {
  let newest: BlockRef | undefined
  for (const block of blocks) {
    if (block !== undefined && (newest === undefined || block.number > newest.number)) newest = block
  }
  return newest
}
