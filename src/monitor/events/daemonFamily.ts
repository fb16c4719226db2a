/** Events of the daemon itself: its start, its end, its clock, its port and its output. */
import { CLOCK_STEP_MS } from '../../base/clock.ts'
import type { DaemonEvent } from '../../domain/daemonEvent.ts'
import type { SeriesMaker } from '../seriesMaker.ts'
import { counted, listed, money, plain, span } from '../text.ts'
import type { EventFamily } from './eventRow.ts'

/** Sentence of each state of standard output. */
const outputWords = {
  taken: (lines) => `standard output accepts lines again; ${lines} of the log were dropped`,
  stuck: () =>
    'standard output accepts no lines: its reader stopped. perpd continues, drops the lines and counts them; see perpd logs for the newest',
  lost: () =>
    'the reader of standard output is gone: perpd continues without a log there. See perpd logs for the newest lines; restart perpd for a new reader, or set log.file',
} as const satisfies Record<string, (lines: string) => string>

function series({ counter, gauge }: SeriesMaker) {
  const output = gauge(
    'perpd_log_output_open',
    '1 while standard output accepts the lines of the log; 0 while its reader accepts none or is gone.',
  )
  output.set(1)
  return {
    output,
    lines: counter('perpd_log_lines_dropped_total', 'Lines of the log that standard output did not accept.'),
  }
}

/** The daemon's events. */
export const daemonFamily: EventFamily<
  Extract<DaemonEvent, { type: `daemon.${string}` | `journal.${string}` | `log.${string}` }>,
  ReturnType<typeof series>
