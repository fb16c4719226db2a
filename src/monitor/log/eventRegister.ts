/** The register of events: every line of the log is of one of them. `docs/reference/events.md` is printed from here. */
import type { EventType } from '../../domain/event.ts'
import { daemonRegister } from './registerDaemon.ts'
import type { RegisteredEvent } from './registered.ts'
import { type NoteName, noteRegister } from './registerNotes.ts'
import { orderRegister } from './registerOrder.ts'
import { venueRegister } from './registerVenue.ts'

/** Name of a line: a dotted event, stable over versions. */
export type LineName = EventType | NoteName

/** Every event by its name. One that can be written and is not here does not compile. */
export const eventRegister: Readonly<Record<LineName, RegisteredEvent>> = {
  ...daemonRegister,
  ...orderRegister,
  ...venueRegister,
  ...noteRegister,
}

/** Fields that any line may have. */
export const commonFieldNames: Readonly<Record<string, string>> = {
  level: '`debug`, `info`, `warn` or `error`',
  ts: 'when it was written, RFC 3339 in UTC',
  run_id: 'this run of the daemon',
  event: 'name of the event, as below',
  chain: 'the chain, once the daemon has started',
  account: 'the account, shortened, once the daemon has started',
  message: 'a sentence for people; its words may change',
  cut_bytes:
    'bytes of its fields that were cut to keep the line within 8 KiB; orders are whole in the journal',
  repeated: 'how often the same cause happened, in a repeated line',
  recovered: 'how often an ended cause happened',
  kept_back: 'lines of this event that were suppressed before it, because there were too many',
}
