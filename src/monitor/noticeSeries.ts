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
  const chats = counter(
    'perpd_chat_messages_total',
    'Messages to the bot of a chat that may command, by what became of them: taken, stranger, old, again (seen before) or other (no command).',
    ['sink', 'result'],
  )
  return (event: Event): void => {
    if (event.type === 'notice.ended') notices.inc({ sink: event.sink, result: event.result })
    else if (event.type === 'notice.dropped') dropped.inc()
    else if (event.type === 'chat.update') chats.inc({ sink: event.sink, result: event.result })
  }
}
