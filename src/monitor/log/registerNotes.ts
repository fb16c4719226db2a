/** The register of lines that are told by the log alone: they are of the process, and no part of the engine hears of them. */
import type { Level } from './line.ts'
import { type RegisteredEvent, registered } from './registered.ts'

/** An entry for each of them. */
export const noteRegister = {
  'daemon.leaving': registered(['warn'], 'A second signal arrived: the process exits at once.'),
  'daemon.failed': registered(['error'], 'A fault ends the run.'),
  'daemon.closeFailed': registered(['error'], 'A part could not close cleanly at the end.'),
  'listener.failed': registered(
    ['error'],
    'A listener of events failed: a bug in perpd. Orders are not affected.',
  ),
  'key.warned': registered(['warn'], 'A note on the signing key.'),
  'strategy.warned': registered(['warn'], 'A note on the strategy files before the first order.'),
  'signal.warned': registered(['warn'], 'A note on the secrets of signals.'),
  'systemd.unused': registered(
    ['warn'],
    'The service manager expects a ready notification, which perpd cannot send.',
  ),
  'watchdog.unused': registered(['error'], 'The watchdog of the service manager gets no notification.'),
  'console.served': registered(['info'], 'Address of the web console.'),
  'daemon.addressLost': registered(
    ['error'],
    'The address file cannot be written, so commands do not find perpd.',
  ),
  'console.curveLost': registered(
    ['warn'],
    'The equity curve cannot be read or saved: it starts over, or ends with the run.',
  ),
  'files.changed': registered(
    ['warn', 'error'],
    'Strategy files changed while perpd runs; at error, they are refused.',
  ),
  'operator.readAnew': registered(
    ['info', 'warn'],
    'An operator reloaded limits or strategy files; at warn, refused. Only limits.changed reports changed limits.',
  ),
  'operator.signalled': registered(
    ['warn', 'error'],
    'A process signal acted as a command; at error, refused. Only limits.changed reports changed limits.',
  ),
  'evidence.codeRead': registered(
    ['info', 'warn'],
    "Check of the router's code on the chain; at warn, incomplete.",
  ),
  'journal.reading': registered(['info'], 'Progress of reading a long journal at a start.', [
    'records',
    'of',
    'left_ms',
  ]),
  'journal.waiting': registered(
    ['info', 'warn'],
    'A standby (`journal.standby`) waits for the journal that another machine writes; at warn, its server does not answer.',
    ['holder', 'epoch'],
  ),
  'log.levels': registered(['warn'], 'Log levels were changed, with the author.'),
  'log.fileFailed': registered(
    ['error'],
    'A line could not be written to the file of the log; standard output has it.',
  ),
  'trace.unsent': registered(['warn'], 'The trace collector refuses traces. Orders are not affected.'),
  'recording.failed': registered(
    ['error'],
    'Recording of market data stopped (`history.record`): its folder cannot be written. Orders are not affected.',
  ),
  'recording.missed': registered(['debug'], 'A read of the recording failed; the next one follows.'),
  'strategy.copied': registered(
    ['info', 'warn'],
    'A copy runs instead of a shipped strategy file, which commands never change; at warn, perpd made the copy now.',
  ),
  'paper.moved': registered(
    ['error'],
    'The configured port of the paper venue is in use: it serves at another.',
  ),
  'paper.replay': registered(
    ['info', 'warn'],
    'Position and end of the replay of the paper venue; at warn, assets keep one price because their candles ended or have not begun.',
  ),
  'paper.failed': registered(['error'], 'The paper venue failed on a request.'),
} as const satisfies Readonly<Record<string, RegisteredEvent>>

/** Names of such lines. */
export type NoteName = keyof typeof noteRegister

/** Levels that a line of this name may have. */
export type NoteLevel<Name extends NoteName> = Extract<(typeof noteRegister)[Name]['levels'][number], Level>
