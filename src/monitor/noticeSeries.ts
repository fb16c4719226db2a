/** The series of what is reported outside: notices to people, and the lines of the log. */
import type { Emit, Event } from '../domain/event.ts'
import type { SeriesMaker } from './seriesMaker.ts'

/** Notices by sink and by what became of them; lines that standard output takes. */
export function noticeSeries({ counter, gauge }: SeriesMaker): Emit {
  const notices = counter(
    'perpd_notifications_total',
    'Notices by sink and result: sent, refused (by the service, no retry) or failed (after all retries).',
    ['sink', 'result'],
  )
  const dropped = counter('perpd_notifications_dropped_total', 'Notices that full queues dropped.')
  const chats = counter(
    'perpd_chat_messages_total',
    'Messages to the bot of a command chat, by result: taken, stranger, old, again (seen before) or other (no command).',
    ['sink', 'result'],
  )
  const output = gauge(
    'perpd_log_output_open',
    '1 while standard output accepts the lines of the log; 0 while its reader accepts none or is gone.',
  )
  output.set(1)
  const lines = counter(
    'perpd_log_lines_dropped_total',
    'Lines of the log that standard output did not accept.',
  )
  return (event: Event): void => {
    if (event.type === 'log.output') {
      output.set(event.state === 'taken' ? 1 : 0)
      if (event.state === 'taken') lines.inc(event.lines)
      return
    }
    if (event.type === 'notice.ended') notices.inc({ sink: event.sink, result: event.result })
    else if (event.type === 'notice.dropped') dropped.inc()
    else if (event.type === 'chat.update') chats.inc({ sink: event.sink, result: event.result })
  }
}
