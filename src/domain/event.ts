/**
 * Everything that can be reported. The path emits these and does not know who listens; log lines, metrics, health and
 * the console are four listeners. A new fact is an event of one of these subjects first.
 */
import type { AccountEvent } from './accountEvent.ts'
import type { DaemonEvent } from './daemonEvent.ts'
import type { NoticeEvent } from './noticeEvent.ts'
import type { OrderEvent } from './orderEvent.ts'
import type { SignalEvent } from './signalEvent.ts'
import type { VenueEvent } from './venueEvent.ts'

/** Something worth reporting. `type` is the stable dotted name of the log line. */
export type Event = DaemonEvent | OrderEvent | VenueEvent | AccountEvent | SignalEvent | NoticeEvent

/** Names of events. */
export type EventType = Event['type']

/** Reports an event. Never throws; never waits. */
export type Emit = (event: Event) => void

/** One emit over several listeners; a listener that throws is a mistake of ours and must not stop an order. */
export function emitTo(listeners: readonly Emit[], onListenerError: (error: unknown) => void): Emit {
  return (event) => {
    for (const listener of listeners) {
      try {
        listener(event)
      } catch (error) {
        onListenerError(error)
      }
    }
  }
}
