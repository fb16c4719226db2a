/**
 * Keeps the log short without hiding anything new (what outsiders can multiply has a ceiling besides: logRateLimit.ts). Lines of what repeats go down to
 * `debug`, and the end of a topic is a line too, as the fold of topics judges (`incidents/topics.ts`). Positions are logged when one changes, and the
 * heartbeat when nothing else was for half a minute.
 */
import { sideKeyOf } from '../../domain/accountRecords/accountRecord.ts'
import type { Event } from '../../domain/event.ts'
import { phrase, rowOfEvent } from '../events/eventRegister.ts'
import type { EventOf, Level, Line } from '../events/eventRow.ts'
import { createTopics } from '../incidents/topics.ts'
import { span } from '../text.ts'

/** After this long without a line, the next heartbeat is one. */
const SILENT_MS = 30_000

/**
 * Turns an event into the lines to write, none of which is lost: one that says nothing new has level `debug`. A debug line that
 * `isDebugWritten` denies to its event is not made at all: hundreds of strategies repeat one wish each second.
 */
export function createRepeatFilter(
  now: () => number,
  isDebugWritten: (event: Event['type']) => boolean = () => true,
): (event: Event) => readonly Line[] {
  const judge = createTopics(now)
  let toldAtMs = Number.NEGATIVE_INFINITY
  let positionsTold = ''

  const isMoved = ({ positions, unlisted = [] }: EventOf<'account.positions'>): boolean => {
    const before = positionsTold
    positionsTold = positions
      .map((position) => `${position.positionKey} ${position.sizeInUsd}`)
      .concat(unlisted.map(({ sizeUsd, ...side }) => `${sideKeyOf(side)} ${sizeUsd}`))
      .sort()
      .join()
    return positionsTold !== before
  }

  const linesOf = (event: Event): readonly Line[] => {
    if (event.type === 'account.positions' && !isMoved(event)) return [{ ...phrase(event), level: 'debug' }]
    if (event.type === 'daemon.heartbeat' && now() - toldAtMs >= SILENT_MS)
      return [{ ...phrase(event), level: 'info' }]
    const { isNews, again, ended } = judge(event)
    const isDebug = !isNews || levelOf(event) === 'debug'
    if (isDebug && again === undefined && ended.length === 0 && !isDebugWritten(event.type)) return []
    const line = phrase(event)
    const times = again === undefined ? '' : ` (${again.count} times in ${span(again.spanMs)})`
    return [
      {
        ...line,
        ...(isNews ? {} : { level: 'debug' }),
        ...(again && { text: `${line.text}${times}`, fields: { ...line.fields, repeated: again.count } }),
      },
      ...ended.map(
        ({ count, word, text }): Line => ({
          ...{ level: 'info', word, text },
          fields: { ...line.fields, recovered: count },
        }),
      ),
    ]
  }
  return (event) => {
    const lines = linesOf(event)
    if (lines.some(({ level }) => level !== 'debug')) toldAtMs = now()
    return lines
  }
}

function levelOf(event: Event): Level {
  const { level, levels } = rowOfEvent(event)
  return level?.(event) ?? levels[0]
}

/** Tells whether an event that is itself a line of level `debug` may raise its level or end what other lines told. */
export function changesLines({ type }: Event): boolean {
  return type === 'tick.done' || type === 'daemon.heartbeat'
}
