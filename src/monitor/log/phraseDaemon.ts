/** Formats the log lines about starts and ends of the daemon, turns of strategies, and decisions that lead to no order. */

import { CLOCK_STEP_MS } from '../../base/clock.ts'
import type { FieldChange, OnRemove } from '../../domain/accountRecords/strategyEntry.ts'
import type { DaemonEvent } from '../../domain/daemonEvent.ts'
import { counted, ended, listed, money, plain, span } from '../text.ts'
import { line, type Phrases, usdField } from './line.ts'

/** Where the log's lines are, by how standard output takes them. */
const outputWords = {
  taken: (lines) => `standard output accepts lines again; ${lines} of the log were dropped`,
  stuck: () =>
    'standard output accepts no lines: its reader stopped. perpd continues, drops the lines and counts them; see perpd logs for the newest',
  lost: () =>
    'the reader of standard output is gone: perpd continues without a log there. See perpd logs for the newest lines; restart perpd for a new reader, or set log.file',
} as const satisfies Record<string, (lines: string) => string>

/** The line of each event of the daemon. */
export const daemonPhrases: Phrases<DaemonEvent['type']> = {
  'daemon.started': (event) => {
    const { strategies, notes } = event
    const text = [
      `perpd ${event.version} started: profile ${event.profile} on ${event.chain}`,
      `account ${event.account}, strategies ${strategies.join(', ')}`,
      `venue ${listed(event.apiHosts)}`,
      `metrics and status at ${event.statusUrl} (/metrics, /api/status), journal ${event.journalPath}`,
      ...notes,
    ].join('\n')
    return line('info', 'perpd', text, {
      version: event.version,
      profile: event.profile,
      strategies,
      journal_path: event.journalPath,
      status_url: event.statusUrl,
      api_hosts: event.apiHosts,
      oracle_hosts: event.oracleHosts,
      notes,
    })
  },
  'daemon.resumed': (event) =>
    line(
      'info',
      'journal',
      `resumed from ${counted(event.records, 'record')} of ${counted(event.intents, 'order')} in ${span(event.tookMs)}: ${event.openIntents} open, ${event.unresolved} unresolved`,
      {
        records: event.records,
        intents: event.intents,
        open_intents: event.openIntents,
        unresolved: event.unresolved,
        latency_ms: Math.round(event.tookMs),
      },
    ),
  'daemon.clockSetBack': ({ backMs, against, hostsAheadMs }) =>
    line(
      'warn',
      'clock',
      `this machine's clock ${against === 'itself' ? `was set back by ${span(backMs)}` : `is ${span(backMs)} before the journal's newest record, which was written by a clock that was ahead`}; ${hostsText(hostsAheadMs)}. perpd follows orders and exits as before. Check this machine's clock and its time server`,
      {
        back_seconds: Math.round(backMs / 1_000),
        against,
        ...(hostsAheadMs === undefined ? {} : { skew_seconds: Math.round(hostsAheadMs / 1_000) }),
      },
    ),
  'daemon.recovering': (event) =>
    line('info', 'perpd', `recovering, no new orders yet: ${plain(event.reason)}`, {
      reason: event.reason,
    }),
  'daemon.ready': ({ held }) =>
    held === undefined
      ? line('info', 'perpd', 'ready: strategies are running')
      : line('warn', 'perpd', `ready, but ${plain(held)}: strategies run, and this blocks their orders`, {
          held,
        }),
  'daemon.draining': (event) =>
    line(
      'info',
      'perpd',
      event.underWay === 0
        ? `${event.signal}: no new orders; ${event.openIntents === 0 ? 'none is open' : `${counted(event.openIntents, 'order')} only ${event.openIntents === 1 ? 'rests' : 'rest'} at the venue`}`
        : `${event.signal}: no new orders; following ${counted(event.underWay, 'order')} in flight for up to ${span(event.drainMs)}. A second signal exits at once; both are safe`,
      { signal: event.signal, open_intents: event.openIntents, drain_ms: event.drainMs },
    ),
  'daemon.stopped': (event) => {
    const { openIntents, positions } = event
    const text = [
      openIntents === 0
        ? `stopped after ${span(event.uptimeMs)}, no order open`
        : `stopped after ${span(event.uptimeMs)} with ${counted(openIntents, 'order')} open; the next start follows ${openIntents === 1 ? 'it' : 'them'}`,
      ...(positions.length === 0
        ? []
        : [
            `${counted(positions.length, 'position')} stay${positions.length === 1 ? 's' : ''} open and unmanaged until the next start:`,
            ...positions.map(plain),
          ]),
    ].join('\n')
    return line(positions.length === 0 ? 'info' : 'warn', 'perpd', text, {
      open_intents: openIntents,
      positions,
      uptime_ms: Math.round(event.uptimeMs),
    })
  },
  'daemon.heartbeat': (event) =>
    line(
      'debug',
      'alive',
      `${counted(event.positions, 'position')}, exposure ${money(event.exposureUsd)}, ${counted(event.openIntents, 'open order')}, ${event.unresolved} unresolved`,
      {
        positions: event.positions,
        exposure_usd: usdField(event.exposureUsd),
        open_intents: event.openIntents,
        unresolved: event.unresolved,
      },
    ),
  'daemon.portMoved': ({ wanted, url, reason }) =>
    line(
      'error',
      'perpd',
      `the control port ${wanted} cannot be opened (${plain(reason)}): perpd trades, and serves at ${url} instead. Its commands find it; other clients of ${wanted} may reach another program. Free the port, then restart perpd`,
      { wanted, status_url: url, reason },
    ),
  'log.output': ({ state, lines }) =>
    line(state === 'lost' ? 'error' : 'warn', 'perpd', outputWords[state](counted(lines, 'line')), {
      state,
      lines,
    }),
  'tick.done': (event) =>
    line(
      'debug',
      'tick',
      `${event.strategy} made ${counted(event.decisions, 'decision')} in ${span(event.durationMs)}`,
      { strategy: event.strategy, decisions: event.decisions, latency_ms: event.durationMs },
    ),
  'tick.skipped': (event) =>
    line('debug', 'tick', `${event.strategy}: tick skipped: ${plain(event.reason)}`, {
      strategy: event.strategy,
      reason: event.reason,
    }),
  'tick.failed': (event) =>
    line(
      'error',
      'tick',
      `${event.strategy} failed (${event.failures} in a row): ${ended(event.reason)} ${event.cause === undefined ? 'Other strategies are not affected' : 'Other strategies with the same failure are counted with it'}; it runs again at its next tick`,
      {
        strategy: event.strategy,
        reason: event.reason,
        failures: event.failures,
        ...(event.ended !== undefined && { thread_ended: event.ended }),
        ...(event.facts && { facts: event.facts }),
      },
    ),
  'decision.invalid': (event) => {
    const { strategy, denial, field, place } = event
    return line(
      'error',
      'denied',
      `${strategy}: ${place === undefined ? '' : `${place}: `}${plain(denial.reason)} (${denial.code}); perpd ignored the decision`,
      {
        strategy,
        code: denial.code,
        reason: denial.reason,
        ...(field !== undefined && { field }),
        ...(place !== undefined && { place }),
      },
    )
  },
  'strategy.slow': ({ strategy, spentMs, limitMs }) =>
    line(
      'warn',
      'tick',
      `${strategy} is slow: decide used ${Math.round(spentMs)} ms of processor time; the limit is ${limitMs} (strategies.slowDecideMs). Its decisions count; other strategies are not delayed`,
      { strategy, spent_ms: Math.round(spentMs), limit_ms: limitMs },
    ),
  'strategy.paused': (event) =>
    line(
      'error',
      'tick',
      `${event.strategy} pauses for ${span(event.forMs)}: it failed ${event.failures} times in a row, last with ${ended(event.reason)} Its position is unchanged; other strategies are not affected`,
      {
        strategy: event.strategy,
        failures: event.failures,
        pause_ms: event.forMs,
        reason: event.reason,
      },
    ),
  'strategy.unfit': (event) =>
    line(
      'error',
      'tick',
      `${event.strategy} pauses: ${ended(event.reason)} Its position is unchanged. Correct its kind and load it (perpd strategies reload), or discard its memory: perpd strategies forget ${event.strategy}`,
      { strategy: event.strategy, reason: event.reason, facts: event.facts },
    ),
  'strategy.forgotten': (event) =>
    line('info', 'tick', `${event.strategy} starts over: ${event.by} discarded its memory`, {
      strategy: event.strategy,
      by: event.by,
    }),
  'strategy.changed': ({ strategy, file, change, fields, onRemove, by }) =>
    line(
      'warn',
      'files',
      `${strategy}: ${changeWords(change, onRemove)}${fieldWords(fields)}; by ${by} (${plain(file)})`,
      {
        strategy,
        file,
        change,
        by,
        on_remove: onRemove,
        fields: fields.map(fieldWord),
      },
    ),
  'strategy.switched': ({ strategy, to, reason, by }) =>
    line(
      'warn',
      'tick',
      to === 'paused'
        ? `${strategy} is paused by ${by}: ${plain(reason)}. Its position and resting orders stay; to resume: perpd strategies resume ${strategy}`
        : `${strategy} was resumed by ${by}: ${plain(reason)}`,
      { strategy, to, reason, by },
    ),
  'windDown.waits': ({ strategy, reason }) =>
    line('warn', 'files', `${strategy} cannot be wound down yet: ${plain(reason)}`, { strategy, reason }),
  'windDown.ended': ({ strategy, statement }) =>
    line('info', 'files', `${strategy} is wound down: ${plain(statement)}`, { strategy, statement }),
  'strategy.said': (event) =>
    line('info', 'said', `${event.strategy}: ${plain(event.text)}`, { strategy: event.strategy }),
}

/** Says what happened to an instance. */
function changeWords(change: 'added' | 'changed' | 'disabled' | 'removed', onRemove: OnRemove): string {
  switch (change) {
    case 'added':
      return 'started: its file is new'
    case 'changed':
      return 'changed with its file'
    case 'disabled':
      return 'stopped: its file disables it; orders and position are untouched'
    case 'removed':
      return `stopped: its file was removed; ${removalWords[onRemove]}`
  }
}

const removalWords: Readonly<Record<OnRemove, string>> = {
  keep: 'orders and position are untouched',
  reduce: 'its entries are cancelled, and its exits close its position',
  close: 'its entries are cancelled, and its parts of positions are closed',
}

function fieldWords(fields: readonly FieldChange[]): string {
  return fields.length === 0 ? '' : `: ${fields.map(fieldWord).join(', ')}`
}

function fieldWord({ field, from = 'not set', to = 'not set' }: FieldChange): string {
  return `${plain(field)} ${plain(from)} -> ${plain(to)}`
}

/** The hosts' clocks against ours after it went back. */
function hostsText(aheadMs: number | undefined): string {
  if (aheadMs === undefined) return 'no host has reported its time yet'
  if (Math.abs(aheadMs) < CLOCK_STEP_MS) return "the hosts' clocks agree with it now"
  return `the hosts' clocks are ${span(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead of' : 'behind'} it`
}
