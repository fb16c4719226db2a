/** Outcomes of notices to people outside. */

/** Outcome of a notice at a sink. */
export const noticeResults = ['sent', 'refused', 'failed'] as const

/** One of them: `refused` by the service, which is not asked again; `failed` after all tries. */
export type NoticeResult = (typeof noticeResults)[number]

/** Outcome of a message to our bot: carried out or answered, or ignored as a stranger's, old, seen before, or no command. */
export const chatResults = ['taken', 'stranger', 'old', 'again', 'other'] as const

/** One of them. */
export type ChatResult = (typeof chatResults)[number]

/** Failing part of a chat: reading commands, or answering them. */
export type ChatPart = 'commands' | 'answers'

/** Notices. `type` is the stable dotted name of the log line. Only those of chats are reported to sinks. */
export type NoticeEvent =
  | {
      readonly type: 'notice.ended'
      readonly sink: string
      readonly kind: string
      readonly result: NoticeResult
      /** The reason why it was not sent; holds no secret. */
      readonly reason?: string
    }
  /** A full queue dropped one. */
  | { readonly type: 'notice.dropped'; readonly sink: string; readonly kind: string }
  /** A message to the bot of a chat that may command. */
  | { readonly type: 'chat.update'; readonly sink: string; readonly result: ChatResult }
  /** Commands of a chat cannot be read, or not be answered; reported once until they can. Holds no secret. */
  | {
      readonly type: 'chat.failed'
      readonly sink: string
      readonly what: ChatPart
      readonly reason: string
    }
  /** They could be read for a minute without a failure, or one was answered. */
  | { readonly type: 'chat.restored'; readonly sink: string; readonly what: ChatPart }