> = {
  series,
  rows: {
    'daemon.started': {
      levels: ['info'],
      meaning: 'The daemon has opened its journal and its port.',
      word: 'perpd',
      text: (event) =>
        [
          `perpd ${event.version} started: profile ${event.profile} on ${event.chain}`,
          `account ${event.account}, strategies ${event.strategies.join(', ')}`,
          `venue ${listed(event.apiHosts)}`,
          `metrics and status at ${event.statusUrl} (/metrics, /api/status), journal ${event.journalPath}`,
          ...event.notes,
        ].join('\n'),
      fields: [
        ...(['version', 'profile', 'strategies', 'journal_path'] as const),
        ...(['status_url', 'api_hosts', 'oracle_hosts', 'notes'] as const),
      ],
      notice: () => ({ kind: 'daemon-started', cause: 'start', isEnd: true }),
    },
    'daemon.resumed': {
      levels: ['info'],
      meaning: 'The journal of earlier runs was read.',
      word: 'journal',
      text: (event) =>
        `resumed from ${counted(event.records, 'record')} of ${counted(event.intents, 'order')} in ${span(event.tookMs)}: ${event.openIntents} open, ${event.unresolved} unresolved; ${event.tasks.length === 0 ? 'no tasks to resume' : `tasks resumed: ${event.tasks.join(', ')}`}`,
      fields: [
        ...(['records', 'intents', 'open_intents', 'unresolved', 'tasks'] as const),
        ['latency_ms', ({ tookMs }) => Math.round(tookMs)],
      ],
    },
    'daemon.clockSetBack': {
      levels: ['warn'],
      meaning:
        "This machine's clock went back: against itself while perpd runs, or against the newest record of the journal at a start.",
      word: 'clock',
      text: ({ backMs, against, hostsAheadMs }) =>
        `this machine's clock ${against === 'itself' ? `was set back by ${span(backMs)}` : `is ${span(backMs)} behind the journal's newest record, which was written by a clock that was ahead`}; ${hostsText(hostsAheadMs)}. perpd follows orders and exits as before. Check this machine's clock and its time server`,
      fields: [
        ['back_seconds', ({ backMs }) => Math.round(backMs / 1_000)],
        'against',
        [
          'skew_seconds',
          ({ hostsAheadMs }) => (hostsAheadMs === undefined ? undefined : Math.round(hostsAheadMs / 1_000)),
        ],
      ],
      notice: ({ against, backMs }) => ({
        kind: 'clock-set-back',
        cause: `clock:${against}:${backMs}`,
        action:
          "Check this machine's clock and its time server (timedatectl), and compare it with the hosts: perpd doctor.",
      }),
    },
    'daemon.recovering': {
      levels: ['info'],
      meaning: 'Recovery: perpd makes no new orders yet.',
      word: 'perpd',
      text: ({ reason }) => `recovering, no new orders yet: ${plain(reason)}`,
      fields: ['reason'],
      isFromOutside: true,
    },
    'daemon.ready': {
      levels: ['info', 'warn'],
      level: ({ held }) => (held === undefined ? 'info' : 'warn'),
      meaning: 'Strategies run; at warn, a halt blocks their orders.',
      word: 'perpd',
      text: ({ held }) =>
        held === undefined
          ? 'ready: strategies are running'
          : `ready, but ${plain(held)}: strategies run, and this blocks their orders`,
      fields: ['held'],
    },
    'daemon.draining': {
      levels: ['info'],
      meaning: 'A stop was requested: no new orders, perpd follows open ones.',
      word: 'perpd',
      text: (event) =>
        event.underWay === 0
          ? `${event.signal}: no new orders; ${event.openIntents === 0 ? 'none is open' : `${counted(event.openIntents, 'order')} only ${event.openIntents === 1 ? 'rests' : 'rest'} at the venue`}`
          : `${event.signal}: no new orders; following ${counted(event.underWay, 'order')} in flight for up to ${span(event.drainMs)}. A second signal exits at once; both are safe`,
      fields: ['signal', 'open_intents', 'drain_ms'],
    },
    'daemon.stopped': {
      levels: ['info', 'warn'],
      level: ({ positions }) => (positions.length === 0 ? 'info' : 'warn'),
      meaning: 'The run ended; at warn, positions stay open.',
      word: 'perpd',
      text: ({ openIntents, positions, uptimeMs }) =>
        [
          openIntents === 0
            ? `stopped after ${span(uptimeMs)}, no order open`
            : `stopped after ${span(uptimeMs)} with ${counted(openIntents, 'order')} open; the next start follows ${openIntents === 1 ? 'it' : 'them'}`,
          ...(positions.length === 0
            ? []
            : [
                `${counted(positions.length, 'position')} stay${positions.length === 1 ? 's' : ''} open and unmanaged until the next start:`,
                ...positions.map(plain),
              ]),
        ].join('\n'),
      fields: ['open_intents', 'positions', ['uptime_ms', ({ uptimeMs }) => Math.round(uptimeMs)]],
      notice: ({ positions }) => ({
        kind: 'daemon-stopped',
        cause: 'stop',
        isEnd: true,
        ...(positions.length > 0 && { action: 'Restart perpd, or manage the positions yourself.' }),
      }),
    },
    'daemon.heartbeat': {
      levels: ['debug'],
      meaning: 'The daemon is alive; at info when nothing else was logged.',
      word: 'alive',
      text: (event) =>
        `${counted(event.positions, 'position')}, notional ${money(event.exposureUsd)}, ${counted(event.openIntents, 'open order')}, ${event.unresolved} unresolved`,
      fields: ['positions', 'exposure_usd', 'open_intents', 'unresolved'],
    },
    'daemon.portMoved': {
      levels: ['error'],
      meaning:
        'The configured control port could not be opened: perpd serves at another one, which commands find.',
      word: 'perpd',
      text: ({ wanted, url, reason }) =>
        `the control port ${wanted} cannot be opened (${plain(reason)}): perpd trades, and serves at ${url} instead. Its commands find it; other clients of ${wanted} may reach another program. Free the port, then restart perpd`,
      fields: ['wanted', ['status_url', ({ url }) => url], 'reason'],
      notice: () => ({
        kind: 'control-port',
        cause: 'control-port',
        action: 'Find the program that uses the port, and restart perpd when it is free.',
      }),
    },
    'journal.replication': {
      levels: ['warn', 'info'],
      level: ({ isSynchronous }) => (isSynchronous ? 'info' : 'warn'),
      meaning:
        "The standbys of the journal's server are asynchronous, so that a failover may lose acknowledged records; at info, commits wait for one again, or none is connected.",
      word: 'journal',
      text: ({ isSynchronous, standbys }) =>
        isSynchronous
          ? 'a failover of the journal loses no acknowledged records any more'
          : `no commit waits for the ${counted(standbys, 'standby')} of the journal's server: a failover may lose acknowledged records`,
      fields: ['standbys'],
      notice: ({ isSynchronous }) => ({
        kind: 'journal',
        cause: 'journal-replication',
        ...(isSynchronous
          ? { isEnd: true }
          : {
              action:
                'Set synchronous_standby_names at the server, and then journal.synchronousStandby of perpd to true.',
            }),
      }),
    },
    'log.output': {
      levels: ['warn', 'error'],
      level: ({ state }) => (state === 'lost' ? 'error' : 'warn'),
      meaning:
        'Standard output accepts no lines, which perpd drops and counts, or accepts them again; at error, its reader is gone.',
      word: 'perpd',
      text: ({ state, lines }) => outputWords[state](counted(lines, 'line')),
      fields: ['state', 'lines'],
      moves({ output, lines }, event) {
        output.set(event.state === 'taken' ? 1 : 0)
        if (event.state === 'taken') lines.inc(event.lines)
      },
      notice: ({ state }) => ({
        kind: 'log-output',
        cause: 'log-output',
        ...(state === 'taken' ? { isEnd: true } : { stage: state }),
      }),
    },
  },
}

/** The hosts' clocks against ours after it went back. */
function hostsText(aheadMs: number | undefined): string {
  if (aheadMs === undefined) return 'no host has reported its time yet'
  if (Math.abs(aheadMs) < CLOCK_STEP_MS) return "the hosts' clocks agree with it now"
  return `the hosts' clocks are ${span(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead of' : 'behind'} it`
}
