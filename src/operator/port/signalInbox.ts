/**
 * Receives signals from outside whose sender was proven: each at most once, within its time, for a running instance that takes signals. A signal is
 * durable before it is answered. Its strategy and admission decide its effect.
 */

import type { HasStrategies, HasTrading } from '../../account/accountParts.ts'
import {
  MOST_SIGNALS_WAITING,
  nonceProblem,
  type SignalTerms,
  type TradeSignal,
} from '../../domain/memory/tradeSignal.ts'
import type { SignalRefusal } from '../../domain/signalEvent.ts'
import type { HasBasics } from '../../execution/context/executionParts.ts'
import { marketsNamed } from '../../protocol/marketName.ts'

/** A signal, as the control port read it from a proven message. */
export interface SignalMessage {
  /** `market`: as the sender names it; absent: the one market of the instance. */
  readonly terms: Omit<SignalTerms, 'symbol' | 'expiresAtMs'> & { readonly market?: string }
  /** Lifetime of the signal, ms from when it was sent: it opens nothing later. */
  readonly ttlMs: number
  /** Comes once; of each way of proving apart. */
  readonly nonce: string
  /** Largest difference of the sender's time from ours, ms. */
  readonly windowMs: number
}

/** Outcome of a message. */
export type SignalAnswer =
  | { readonly ok: true; readonly signal: TradeSignal }
  | { readonly ok: false; readonly code: SignalRefusal; readonly reason: string }

/** Receiver of signals. */
export interface SignalInbox {
  /** Resolves once it is durable, or refused. Throws what the journal throws. */
  receive(message: SignalMessage): Promise<SignalAnswer>
}

/** Parts of the engine that it receives. */
export interface SignalInboxContext extends HasBasics, HasStrategies, HasTrading {
  /** False while the engine cannot take signals. */
  readonly isTaking: () => boolean
}

/** An inbox over the engine's parts. */
export function createSignalInbox(context: SignalInboxContext): SignalInbox {
  const { clock, emit, journal, trading } = context
  const { accountJournal } = trading
  let turn: Promise<unknown> = Promise.resolve()

  async function take({ terms, ttlMs, nonce, windowMs }: SignalMessage): Promise<SignalAnswer> {
    const { market, ...rest } = terms
    const { strategy, action, sentAtMs } = rest
    const refused = (code: SignalRefusal, reason: string): SignalAnswer => {
      emit({ type: 'signal.refused', code, reason, strategy, action })
      return { ok: false, code, reason }
    }
    const nowMs = clock.now()
    const { signals } = accountJournal.state()
    const problem = Math.abs(nowMs - sentAtMs) > windowMs ? 'stale' : nonceProblem(signals, nonce, sentAtMs)
    if (problem === 'stale') {
      const seconds = Math.round(windowMs / 1000)
      return refused('SIGNAL_STALE', `its time differs too much from now: at most ${seconds} s are allowed`)
    }
    if (problem === 'replayed')
      return refused('SIGNAL_REPLAYED', 'a signal with this nonce was already accepted')
    const expiresAtMs = sentAtMs + ttlMs
    if (expiresAtMs <= nowMs) return refused('SIGNAL_EXPIRED', 'it had expired when it arrived')
    const named = context.strategies().find(({ name }) => name === strategy)
    if (named?.strategy.takesSignals !== true) {
      const reason = 'no running strategy of that name accepts signals'
      return refused('SIGNAL_STRATEGY_UNKNOWN', reason)
    }
    const listed = named.symbols.map((symbol) => ({ symbol, marketToken: '' }))
    const [found, ...others] = market === undefined ? listed : marketsNamed(listed, market)
    if (found === undefined || others.length > 0) {
      const reason = `it must name one market of its strategy: ${named.symbols.join(', ')}`
      return refused('SIGNAL_MARKET_UNKNOWN', reason)
    }
    if ((signals?.waiting.get(strategy)?.length ?? 0) >= MOST_SIGNALS_WAITING) {
      return refused('SIGNAL_QUEUE_FULL', `${MOST_SIGNALS_WAITING} signals of this strategy already wait`)
    }
    if (!context.isTaking()) return refused('SIGNALS_STOPPED', 'perpd is stopping')
    if (journal.isShort()) return refused('SIGNALS_STOPPED', 'the journal is short of space')
    const signal = { ...rest, symbol: found.symbol, expiresAtMs }
    const nonceUntilMs = sentAtMs + windowMs
    await accountJournal.write({ kind: 'signal.received', signal, nonce, nonceUntilMs })
    const accepted = { ...signal, number: (signals?.received ?? 0) + 1, receivedAtMs: nowMs }
    emit({ type: 'signal.accepted', signal: accepted })
    return { ok: true, signal: accepted }
  }

  return {
    // One at a time: a nonce is looked for among those that are durable.
    receive(message) {
      const next = turn.then(() => take(message))
      turn = next.catch(() => undefined)
      return next
    },
  }
}
