/** The series of notices to people outside. */
import type { Emit, Event } from '../domain/event.ts'
import type { SeriesMaker } from './seriesMaker.ts'

/** Notices by sink and by what became of them. */
export function noticeSeries({ counter }: SeriesMaker): Emit {
  const notices = counter(
    'perpd_notifications_total',
    'Notices by sink and by what became of them: sent, refused (by the service, not tried again) or failed (after all tries).',
    ['sink', 'result'],
  )
  const dropped = counter('perpd_notifications_dropped_total', 'Notices that full queues dropped.')
  return (event: Event): void => {
    if (event.type === 'notice.ended') notices.inc({ sink: event.sink, result: event.result })
    else if (event.type === 'notice.dropped') dropped.inc()
  }
}
