/** The series of signals from outside. */
import type { Emit, Event } from '../domain/event.ts'
import { type SignalRefusal, signalRefusals } from '../domain/signalEvent.ts'
import type { SeriesMaker } from './seriesMaker.ts'

/** `SIGNAL_STRATEGY_UNKNOWN` as `strategy_unknown`. */
function resultOf(code: SignalRefusal): string {
  return code.replace(/^SIGNALS?_/, '').toLowerCase()
}

/** Signals by what became of them. */
export function signalSeries({ counter }: SeriesMaker): Emit {
  const signals = counter(
    'perpd_signals_total',
    'Signals from outside by result: accepted, expired_waiting (accepted, but expired before the next turn), unserved (accepted, but made no order), or the cause of the refusal: unauthorized, not_json, host_refused and origin_refused (before reading), malformed, stale, expired, replayed, strategy_unknown, market_unknown, queue_full, rate_limited or stopped.',
    ['result'],
  )
  for (const result of ['accepted', 'expired_waiting', 'unserved', ...signalRefusals.map(resultOf)])
    signals.inc({ result }, 0)
  return (event: Event): void => {
    if (event.type === 'signal.accepted') signals.inc({ result: 'accepted' })
    else if (event.type === 'signal.refused') signals.inc({ result: resultOf(event.code) })
    else if (event.type === 'signal.unserved') signals.inc({ result: 'unserved' })
    else if (event.type === 'signal.taken' && event.isExpired) signals.inc({ result: 'expired_waiting' })
  }
}
