/** Formats the log lines about signals from outside. */
import { defined } from '../../base/defined.ts'
import type { TradeSignal } from '../../domain/memory/tradeSignal.ts'
import type { SignalEvent } from '../../domain/signalEvent.ts'
import { plain } from '../text.ts'
import { line, type Phrases } from './line.ts'

/** The line of each event of a signal. */
export const signalPhrases: Phrases<SignalEvent['type']> = {
  'signal.accepted': ({ signal }) =>
    line('info', 'signal', `${signal.strategy}: ${words(signal)} was accepted`, fields(signal)),
  'signal.refused': ({ code, reason, strategy, action }) => {
    // A signal that was accepted before may be sent again; any other refused exit leaves a position as it is.
    const isLostExit = (action === 'flat' || action === 'reverse') && code !== 'SIGNAL_REPLAYED'
    return line(
      isLostExit ? 'error' : 'warn',
      'signal',
      `a signal${action === undefined ? '' : ` (${action})`}${strategy === undefined ? '' : ` for ${plain(strategy)}`} was refused: ${plain(reason)} (${code})${isLostExit ? '; the position stays open' : ''}`,
      {
        code,
        reason,
        ...defined({ strategy, action }),
      },
    )
  },
  'signal.taken': ({ signal, isExpired }) =>
    line(
      isExpired ? 'warn' : 'info',
      'signal',
      isExpired
        ? `${signal.strategy}: ${words(signal)} expired before the next turn; ignored`
        : `${signal.strategy} was given ${words(signal)}`,
      { ...fields(signal), is_expired: isExpired },
    ),
  'signal.unserved': ({ strategy, signal, reason }) =>
    line('warn', 'signal', `${strategy}: signal ${signal} makes no order: ${plain(reason)}`, {
      strategy,
      signal,
      reason,
    }),
}

function words({ number, name, action, symbol }: TradeSignal): string {
  return `signal ${number}${name === undefined ? '' : ` "${plain(name)}"`} (${action} ${plain(symbol)})`
}

function fields({ strategy, number, name, action, symbol, sentAtMs, expiresAtMs }: TradeSignal) {
  return {
    strategy,
    signal: number,
    ...defined({ name }),
    action,
    market: symbol,
    sent_at_ms: sentAtMs,
    expires_at_ms: expiresAtMs,
  }
}
