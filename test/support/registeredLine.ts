/** The register of events held against what really happens: simulated days and stories tell every event here. */
import type { Event } from '../../src/domain/event.ts'
import { eventRegister, phrase } from '../../src/monitor/events/eventRegister.ts'

/** Throws where the line of an event has a level or a field that the register does not name. */
export function holdToRegister(event: Event): void {
  const { level, fields } = phrase(event)
  const known = eventRegister[event.type]
  const unknown = Object.keys(fields).filter((field) => !known.fields.includes(field))
  if (unknown.length > 0)
    throw new Error(`${event.type} has fields that no register names: ${unknown.join(', ')}`)
  if (!known.levels.includes(level))
    throw new Error(`${event.type} has level ${level}, which no register names`)
}
