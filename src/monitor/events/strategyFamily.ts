/** Events of strategies: their turns, their failures, their files and pauses, and decisions that are none. */
import type { FieldChange, OnRemove } from '../../domain/accountRecords/strategyEntry.ts'
import type { DaemonEvent } from '../../domain/daemonEvent.ts'
import type { SeriesMaker } from '../seriesMaker.ts'
import { counted, ended, plain, span } from '../text.ts'
import type { EventFamily, NoticeFacts, Seen } from './eventRow.ts'
import { networkBuckets } from './orderWords.ts'

function series({ counter, gauge, histogram }: SeriesMaker) {
  return {
    loop: histogram(
      'perpd_loop_duration_seconds',
      "One turn of a strategy's loop, seconds: snapshot, decision, admission.",
      ['strategy'],
      networkBuckets,
    ),
    viewBytes: gauge(
      'perpd_strategy_view_bytes',
      "Size of the last view sent to the thread of a user's own kind, bytes.",
      ['strategy'],
    ),
    threadEnds: counter(
      'perpd_strategy_thread_ends_total',
      "Ended threads of users' own kinds, by cause: timeout, memory, exit or crash.",
      ['strategy', 'cause'],
    ),
    slowTurns: counter(
      'perpd_strategy_slow_turns_total',
      "Turns of users' own kinds that used more processor time than strategies.slowDecideMs.",
      ['strategy'],
    ),
    turns: counter('perpd_ticks_total', "Turns of a strategy's loop by result: done, failed or skipped.", [
      'strategy',
      'result',
    ]),
  }
}

/** Events of strategies. */
export const strategyFamily: EventFamily<
  Extract<DaemonEvent, { type: `tick.${string}` | `strategy.${string}` | `windDown.${string}` }>,
  ReturnType<typeof series>
