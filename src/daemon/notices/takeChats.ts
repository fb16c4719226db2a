/** Takes commands from the Telegram chats that are set to give some: carried out as an operator's, journaled with who. */
import { randomInt } from 'node:crypto'
import { createNodeFetch } from '../../api/transport/nodeFetch.ts'
import { defined } from '../../base/defined.ts'
import { BaseError, reasonOf } from '../../base/errors.ts'
import type { Secret } from '../../base/secret.ts'
import { systemClock } from '../../base/systemClock.ts'
import type { BookReads } from '../../books/books.ts'
import type { Config } from '../../config/configTypes.ts'
import type { Emit } from '../../domain/event.ts'
import { type ChatOrder, type ChatStep, createChatDesk } from '../../notify/chat/chatDesk.ts'
import { createChatLoop } from '../../notify/chat/chatLoop.ts'
import type { ChatCommand } from '../../notify/chat/chatUpdate.ts'
import type { OpenSink } from '../../notify/sinkRequest.ts'
import type { OperatorCommand } from '../../operator/commands/index.ts'
import type { EngineApi } from '../../operator/port/engineStatus.ts'
import { chatAnswer } from './chatTexts.ts'

/** Largest answer of the service that is read, bytes: one update at most, however it is written. */
const MAX_ANSWER_BYTES = 1_048_576

const DAY_MS = 86_400_000

/** An account that chats command. */
export interface ChatAccount {
  /** Absent: the process has one without a name. */
  readonly name?: string | undefined
  readonly engine: EngineApi
  readonly books: () => Pick<BookReads, 'days'>
}

/** Parts that carry out the commands of chats. */
export interface ChatParts {
  /** Returns the accounts that run: a command is for all of them. */
  readonly accounts: () => readonly ChatAccount[]
  readonly emit: Emit
  /** Told a mistake of ours. */
  readonly fail: (error: unknown) => void
  /** Hides secrets in what is said. */
  readonly redact: (text: string) => string
}

/** Begins to listen to every chat that may command; gives what ends it. */
export function takeChats(config: Config, sinks: readonly OpenSink[], parts: ChatParts): () => void {
  const ending = new AbortController()
  const { fetch: post, close } = createNodeFetch({ maxBodyBytes: MAX_ANSWER_BYTES, idlePerHost: 1 })
  for (const { settings, secrets } of sinks) {
    if (settings.type !== 'telegram' || settings.commandUserIds === undefined) continue
    const token: Secret | undefined = secrets.get('tokenFile')
    if (token === undefined) continue
    const run = createChatLoop(
      {
        name: settings.name,
        url: settings.url.replace(/\/+$/, ''),
        chatId: settings.chatId,
        userIds: settings.commandUserIds,
        ...defined({ topicId: settings.topicId }),
        token,
        post,
        clock: systemClock,
        emit: parts.emit,
        timeoutMs: config.notify.timeoutMs,
        carryOut: createChatClerk(parts),
      },
      ending.signal,
    )
    run().catch(parts.fail)
  }
  return () => {
    ending.abort()
    close()
  }
}

/** Creates the function that carries out the commands of one chat. The chat reports the faults of a command; bugs of perpd reject. */
function createChatClerk({
  accounts,
  redact,
}: Omit<ChatParts, 'emit' | 'fail'>): (command: ChatCommand) => Promise<string> {
  const desk = createChatDesk(() => String(randomInt(10_000)).padStart(4, '0'))
  return async (command) => {
    const step = desk(command, systemClock.monotonicMs())
    if (step.step === 'say') return step.text
    const running = accounts()
    const names = running.flatMap(({ name }) => name ?? [])
    if (step.step === 'order' && typeof step.order === 'object' && running.length > 1)
      return `Refused: an exit is of one account, and this perpd has ${names.join(', ')}. Use perpd protect --account NAME.`
    const answers = running.map(async (account) => {
      const text = await answerOf(account, step)
      return account.name === undefined ? text : `${account.name}: ${text}`
    })
    return redact((await Promise.all(answers)).join('\n\n'))
  }
}

/** A question or an order, for an account. */
type ChatWork = Exclude<ChatStep, { readonly step: 'say' }>

/** The answer of one account to what a chat asked or ordered. */
async function answerOf({ engine, books }: ChatAccount, step: ChatWork): Promise<string> {
  try {
    if (step.step === 'answer') {
      const sinceMs = Math.floor(systemClock.now() / DAY_MS - 1) * DAY_MS
      return chatAnswer(step.question, engine.status(), books().days(sinceMs))
    }
    const commander = { by: `telegram user ${step.userId}`, via: 'telegram' } as const
    const answer = await engine.operate(commandOf(step.order), commander)
    return answer.ok ? answer.statement : `Refused: ${answer.reason} (${answer.code})`
  } catch (error) {
    if (!(error instanceof BaseError)) throw error
    return `That failed: ${reasonOf(error)}`
  }
}

function commandOf(order: ChatOrder): OperatorCommand {
  const reason = 'asked in the chat'
  if (typeof order === 'object') return { type: 'protect', own: false, ...order }
  switch (order) {
    case 'pause':
      return { type: 'trading', scope: 'global', state: 'halted', reason }
    case 'resume':
      return { type: 'trading', scope: 'global', state: 'active', reason }
    case 'reduce':
      return { type: 'trading', scope: 'global', state: 'reducing', reason }
    case 'kill':
      return { type: 'kill', close: false }
    case 'kill-exits':
      return { type: 'kill', close: false, exits: true }
    case 'kill-close':
      return { type: 'kill', close: true }
  }
}
