/** The register of lines that are told by the log alone: they are of the process, and no part of the engine hears of them. */
import type { Level } from './line.ts'
import { type RegisteredEvent, registered } from './registered.ts'

/** An entry for each of them. */
export const noteRegister = {
  'daemon.leaving': registered(['warn'], 'A second signal came: the process leaves at once.'),
  'daemon.failed': registered(['error'], 'A fault ends the run.'),
  'daemon.closeFailed': registered(['error'], 'Something could not be closed in good order at the end.'),
  'listener.failed': registered(['error'], 'A listener of events failed: a mistake of perpd. Orders go on.'),
  'key.warned': registered(['warn'], 'What to know of the key that signs.'),
  'strategy.warned': registered(['warn'], 'What to know of the strategy files before the first order.'),
  'signal.warned': registered(['warn'], 'What to know of the secrets of signals.'),
  'systemd.unused': registered(
    ['warn'],
    'The service manager asked to be told when perpd is ready, and cannot be told.',
  ),
  'watchdog.unused': registered(
    ['error'],
    'The watchdog of the service manager cannot be told that perpd lives.',
  ),
  'console.served': registered(['info'], 'Where the web console is.'),
  'daemon.addressLost': registered(
    ['error'],
    'The file that names where perpd serves cannot be written: commands do not find it.',
  ),
  'console.curveLost': registered(
    ['warn'],
    "The curve of the account's worth cannot be read or kept in its file: it begins anew, or ends with the run.",
  ),
  'files.changed': registered(
    ['warn', 'error'],
    'Strategy files changed while perpd runs; at error, they are refused.',
  ),
  'operator.readAnew': registered(
    ['info', 'warn'],
    'An operator had limits or strategy files read anew; at warn, refused. Limits that changed are told by limits.changed alone.',
  ),
  'operator.signalled': registered(
    ['warn', 'error'],
    'A signal of the process was a command; at error, refused. Limits that changed are told by limits.changed alone.',
  ),
  'evidence.codeRead': registered(
    ['info', 'warn'],
    "What the chain says of the router's code; at warn, not enough.",
  ),
  'journal.reading': registered(['info'], 'How far a long reading of the journal is, at a start.', [
    'records',
    'of',
    'left_ms',
  ]),
  'log.levels': registered(['warn'], 'What is written into the log was changed, and by whom.'),
  'log.fileFailed': registered(
    ['error'],
    'A line could not be written to the file of the log; standard output has it.',
  ),
  'trace.unsent': registered(['warn'], 'The collector of traces does not take them. Orders go on.'),
  'recording.failed': registered(
    ['error'],
    'What the venue shows is no longer recorded (`history.record`): the folder does not take it. Orders are unaffected.',
  ),
  'recording.missed': registered(['debug'], 'A read of the recording failed; the next one follows.'),
  'strategy.copied': registered(
    ['info', 'warn'],
    'A copy runs in the place of a strategy file that ships with perpd, which commands leave as it is; at warn, it was made now.',
  ),
  'paper.moved': registered(
    ['error'],
    'The port of the paper venue that is configured is taken: it serves at another.',
  ),
  'paper.replay': registered(
    ['info', 'warn'],
    'Where the replay of the paper venue is and when it ends; at warn, prices of its assets stand still: their candles are over or yet to begin.',
  ),
  'paper.failed': registered(['error'], 'The paper venue failed while it answered.'),
} as const satisfies Readonly<Record<string, RegisteredEvent>>

/** Names of such lines. */
export type NoteName = keyof typeof noteRegister

/** Levels that a line of this name may have. */
export type NoteLevel<Name extends NoteName> = Extract<(typeof noteRegister)[Name]['levels'][number], Level>
