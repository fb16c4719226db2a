/** Events of notices to people outside, and of the chats by which they command. */
import type { NoticeEvent } from '../../domain/noticeEvent.ts'
import type { SeriesMaker } from '../seriesMaker.ts'
import { counted, plain } from '../text.ts'
import type { EventFamily } from './eventRow.ts'

function series({ counter }: SeriesMaker) {
  return {
    notices: counter(
      'perpd_notifications_total',
      'Notices by sink and result: sent, refused (by the service, no retry) or failed (after all retries).',
      ['sink', 'result'],
    ),
    dropped: counter('perpd_notifications_dropped_total', 'Notices that full queues dropped.'),
    chats: counter(
      'perpd_chat_messages_total',
      'Messages to the bot of a command chat, by result: taken, stranger, old, again (seen before) or other (no command).',
      ['sink', 'result'],
    ),
  }
}

const isBeat = (kind: string): boolean => kind === 'well' || kind === 'fail'

/** Events of notices and chats. */
export const noticeFamily: EventFamily<NoticeEvent, ReturnType<typeof series>> = {
  series,
  rows: {
    'notice.ended': {
      levels: ['debug', 'warn'],
      level: ({ result }) => (result === 'sent' ? 'debug' : 'warn'),
      meaning: 'A notification was sent; at warn, it failed.',
      word: 'notify',
      text: ({ sink, kind, result, reason }) =>
        result === 'sent'
          ? `${sink} was notified of ${kind}`
          : `${sink} was not notified of ${kind}: ${plain(reason ?? result)}. Trading continues`,
      fields: ['sink', ['notice', ({ kind }) => kind], 'result', 'reason'],
      // A notice is logged one by one; a beat of the dead man's switch comes each minute.
      repeats: ({ kind, result, reason }) =>
        isBeat(kind) && result !== 'sent' ? ['beat', reason ?? result] : undefined,
      ends: ({ kind }) =>
        isBeat(kind)
          ? { topic: 'beat', text: (count) => `the heartbeat works again after ${counted(count, 'failure')}` }
          : undefined,
      moves: ({ notices }, { sink, result }) => notices.inc({ sink, result }),
    },
    'chat.update': {
      levels: ['debug'],
      meaning: 'The bot of a command chat received a message.',
      word: 'notify',
      text: ({ sink, result }) => `a message to the bot of ${sink}: ${result}`,
      fields: ['sink', 'result'],
      moves: ({ chats }, { sink, result }) => chats.inc({ sink, result }),
    },
    'chat.failed': {
      levels: ['warn'],
      meaning: 'Commands of a chat cannot be read or answered.',
      word: 'notify',
      text: ({ sink, what, reason }) =>
        what === 'commands'
          ? `commands of the chat of ${sink} cannot be read: ${plain(reason)}. Trading continues, and perpd keeps retrying`
          : `a reply did not reach the chat of ${sink}: ${plain(reason)}. Its command is still valid, and perpd accepts more commands`,
      fields: ['sink', 'what', 'reason'],
      notice: ({ sink, what }) => ({
        kind: 'chat-failed',
        cause: `chat:${sink}:${what}`,
        action:
          what === 'commands'
            ? 'Use the console or the command line meanwhile. Check the token, and that no other program reads the messages of this bot.'
            : 'Check whether the command was carried out: perpd trading.',
      }),
    },
    'chat.restored': {
      levels: ['info'],
      meaning: 'Commands of a chat can be read or answered again.',
      word: 'notify',
      text: ({ sink, what }) =>
        `the chat of ${sink} ${what === 'commands' ? 'can be read' : 'receives replies'} again`,
      fields: ['sink', 'what'],
      notice: ({ sink, what }) => ({ kind: 'chat-failed', cause: `chat:${sink}:${what}`, isEnd: true }),
    },
    'notice.dropped': {
      levels: ['warn'],
      meaning: 'A sink is too slow: a notice was dropped.',
      word: 'notify',
      text: ({ sink, kind }) => `${sink} is too slow: a notice of ${kind} was dropped. Trading continues`,
      fields: ['sink', ['notice', ({ kind }) => kind]],
      moves: ({ dropped }) => dropped.inc(),
    },
  },
}
