/**
 * A ceiling on the lines that what comes from outside can cause: hosts, endpoints and the account's lists. Up to `BURST` of
 * one kind are told at once, then one every quarter of a minute; what is beyond goes down to `debug`, and the next line that
 * is told says how many were kept back. What perpd itself does (orders, kills, halts, commands) is told always.
 */
import type { Event, EventType } from '../../domain/event.ts'
import { rowOfEvent } from '../events/eventRegister.ts'
import type { Line } from '../events/eventRow.ts'

const BURST = 60
const EVERY_MS = 15_000

interface Kind {
  left: number
  atMs: number
  keptBack: number
}

/** Makes the ceiling: gives each line of an event as it is to be written. */
export function createLogRateLimit(now: () => number): (event: Event, line: Line) => Line {
  const kinds = new Map<EventType, Kind>()
  return (event, line) => {
    if (line.level === 'debug' || rowOfEvent(event).isFromOutside !== true) return line
    const { type } = event
    const nowMs = now()
    let kind = kinds.get(type)
    if (kind === undefined) {
      kind = { left: BURST, atMs: nowMs, keptBack: 0 }
      kinds.set(type, kind)
    }
    kind.left = Math.min(BURST, kind.left + Math.max(0, nowMs - kind.atMs) / EVERY_MS)
    kind.atMs = nowMs
    if (kind.left < 1) {
      kind.keptBack += 1
      return { ...line, level: 'debug' }
    }
    kind.left -= 1
    if (kind.keptBack === 0) return line
    const { keptBack } = kind
    kind.keptBack = 0
    return {
      ...line,
      text: `${line.text} (and ${keptBack} more lines of this kind were suppressed)`,
      fields: { ...line.fields, kept_back: keptBack },
    }
  }
}
