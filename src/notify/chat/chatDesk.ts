/**
 * Handles the questions and commands of a chat. It answers questions at once, and accepts commands only after a code that it just sent. Pure but for
 * its state.
 */
import { exitPlaceOrNone } from '../../base/bodyFields.ts'
import { defined } from '../../base/defined.ts'
import type { ChatCommand } from './chatUpdate.ts'

/** Questions that a chat may ask. */
export const chatQuestions = ['status', 'positions', 'pnl', 'orders'] as const

/** One of them. */
export type ChatQuestion = (typeof chatQuestions)[number]

/** A command of one word. `kill-close` closes positions too, `kill-exits` cancels their exits too. */
export type ChatWord = 'pause' | 'resume' | 'reduce' | 'kill' | 'kill-close' | 'kill-exits'

/** Exits of a position to be placed, moved or removed, as they were written: prices, percents of the entry price, or `none`. */
export interface ChatProtection {
  readonly market: string
  readonly direction: 'long' | 'short'
  readonly stopLoss: string
  /** Absent: it stays as it is. */
  readonly takeProfit?: string
}

/** The command. */
export type ChatOrder = ChatWord | ChatProtection

/** Next step for a command. */
export type ChatStep =
  | { readonly step: 'answer'; readonly question: ChatQuestion }
  | { readonly step: 'say'; readonly text: string }
  | { readonly step: 'order'; readonly order: ChatOrder; readonly userId: string }

/** Lifetime of a code, ms. */
const CODE_HOLDS_MS = 60_000

const doing: Readonly<Record<ChatWord, string>> = {
  pause: 'halts trading: no new orders at all',
  resume: 'resumes trading and releases every halt, also one of a kill',
  reduce: 'allows only orders that reduce',
  kill: 'halts trading and cancels every order that adds risk; positions, stop-losses and take-profits stay',
  'kill-exits': 'halts trading and cancels every order, stop-losses too; positions stay, unprotected',
  'kill-close': 'halts trading, cancels every order and closes every position at the market',
}

/** The help, which is the answer to whatever is not known. */
const chatHelp =
  '/status /positions /pnl /orders: state, positions, result and open orders\n/protect MARKET long|short STOP [TARGET], as /protect ETH long 3% 2400: exits of a position; none removes one\n/pause /resume /reduce /kill, /kill close, /kill exits: each needs a confirmation, as /protect does'

/**
 * A desk for one chat.
 *
 * @param nextCode makes a code of four digits that nobody can guess.
 */
export function createChatDesk(nextCode: () => string): (command: ChatCommand, nowMs: number) => ChatStep {
  const waiting = new Map<
    string,
    { readonly order: ChatOrder; readonly code: string; readonly untilMs: number }
  >()
  return ({ word, args, userId }, nowMs) => {
    const question = chatQuestions.find((each) => each === word)
    if (question !== undefined) return { step: 'answer', question }
    if (word === 'confirm') {
      const asked = waiting.get(userId)
      // One try: a code that was guessed wrong is worth nothing any more.
      waiting.delete(userId)
      if (asked === undefined) return { step: 'say', text: 'No command of yours waits for a confirmation.' }
      if (nowMs > asked.untilMs)
        return {
          step: 'say',
          text: 'The confirmation came too late: nothing was done. Send the command again.',
        }
      if (args[0] !== asked.code)
        return { step: 'say', text: 'The code is wrong: nothing was done. Send the command again.' }
      return { step: 'order', order: asked.order, userId }
    }
    const order = orderOf(word, args)
    if (order === undefined) return { step: 'say', text: chatHelp }
    const code = nextCode()
    waiting.set(userId, { order, code, untilMs: nowMs + CODE_HOLDS_MS })
    return {
      step: 'say',
      text: `/${[word, ...args].join(' ')} ${typeof order === 'string' ? doing[order] : protectionText(order)}. To do it, within a minute: /confirm ${code}`,
    }
  }
}

function orderOf(word: string, args: readonly string[]): ChatOrder | undefined {
  if (word === 'protect') return protectionOf(args)
  if (word === 'pause' || word === 'resume' || word === 'reduce') return args.length === 0 ? word : undefined
  if (word !== 'kill') return undefined
  if (args.length === 0) return 'kill'
  if (args.length > 1) return undefined
  return args[0] === 'close' ? 'kill-close' : args[0] === 'exits' ? 'kill-exits' : undefined
}

/** Reads `ETH/USD [WETH-USDC] long 3% 2400`; undefined: it is none. */
function protectionOf(args: readonly string[]): ChatProtection | undefined {
  const at = args.findLastIndex((each) => each === 'long' || each === 'short')
  const places = args.slice(at + 1).map((place) => exitPlaceOrNone.safeParse(place).data)
  const [stopLoss, takeProfit] = places
  if (at <= 0 || places.length > 2 || places.includes(undefined) || stopLoss === undefined) return undefined
  const direction = args[at] === 'long' ? 'long' : 'short'
  return { market: args.slice(0, at).join(' '), direction, stopLoss, ...defined({ takeProfit }) }
}

function protectionText({ stopLoss, takeProfit }: ChatProtection): string {
  const placed = (type: string, place: string) =>
    place === 'none' ? `removes the ${type}` : `places or moves the ${type} to ${place}`
  return [
    placed('stop-loss', stopLoss),
    ...(takeProfit === undefined ? [] : [placed('take-profit', takeProfit)]),
  ].join(' and ')
}
