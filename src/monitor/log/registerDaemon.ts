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
  'daemon.recovering': registered(['info'], 'Something must be known before new orders are made.', [
    'reason',
  ]),
  'daemon.ready': registered(['info', 'warn'], 'Strategies are asked; at warn, orders are held back.', [
    'held',
  ]),
  'daemon.draining': registered(['info'], 'A stop was asked for: no new orders, open ones are followed.', [
    'signal',
    'open_intents',
    'drain_ms',
  ]),
  'daemon.stopped': registered(['info', 'warn'], 'The run is over; at warn, positions stay open.', [
    'open_intents',
    'positions',
    'uptime_ms',
  ]),
  'daemon.heartbeat': registered(['debug'], 'The daemon lives; told at info when nothing else was told.', [
    'positions',
    'exposure_usd',
    'open_intents',
    'unresolved',
  ]),
  'daemon.portMoved': registered(
    ['error'],
    'The control port that is configured could not be opened: perpd serves at another one, which commands find.',
    ['wanted', 'status_url', 'reason'],
  ),
  'log.output': registered(
    ['warn', 'error'],
    'Standard output does not take lines, which are dropped and counted, or takes them again; at error, its reader is gone.',
    ['state', 'lines'],
  ),
  'tick.done': registered(['debug'], 'A strategy had its turn.', ['strategy', 'decisions', 'latency_ms']),
  'tick.skipped': registered(['debug'], 'A strategy was not asked, and why.', ['strategy', 'reason']),
  'tick.failed': registered(['error'], 'A turn of a strategy failed; the others go on.', [
    'strategy',
    'reason',
    'failures',
    'thread_ended',
    'facts',
  ]),
  'decision.invalid': registered(['error'], 'What a strategy returned is no decision; nothing is done.', [
    'strategy',
    'code',
    'reason',
    'field',
    'place',
  ]),
  'strategy.slow': registered(
    ['warn'],
    'A kind of your own took more of the processor for a turn than strategies.slowDecideMs.',
    ['strategy', 'spent_ms', 'limit_ms'],
  ),
  'strategy.paused': registered(
    ['error'],
    'A kind of your own failed too often and is not asked for a while.',
    ['strategy', 'failures', 'pause_ms', 'reason'],
  ),
  'strategy.unfit': registered(['error'], 'What a strategy remembers does not fit its kind any more.', [
    'strategy',
    'reason',
    'facts',
  ]),
  'strategy.forgotten': registered(['info'], "An operator let a strategy's memory be forgotten.", [
    'strategy',
    'by',
  ]),
  'strategy.changed': registered(['warn'], 'A strategy file was taken over.', [
    'strategy',
    'file',
    'change',
    'by',
    'on_remove',
    'fields',
  ]),
  'strategy.switched': registered(['warn'], 'An operator paused a strategy or let it go on.', [
    'strategy',
    'to',
    'reason',
    'by',
  ]),
  'strategy.said': registered(['info'], 'A kind of your own printed a line.', ['strategy']),
  'windDown.waits': registered(['warn'], 'A removed strategy cannot be wound down yet.', [
    'strategy',
    'reason',
  ]),
  'windDown.ended': registered(['info'], 'A removed strategy is wound down.', ['strategy', 'statement']),
  'signal.accepted': registered(['info'], 'A signal from outside is durable and waits.', signalFields),
  'signal.refused': registered(['warn'], 'A signal from outside is not taken.', [
    'code',
    'reason',
    'strategy',
  ]),
  'signal.taken': registered(
    ['info', 'warn'],
    'A strategy was given a signal; at warn, it expired before that.',
    [...signalFields, 'is_expired'],
  ),
  'signal.unserved': registered(['warn'], 'A strategy was given a signal and makes no order of it.', [
    'strategy',
    'signal',
    'reason',
  ]),
  'notice.ended': registered(['debug', 'warn'], 'People were told; at warn, they were not.', [
    'sink',
    'notice',
    'result',
    'reason',
  ]),
  'chat.update': registered(['debug'], 'Somebody wrote to the bot of a chat that may command.', [
    'sink',
    'result',
  ]),
  'chat.failed': registered(['warn'], 'Commands of a chat cannot be read, or not be answered.', [
    'sink',
    'what',
    'reason',
  ]),
  'chat.restored': registered(['info'], 'They can be read, or answered, again.', ['sink', 'what']),
  'notice.dropped': registered(['warn'], 'A sink is too slow: a notice was dropped.', ['sink', 'notice']),
} as const satisfies Readonly<Record<(DaemonEvent | SignalEvent | NoticeEvent)['type'], RegisteredEvent>>
