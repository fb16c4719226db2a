/** Events of signals from outside. */
import type { TradeSignal } from '../../domain/memory/tradeSignal.ts'
import { type SignalEvent, type SignalRefusal, signalRefusals } from '../../domain/signalEvent.ts'
import type { SeriesMaker } from '../seriesMaker.ts'
import { plain } from '../text.ts'
import type { EventFamily, Field } from './eventRow.ts'

/** `SIGNAL_STRATEGY_UNKNOWN` as `strategy_unknown`. */
function resultOf(code: SignalRefusal): string {
  return code.replace(/^SIGNALS?_/, '').toLowerCase()
}

function series({ counter }: SeriesMaker) {
  const signals = counter(
    'perpd_signals_total',
    'Signals from outside by result: accepted, expired_waiting (accepted, but expired before the next turn), unserved (accepted, but made no order), or the cause of the refusal: unauthorized, not_json, host_refused and origin_refused (before reading), malformed, stale, expired, replayed, strategy_unknown, market_unknown, queue_full, rate_limited or stopped.',
    ['result'],
  )
  for (const result of ['accepted', 'expired_waiting', 'unserved', ...signalRefusals.map(resultOf)])
    signals.inc({ result }, 0)
  return { signals }
}

const signalFields: readonly Field<{ readonly signal: TradeSignal }>[] = [
  ['strategy', ({ signal }) => signal.strategy],
  ['signal', ({ signal }) => signal.number],
  ['name', ({ signal }) => signal.name],
  ['action', ({ signal }) => signal.action],
  ['market', ({ signal }) => signal.symbol],
  ['sent_at_ms', ({ signal }) => signal.sentAtMs],
  ['expires_at_ms', ({ signal }) => signal.expiresAtMs],
]

/** Events of signals. */
export const signalFamily: EventFamily<SignalEvent, ReturnType<typeof series>> = {
  series,
  rows: {
    'signal.accepted': {
      levels: ['info'],
      meaning: 'A signal from outside was accepted and waits.',
      word: 'signal',
      text: ({ signal }) => `${signal.strategy}: ${words(signal)} was accepted`,
      fields: signalFields,
      moves: ({ signals }) => signals.inc({ result: 'accepted' }),
    },
    'signal.refused': {
      levels: ['warn', 'error'],
      level: (event) => (isLostExit(event) ? 'error' : 'warn'),
      meaning: 'A signal from outside was refused; at error, it was to close a position, which stays open.',
      word: 'signal',
      text: (event) =>
        `a signal${event.action === undefined ? '' : ` (${event.action})`}${event.strategy === undefined ? '' : ` for ${plain(event.strategy)}`} was refused: ${plain(event.reason)} (${event.code})${isLostExit(event) ? '; the position stays open' : ''}`,
      fields: ['code', 'reason', 'strategy', 'action'],
      isFromOutside: true,
      moves: ({ signals }, { code }) => signals.inc({ result: resultOf(code) }),
      notice: ({ code, strategy, action }) => ({
        kind: 'signal-refused',
        cause: `signal:${strategy ?? ''}:${code}`,
        action:
          action === 'flat' || action === 'reverse'
            ? `Check the position of ${strategy} (perpd positions), close it if you want, and correct the sender.`
            : 'Check the content and the address of the sender: docs/signals.md.',
      }),
    },
    'signal.taken': {
      levels: ['info', 'warn'],
      level: ({ isExpired }) => (isExpired ? 'warn' : 'info'),
      meaning: 'A strategy received a signal; at warn, the signal expired before.',
      word: 'signal',
      text: ({ signal, isExpired }) =>
        isExpired
          ? `${signal.strategy}: ${words(signal)} expired before the next turn; ignored`
          : `${signal.strategy} was given ${words(signal)}`,
      fields: [...signalFields, 'is_expired'],
      moves({ signals }, { isExpired }) {
        if (isExpired) signals.inc({ result: 'expired_waiting' })
      },
    },
    'signal.unserved': {
      levels: ['warn'],
      meaning: 'A strategy received a signal and makes no order.',
      word: 'signal',
      text: ({ strategy, signal, reason }) =>
        `${strategy}: signal ${signal} makes no order: ${plain(reason)}`,
      fields: ['strategy', 'signal', 'reason'],
      moves: ({ signals }) => signals.inc({ result: 'unserved' }),
    },
  },
}

/** A signal that was accepted before may be sent again; any other refused exit leaves a position as it is. */
function isLostExit({ action, code }: Extract<SignalEvent, { type: 'signal.refused' }>): boolean {
  return (action === 'flat' || action === 'reverse') && code !== 'SIGNAL_REPLAYED'
}

function words({ number, name, action, symbol }: TradeSignal): string {
  return `signal ${number}${name === undefined ? '' : ` "${plain(name)}"`} (${action} ${plain(symbol)})`
}
