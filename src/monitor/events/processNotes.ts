/** Lines of the process that the log alone has: no part of the engine emits them. A row has the levels, the time when it is written, and its fields. */
import type { Level, RegisteredEvent } from './eventRow.ts'

/** A row of them. */
interface NoteRow<L extends Level = Level> extends RegisteredEvent<L> {
  readonly fields: readonly string[]
}

function note<const L extends Level>(
  levels: readonly [L, ...L[]],
  meaning: string,
  fields: readonly string[] = [],
): NoteRow<L> {
  return { levels, meaning, fields }
}

/** An entry for each of them. */
export const noteRegister = {
  'daemon.leaving': note(['warn'], 'A second signal arrived: the process exits at once.'),
  'daemon.failed': note(['error'], 'A fault ends the run, or the trading of one account.', ['code']),
  'daemon.closeFailed': note(['error'], 'A part could not close cleanly at the end.'),
  'listener.failed': note(['error'], 'A listener of events failed: a bug in perpd. Orders are not affected.'),
  'key.warned': note(['warn'], 'A note on the signing key.'),
  'key.opened': note(
    ['info'],
    'A key that a node of a fleet could not open at its start is open: the node can hold the account.',
  ),
  'strategy.warned': note(['warn'], 'A note on the strategy files before the first order.'),
  'signal.warned': note(['warn'], 'A note on the secrets of signals.'),
  'systemd.unused': note(
    ['warn'],
    'The service manager expects a ready notification, which perpd cannot send.',
  ),
  'watchdog.unused': note(['error'], 'The watchdog of the service manager gets no notification.'),
  'console.served': note(['info'], 'Address of the web console.'),
  'daemon.addressLost': note(['error'], 'The address file cannot be written, so commands do not find perpd.'),
  'console.curveLost': note(
    ['warn'],
    'The equity curve cannot be read or saved: it starts over, or ends with the run.',
  ),
  'files.changed': note(
    ['warn', 'error'],
    'Strategy files changed while perpd runs; at error, they are refused.',
  ),
  'operator.readAnew': note(
    ['info', 'warn'],
    'An operator reloaded limits or strategy files; at warn, refused. Only limits.changed reports changed limits.',
  ),
  'operator.signalled': note(
    ['warn', 'error'],
    'A process signal acted as a command; at error, refused. Only limits.changed reports changed limits.',
  ),
  'evidence.codeRead': note(
    ['info', 'warn'],
    "Check of the router's code on the chain; at warn, incomplete.",
  ),
  'journal.reading': note(['info'], 'Progress of reading a long journal at a start.', [
    'records',
    'of',
    'left_ms',
  ]),
  'fleet.unsteered': note(
    ['warn'],
    'The table of the fleet cannot be read, or another perpd has the name of this node (`cluster.node`): each account stays where it is.',
  ),
  'fleet.commanded': note(
    ['warn'],
    'An operator moved an account of the fleet or drained a node by the control port of this node, with the author.',
  ),
  'journal.waiting': note(
    ['info', 'warn'],
    'A standby (`journal.standby`) waits for the journal that another machine writes; at warn, its server does not answer, or it has records of a newer perpd.',
    ['code', 'holder', 'epoch'],
  ),
  'log.levels': note(['warn'], 'Log levels were changed, with the author.'),
  'log.fileFailed': note(
    ['error'],
    'A line could not be written to the file of the log; standard output has it.',
  ),
  'trace.unsent': note(['warn'], 'The trace collector refuses traces. Orders are not affected.'),
  'recording.failed': note(
    ['error'],
    'Recording of market data stopped (`history.record`): its folder cannot be written. Orders are not affected.',
  ),
  'recording.missed': note(['debug'], 'A read of the recording failed; the next one follows.'),
  'strategy.copied': note(
    ['info', 'warn'],
    'A copy runs instead of a shipped strategy file, which commands never change; at warn, perpd made the copy now.',
  ),
  'paper.moved': note(['error'], 'The configured port of the paper venue is in use: it serves at another.'),
  'paper.seed': note(['info'], 'The seed that the prices of the paper venue follow.'),
  'paper.replay': note(
    ['info', 'warn'],
    'Position and end of the replay of the paper venue; at warn, assets keep one price because their candles ended or have not begun.',
  ),
  'paper.failed': note(['error'], 'The paper venue failed on a request.'),
} as const satisfies Readonly<Record<string, NoteRow>>

/** Names of such lines. */
export type NoteName = keyof typeof noteRegister

/** Levels that a line of this name may have. */
export type NoteLevel<Name extends NoteName> = Extract<(typeof noteRegister)[Name]['levels'][number], Level>
