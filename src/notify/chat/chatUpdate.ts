/** Judges a message to a Telegram bot: a command of somebody who may command, or nothing. Pure. */
import { z } from 'zod'
import type { ChatResult } from '../../domain/noticeEvent.ts'

/** A word with what follows it, and who wrote it. */
export interface ChatCommand {
  /** Lower case, without the slash. */
  readonly word: string
  readonly args: readonly string[]
  /** Telegram's id of the person. */
  readonly userId: string
}

/** Judgement of an update. */
export type JudgedUpdate =
  | { readonly is: 'command'; readonly command: ChatCommand }
  | { readonly is: 'ignored'; readonly because: Exclude<ChatResult, 'taken' | 'again'> }

/** Whose messages count, and of when. */
export interface ChatRules {
  readonly chatId: string
  readonly userIds: readonly string[]
  /** The topic of a forum whose messages count; absent: those of every one. */
  readonly topicId?: number
  /** The bot's own name: a command that names another one is not for us. */
  readonly botName: string
  /** When the daemon began to listen, Unix ms. */
  readonly startedAtMs: number
}

/** A message older than this is not carried out, ms. */
const MOST_AGE_MS = 60_000
/** Our clock may be this far behind the service's, ms: a message from further ahead was sent at no time that there was. */
const MOST_AHEAD_MS = 10_000

const id = z.union([z.int(), z.bigint()]).transform(String)

/** An update, as far as it is looked at; an edited or forwarded message is no command, and neither is one that another bot put into somebody's mouth. */
const update = z.object({
  message: z.object({
    date: z.int().nonnegative(),
    chat: z.object({ id }),
    from: z.object({ id, is_bot: z.literal(false) }),
    sender_chat: z.undefined().optional(),
    forward_origin: z.undefined().optional(),
    via_bot: z.undefined().optional(),
    message_thread_id: z.int().optional(),
    text: z.string(),
  }),
})

/** Judges an update by its chat, its person and its age. `nowMs`: Unix ms. */
export function judgeUpdate(written: unknown, rules: ChatRules, nowMs: number): JudgedUpdate {
  const read = update.safeParse(written)
  if (!read.success) return { is: 'ignored', because: 'other' }
  const { date, chat, from, text, message_thread_id: topicId } = read.data.message
  // Both: another chat with the bot is not overseen by the people of this one, and not all of a chat may command.
  if (chat.id !== rules.chatId || !rules.userIds.includes(from.id))
    return { is: 'ignored', because: 'stranger' }
  if (rules.topicId !== undefined && topicId !== rules.topicId) return { is: 'ignored', because: 'other' }
  const atMs = date * 1_000
  if (atMs < rules.startedAtMs || nowMs - atMs > MOST_AGE_MS) return { is: 'ignored', because: 'old' }
  if (atMs - nowMs > MOST_AHEAD_MS) return { is: 'ignored', because: 'other' }
  const [, word, bot, rest = ''] =
    /^\/([a-z][a-z0-9_-]{0,39})(?:@(\w{1,40}))?(?:\s+(.{0,200}))?$/i.exec(text.trim()) ?? []
  const isOurs = bot === undefined || bot.toLowerCase() === rules.botName.toLowerCase()
  if (word === undefined || !isOurs) return { is: 'ignored', because: 'other' }
  // A command that may be tapped has no space in it, and a phone begins words with a capital.
  const [first = '', ...joined] = word.toLowerCase().split(/[_-]/)
  const args = [...joined, ...rest.toLowerCase().split(/\s+/)].filter((arg) => arg !== '')
  return { is: 'command', command: { word: first, args, userId: from.id } }
}
