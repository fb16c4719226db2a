/** The register of the daemon's and its strategies' events, of signals and of notices. */
import type { DaemonEvent } from '../../domain/daemonEvent.ts'
import type { NoticeEvent } from '../../domain/noticeEvent.ts'
import type { SignalEvent } from '../../domain/signalEvent.ts'
import { type RegisteredEvent, registered } from './registered.ts'

const signalFields = ['strategy', 'signal', 'name', 'action', 'market', 'sent_at_ms', 'expires_at_ms']

/** An entry for each of them; one that is missing is a type error. */
export const daemonRegister = {
  'daemon.started': registered(['info'], 'The daemon has opened its journal and its port.', [
    'version',
    'profile',
    'strategies',
    'journal_path',
    'status_url',
    'api_hosts',
    'oracle_hosts',
    'notes',
  ]),
  'daemon.resumed': registered(['info'], 'The journal of earlier runs was read.', [
    'records',
    'intents',
    'open_intents',
    'unresolved',
    'latency_ms',
  ]),
  'daemon.clockSetBack': registered(
    ['warn'],
    "This machine's clock went back: against itself while perpd runs, or against the newest record of the journal at a start.",
    ['back_seconds', 'against', 'skew_seconds'],
  ),
  'daemon.recovering': registered(['info'], 'Recovery: perpd makes no new orders yet.', ['reason']),
  'daemon.ready': registered(['info', 'warn'], 'Strategies run; at warn, a halt blocks their orders.', [
    'held',
  ]),
  'daemon.draining': registered(['info'], 'A stop was requested: no new orders, perpd follows open ones.', [
    'signal',
    'open_intents',
    'drain_ms',
  ]),
  'daemon.stopped': registered(['info', 'warn'], 'The run ended; at warn, positions stay open.', [
    'open_intents',
    'positions',
    'uptime_ms',
  ]),
  'daemon.heartbeat': registered(['debug'], 'The daemon is alive; at info when nothing else was logged.', [
    'positions',
    'exposure_usd',
    'open_intents',
    'unresolved',
  ]),
  'daemon.portMoved': registered(
    ['error'],
    'The configured control port could not be opened: perpd serves at another one, which commands find.',
    ['wanted', 'status_url', 'reason'],
  ),
  'log.output': registered(
    ['warn', 'error'],
    'Standard output accepts no lines, which perpd drops and counts, or accepts them again; at error, its reader is gone.',
    ['state', 'lines'],
  ),
  'tick.done': registered(['debug'], 'A strategy had its turn.', ['strategy', 'decisions', 'latency_ms']),
  'tick.skipped': registered(['debug'], 'A strategy skipped its turn, with the reason.', [
    'strategy',
    'reason',
  ]),
  'tick.failed': registered(['error'], 'A turn of a strategy failed; other strategies are not affected.', [
    'strategy',
    'reason',
    'failures',
    'thread_ended',
    'facts',
  ]),
  'decision.invalid': registered(['error'], 'A strategy returned an invalid decision; perpd ignored it.', [
    'strategy',
    'code',
    'reason',
    'field',
    'place',
  ]),
  'strategy.slow': registered(
    ['warn'],
    'A turn of your own kind used more processor time than strategies.slowDecideMs.',
    ['strategy', 'spent_ms', 'limit_ms'],
  ),
  'strategy.paused': registered(['error'], 'Your own kind failed too often and pauses.', [
    'strategy',
    'failures',
    'pause_ms',
    'reason',
  ]),
  'strategy.unfit': registered(['error'], 'The saved memory of a strategy is incompatible with its kind.', [
    'strategy',
    'reason',
    'facts',
  ]),
  'strategy.forgotten': registered(['info'], "An operator discarded a strategy's memory.", [
    'strategy',
    'by',
  ]),
  'strategy.changed': registered(['warn'], 'A strategy file was loaded.', [
    'strategy',
    'file',
    'change',
    'by',
    'on_remove',
    'fields',
  ]),
  'strategy.switched': registered(['warn'], 'An operator paused or resumed a strategy.', [
    'strategy',
    'to',
    'reason',
    'by',
  ]),
  'strategy.said': registered(['info'], 'Your own kind printed a line.', ['strategy']),
  'windDown.waits': registered(['warn'], 'A removed strategy cannot be wound down yet.', [
    'strategy',
    'reason',
  ]),
  'windDown.ended': registered(['info'], 'A removed strategy is wound down.', ['strategy', 'statement']),
  'signal.accepted': registered(['info'], 'A signal from outside was accepted and waits.', signalFields),
  'signal.refused': registered(['warn'], 'A signal from outside was refused.', [
    'code',
    'reason',
    'strategy',
  ]),
  'signal.taken': registered(
    ['info', 'warn'],
    'A strategy received a signal; at warn, the signal expired before.',
    [...signalFields, 'is_expired'],
  ),
  'signal.unserved': registered(['warn'], 'A strategy received a signal and makes no order.', [
    'strategy',
    'signal',
    'reason',
  ]),
  'notice.ended': registered(['debug', 'warn'], 'A notification was sent; at warn, it failed.', [
    'sink',
    'notice',
    'result',
    'reason',
  ]),
  'chat.update': registered(['debug'], 'The bot of a command chat received a message.', ['sink', 'result']),
  'chat.failed': registered(['warn'], 'Commands of a chat cannot be read or answered.', [
    'sink',
    'what',
    'reason',
  ]),
  'chat.restored': registered(['info'], 'Commands of a chat can be read or answered again.', [
    'sink',
    'what',
  ]),
  'notice.dropped': registered(['warn'], 'A sink is too slow: a notice was dropped.', ['sink', 'notice']),
} as const satisfies Readonly<Record<(DaemonEvent | SignalEvent | NoticeEvent)['type'], RegisteredEvent>>
