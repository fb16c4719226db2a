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
        ? `${sink} was told of ${kind}`
        : `${sink} was not told of ${kind}: ${plain(reason ?? result)}. Trading goes on`,
      { sink, notice: kind, result, ...defined({ reason }) },
    ),
  'notice.dropped': ({ sink, kind }) =>
    line('warn', 'notify', `${sink} is too slow: a notice of ${kind} was dropped. Trading goes on`, {
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
        ? `no commands come from the chat of ${sink}: ${plain(reason)}. Trading goes on, and perpd goes on asking`
        : `an answer did not reach the chat of ${sink}: ${plain(reason)}. What it answers stands, and commands are taken still`,
      { sink, what, reason },
    ),
  'chat.restored': ({ sink, what }) =>
    line(
      'info',
      'notify',
      `the chat of ${sink} ${what === 'commands' ? 'gives commands' : 'is answered'} again`,
      { sink, what },
    ),
}
