/** Takes the commands of a Telegram chat by long polling of getUpdates: a loop of its own, which trading never waits for. */
import { z } from 'zod'
import type { Clock } from '../../base/clock.ts'
import type { Secret } from '../../base/secret.ts'
import type { Emit } from '../../domain/event.ts'
import { reasonOfAnswer, saysNotOk } from '../knownReasons.ts'
import { cutText } from '../message.ts'
import { type Post, sendOnce } from '../sendOnce.ts'
import { type ChatCommand, type ChatRules, judgeUpdate } from './chatUpdate.ts'

/** Options of a loop. */
export interface ChatLoopOptions extends Omit<ChatRules, 'botName' | 'startedAtMs'> {
  /** Name of the sink. */
  readonly name: string
  /** Address of the service, without a slash at its end. */
  readonly url: string
  readonly token: Secret
  readonly post: Post
  readonly clock: Clock
  readonly emit: Emit
  /** Carries out a command; gives what is said in the chat. What it rejects with ends the loop. */
  readonly carryOut: (command: ChatCommand) => Promise<string>
  /** Longest wait for an answer that is not a long poll's, ms. */
  readonly timeoutMs: number
}

/** Longest time that the service may hold an empty poll, seconds, and longest wait before a retry, ms. */
const POLL_SECONDS = 25
const MOST_WAIT_MS = 60_000
const LONGEST_TEXT = 4_096
/** Most tries of an answer in the chat. */
const MOST_TRIES = 3
/** Time without a failed poll after which the recovery is reported, ms. */
const CALM_MS = 60_000

const answer = z.object({ ok: z.literal(true), result: z.unknown() })
const updates = z.array(z.looseObject({ update_id: z.int() }))
const refusal = z.object({ parameters: z.object({ retry_after: z.number().positive() }) })

/** A call that came to nothing: a status with a known phrase, or the code of a fault, and nothing that may hold the token. */
class CallFailed extends Error {
  readonly afterMs: number | undefined
  constructor(reason: string, afterMs?: number) {
    super(reason)
    this.afterMs = afterMs
  }
}

/**
 * A loop that runs, once begun, until the signal ends it. What the bot was sent before is taken off the service's list first, and carried
 * out by nobody: over a restart nothing is done twice, whatever the clocks say.
 */
export function createChatLoop(options: ChatLoopOptions, signal: AbortSignal): () => Promise<void> {
  const { clock, emit, name } = options
  let failures = 0
  let botName: string | undefined
  let next: number | undefined
  /** When a poll failed last, monotonic ms; absent: none did since it was told that they go well. */
  let failedMs: number | undefined
  let isUnanswered = false

  /** A poll that went well ends what was told, unless one failed a moment ago: what comes and goes is one trouble. */
  function wentWell(): void {
    failures = 0
    if (failedMs === undefined || clock.monotonicMs() - failedMs < CALM_MS) return
    failedMs = undefined
    emit({ type: 'chat.restored', sink: name, what: 'commands' })
  }

  async function run(): Promise<void> {
    const startedAtMs = clock.now()
    while (!signal.aborted) {
      try {
        await poll(startedAtMs)
        wentWell()
      } catch (error) {
        if (signal.aborted) return
        const isKnown = error instanceof CallFailed
        // A bug of perpd is thrown; it does not count as a failure of the network.
        if (!isKnown && !(error instanceof z.ZodError)) throw error
        failures += 1
        const reason = isKnown ? error.message : 'an unreadable response'
        if (failedMs === undefined) emit({ type: 'chat.failed', sink: name, what: 'commands', reason })
        failedMs = clock.monotonicMs()
        const ownMs = Math.min(MOST_WAIT_MS, 1_000 * 4 ** Math.min(failures - 1, 3))
        await clock.sleep((isKnown ? error.afterMs : undefined) ?? ownMs, signal)
      }
    }
  }

  async function poll(startedAtMs: number): Promise<void> {
    botName ??= z.object({ username: z.string() }).parse(await ask('getMe', {})).username
    if (next === undefined) {
      const old = updates.parse(await ask('getUpdates', { offset: -1, timeout: 0 }))
      next = Math.max(0, ...old.map(({ update_id }) => update_id + 1))
      for (const _ of old) emit({ type: 'chat.update', sink: name, result: 'old' })
    }
    // One at a time: an answer stays small, and what is carried out is off the list before the next is read.
    const body = { offset: next, limit: 1, timeout: POLL_SECONDS, allowed_updates: ['message'] }
    const found = updates.parse(await ask('getUpdates', body, POLL_SECONDS * 1_000))
    for (const each of found) {
      if (each.update_id < next) {
        emit({ type: 'chat.update', sink: name, result: 'again' })
        continue
      }
      // Before it is carried out: whatever comes of it, it is not done again.
      next = each.update_id + 1
      await take(each, { ...options, botName, startedAtMs })
    }
  }

  async function take(each: unknown, rules: ChatRules): Promise<void> {
    const judged = judgeUpdate(each, rules, clock.now())
    emit({ type: 'chat.update', sink: name, result: judged.is === 'command' ? 'taken' : judged.because })
    if (judged.is === 'command') await say(await options.carryOut(judged.command))
  }

  async function say(text: string): Promise<void> {
    const topic = options.topicId === undefined ? {} : { message_thread_id: options.topicId }
    const body = { chat_id: options.chatId, ...topic, text: cutText(text, LONGEST_TEXT) }
    const request = { url: urlOf('sendMessage'), headers: json, body: JSON.stringify(body) }
    for (let tries = 1; ; tries++) {
      const sent = await sendOnce(request, options.post, { timeoutMs: options.timeoutMs, signal })
      if (signal.aborted) return
      if (sent.result === 'sent') return answered()
      if (sent.result === 'refused' || tries === MOST_TRIES) return unanswered(sent.reason)
      await clock.sleep(Math.min(MOST_WAIT_MS, sent.afterMs ?? 1_000 * tries), signal)
    }
  }

  function answered(): void {
    if (isUnanswered) emit({ type: 'chat.restored', sink: name, what: 'answers' })
    isUnanswered = false
  }

  function unanswered(reason: string): void {
    if (!isUnanswered) emit({ type: 'chat.failed', sink: name, what: 'answers', reason })
    isUnanswered = true
  }

  function urlOf(method: string): string {
    return `${options.url}/bot${options.token.reveal()}/${method}`
  }

  async function ask(method: string, body: object, longerMs = 0): Promise<unknown> {
    const timeout = AbortSignal.timeout(options.timeoutMs + longerMs)
    try {
      const said = await options.post(urlOf(method), {
        method: 'POST',
        headers: json,
        body: JSON.stringify(body),
        signal: AbortSignal.any([timeout, signal]),
      })
      const text = await said.text()
      if (said.status === 200 && !saysNotOk(text)) return answer.parse(JSON.parse(text)).result
      const told = said.status === 429 ? refusal.safeParse(JSON.parse(text)).data : undefined
      const seconds = told?.parameters.retry_after
      throw new CallFailed(
        reasonOfAnswer(said.status, text),
        seconds === undefined ? undefined : Math.min(3_600, seconds) * 1_000,
      )
    } catch (error) {
      if (error instanceof CallFailed) throw error
      if (timeout.aborted) throw new CallFailed('no answer')
      const { code } = (error ?? {}) as { code?: unknown }
      throw new CallFailed(typeof code === 'string' ? `not reached (${code})` : 'an unreadable response')
    }
  }

  return run
}

const json = { 'content-type': 'application/json' }
