/** Formats the log lines about the delivery of notices to people outside. */
import { defined } from '../../base/defined.ts'
import type { NoticeEvent } from '../../domain/noticeEvent.ts'
import { plain } from '../text.ts'
import { line, type Phrases } from './line.ts'

/** The line of each event of a notice. */
export const noticePhrases: Phrases<NoticeEvent['type']> = {
  'notice.ended': ({ sink, kind, result, reason }) =>
    line(
      result === 'sent' ? 'debug' : 'warn',
      'notify',
      result === 'sent'
        ? `${sink} was notified of ${kind}`
        : `${sink} was not notified of ${kind}: ${plain(reason ?? result)}. Trading continues`,
      { sink, notice: kind, result, ...defined({ reason }) },
    ),
  'notice.dropped': ({ sink, kind }) =>
    line('warn', 'notify', `${sink} is too slow: a notice of ${kind} was dropped. Trading continues`, {
      sink,
      notice: kind,
    }),
  'chat.update': ({ sink, result }) =>
    line('debug', 'notify', `a message to the bot of ${sink}: ${result}`, { sink, result }),
  'chat.failed': ({ sink, what, reason }) =>
    line(
      'warn',
      'notify',
      what === 'commands'
        ? `commands of the chat of ${sink} cannot be read: ${plain(reason)}. Trading continues, and perpd keeps retrying`
        : `a reply did not reach the chat of ${sink}: ${plain(reason)}. Its command is still valid, and perpd accepts more commands`,
      { sink, what, reason },
    ),
  'chat.restored': ({ sink, what }) =>
    line(
      'info',
      'notify',
      `the chat of ${sink} ${what === 'commands' ? 'can be read' : 'receives replies'} again`,
      { sink, what },
    ),
}