> = {
  series,
  rows: {
    'tick.done': {
      levels: ['debug'],
      meaning: 'A strategy had its turn.',
      word: 'tick',
      text: ({ strategy, decisions, durationMs }) =>
        `${strategy} made ${counted(decisions, 'decision')} in ${span(durationMs)}`,
      fields: ['strategy', 'decisions', ['latency_ms', ({ durationMs }) => durationMs]],
      moves({ turns, loop, viewBytes }, { strategy, durationMs, viewBytes: bytes }) {
        turns.inc({ strategy, result: 'done' })
        loop.observe({ strategy }, durationMs / 1_000)
        if (bytes !== undefined) viewBytes.set({ strategy }, bytes)
      },
      // Its turns have been in good order for ten minutes.
      notice: ({ strategy, isSlow, invalid = 0 }, seen) =>
        isSlow === true || invalid > 0
          ? sameTrouble(strategy, seen)
          : troublesOf(strategy, seen).map((facts) => ({
              ...facts,
              ...{ level: 'info', isEnd: true, quietMs: GOOD_MS },
              text: `${strategy} has resumed: no turn failed for ten minutes`,
            })),
    },
    'tick.skipped': {
      levels: ['debug'],
      meaning: 'A strategy skipped its turn, with the reason.',
      word: 'tick',
      text: ({ strategy, reason }) => `${strategy}: tick skipped: ${plain(reason)}`,
      fields: ['strategy', 'reason'],
      isFromOutside: true,
      repeats: ({ strategy, reason }) => [`skipped ${strategy}`, reason],
      moves: ({ turns }, { strategy }) => turns.inc({ strategy, result: 'skipped' }),
    },
    'tick.failed': {
      levels: ['error'],
      meaning: 'A turn of a strategy failed; other strategies are not affected.',
      word: 'tick',
      text: ({ strategy, failures, reason, cause }) =>
        `${strategy} failed (${failures} in a row): ${ended(reason)} ${cause === undefined ? 'Other strategies are not affected' : 'Other strategies with the same failure are counted with it'}; it runs again at its next tick`,
      fields: [
        ...(['strategy', 'reason', 'failures'] as const),
        ['thread_ended', (event) => event.ended],
        'facts',
      ],
      isFromOutside: true,
      repeats: ({ strategy, reason, cause }) =>
        cause === undefined ? [`failed ${strategy}`, reason] : ['reads', cause],
      moves({ turns, threadEnds }, { strategy, ended: cause }) {
        turns.inc({ strategy, result: 'failed' })
        if (cause !== undefined) threadEnds.inc({ strategy, cause })
      },
      notice: ({ strategy }, seen) => sameTrouble(strategy, seen),
    },
    'strategy.slow': {
      levels: ['warn'],
      meaning: 'A turn of your own kind used more processor time than strategies.slowDecideMs.',
      word: 'tick',
      text: ({ strategy, spentMs, limitMs }) =>
        `${strategy} is slow: decide used ${Math.round(spentMs)} ms of processor time; the limit is ${limitMs} (strategies.slowDecideMs). Its decisions count; other strategies are not delayed`,
      fields: ['strategy', ['spent_ms', ({ spentMs }) => Math.round(spentMs)], 'limit_ms'],
      repeats: ({ strategy }) => [`slow ${strategy}`, ''],
      moves: ({ slowTurns }, { strategy }) => slowTurns.inc({ strategy }),
    },
    'strategy.paused': {
      levels: ['error'],
      meaning: 'Your own kind failed too often and pauses.',
      word: 'tick',
      text: ({ strategy, forMs, failures, reason }) =>
        `${strategy} pauses for ${span(forMs)}: it failed ${failures} times in a row, last with ${ended(reason)} Its position is unchanged; other strategies are not affected`,
      fields: ['strategy', 'failures', ['pause_ms', ({ forMs }) => forMs], 'reason'],
      repeats: ({ strategy }) => [`paused ${strategy}`, ''],
      notice: ({ strategy }, seen) => [
        ...sameTrouble(strategy, seen),
        {
          ...{ kind: 'strategy-paused', cause: `paused:${strategy}`, stage: 'failed' },
          action: `Correct the kind of ${strategy}.`,
        },
      ],
    },
    'strategy.unfit': {
      levels: ['error'],
      meaning: 'The saved memory of a strategy is incompatible with its kind.',
      word: 'tick',
      text: ({ strategy, reason }) =>
        `${strategy} pauses: ${ended(reason)} Its position is unchanged. Correct its kind and load it (perpd strategies reload), or discard its memory: perpd strategies forget ${strategy}`,
      fields: ['strategy', 'reason', 'facts'],
      notice: ({ strategy }, seen) => [
        ...sameTrouble(strategy, seen),
        {
          ...{ kind: 'strategy-unfit', cause: `unfit:${strategy}` },
          action: 'Correct its kind and load it: perpd strategies reload',
        },
      ],
    },
    'strategy.forgotten': {
      levels: ['info'],
      meaning: "An operator discarded a strategy's memory.",
      word: 'tick',
      text: ({ strategy, by }) => `${strategy} starts over: ${by} discarded its memory`,
      fields: ['strategy', 'by'],
    },
    'strategy.changed': {
      levels: ['warn'],
      meaning: 'A strategy file was loaded.',
      word: 'files',
      text: ({ strategy, file, change, fields, onRemove, by }) =>
        `${strategy}: ${changeWords(change, onRemove)}${fieldWords(fields)}; by ${by} (${plain(file)})`,
      fields: [
        ...(['strategy', 'file', 'change', 'by', 'on_remove'] as const),
        ['fields', ({ fields }) => fields.map(fieldWord)],
      ],
    },
    'strategy.switched': {
      levels: ['warn'],
      meaning: 'An operator paused or resumed a strategy.',
      word: 'tick',
      text: ({ strategy, to, reason, by }) =>
        to === 'paused'
          ? `${strategy} is paused by ${by}: ${plain(reason)}. Its position and resting orders stay; to resume: perpd strategies resume ${strategy}`
          : `${strategy} was resumed by ${by}: ${plain(reason)}`,
      fields: ['strategy', 'to', 'reason', 'by'],
      notice: ({ strategy, to }) => ({
        kind: 'strategy-paused',
        cause: `paused:${strategy}`,
        ...(to === 'running' ? { isEnd: true } : { stage: 'operator' }),
      }),
    },
    'strategy.said': {
      levels: ['info'],
      meaning: 'Your own kind printed a line.',
      word: 'said',
      text: ({ strategy, text }) => `${strategy}: ${plain(text)}`,
      fields: ['strategy'],
      isFromOutside: true,
      repeats: ({ strategy, text }) => [`said ${strategy}`, text],
    },
    'windDown.waits': {
      levels: ['warn'],
      meaning: 'A removed strategy cannot be wound down yet.',
      word: 'files',
      text: ({ strategy, reason }) => `${strategy} cannot be wound down yet: ${plain(reason)}`,
      fields: ['strategy', 'reason'],
    },
    'windDown.ended': {
      levels: ['info'],
      meaning: 'A removed strategy is wound down.',
      word: 'files',
      text: ({ strategy, statement }) => `${strategy} is wound down: ${plain(statement)}`,
      fields: ['strategy', 'statement'],
    },
  },
}

/** Time that the turns of a strategy must be in good order before its pause is over, ms. */
const GOOD_MS = 600_000

/** Open incidents of a strategy that good turns end: an operator's pause is none of them. */
function troublesOf(strategy: string, { open }: Seen): readonly NoticeFacts[] {
  const causes = [`paused:${strategy}`, `unfit:${strategy}`]
  return causes.flatMap((cause) => {
    const { kind, stage } = open(cause) ?? {}
    return kind === undefined || stage === 'operator' ? [] : [{ kind, cause }]
  })
}

/** A strategy that fails is still in the trouble that it was in. */
function sameTrouble(strategy: string, seen: Seen): readonly NoticeFacts[] {
  return troublesOf(strategy, seen).map((facts) => ({ ...facts, isSame: true }))
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
