/** Events of external signals. */
import type { SignalAction, TradeSignal } from './memory/tradeSignal.ts'

/** Reasons why a signal is not accepted. */
export const signalRefusals = [
  'SIGNAL_UNAUTHORIZED',
  'SIGNAL_NOT_JSON',
  'SIGNAL_HOST_REFUSED',
  'SIGNAL_ORIGIN_REFUSED',
  'SIGNAL_MALFORMED',
  'SIGNAL_STALE',
  'SIGNAL_EXPIRED',
  'SIGNAL_REPLAYED',
  'SIGNAL_STRATEGY_UNKNOWN',
  'SIGNAL_MARKET_UNKNOWN',
  'SIGNAL_QUEUE_FULL',
  'SIGNAL_RATE_LIMITED',
  'SIGNALS_STOPPED',
] as const

/** One of them. */
export type SignalRefusal = (typeof signalRefusals)[number]

/** Signals. `type` is the stable dotted name of the log line. */
export type SignalEvent =
  /** It is durable, and waits for its strategy's next turn. */
  | { readonly type: 'signal.accepted'; readonly signal: TradeSignal }
  /** `strategy` and `action`: as the sender says, once the sender is proven. The reason holds nothing of a body that is not. */
  | {
      readonly type: 'signal.refused'
      readonly code: SignalRefusal
      readonly reason: string
      readonly strategy?: string
      readonly action?: SignalAction
    }
  /** Its strategy received it, and the resulting state is durable. */
  | { readonly type: 'signal.taken'; readonly signal: TradeSignal; readonly isExpired: boolean }
  /** Its strategy was given it, and no order comes of it. */
  | {
      readonly type: 'signal.unserved'
      readonly strategy: string
      readonly signal: number
      readonly reason: string
    }
