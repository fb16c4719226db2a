/** One try to tell a sink, and what its answer means. */
import { answerTimeout } from '../base/systemClock.ts'
import { reasonOfAnswer, saysNotOk } from './knownReasons.ts'
import type { SinkRequest } from './sinkRequest.ts'

/** An answer, as far as it is looked at. */
interface PostAnswer {
  readonly status: number
  readonly headers: { get(name: string): string | null }
  text(): Promise<string>
}

/** Sends a request. */
export type Post = (
  url: string,
  init: {
    readonly method: 'POST'
    readonly headers: Readonly<Record<string, string>>
    readonly body: string
    readonly signal: AbortSignal
  },
) => Promise<PostAnswer>

/** Result of an attempt. `later`: to be tried again, after `afterMs` when the service says so. */
export type SendResult =
  | { readonly result: 'sent' }
  | { readonly result: 'refused'; readonly reason: string }
  | { readonly result: 'later'; readonly reason: string; readonly afterMs?: number }

/** Longest time that a service may make a sink wait, ms. */
const LONGEST_WAIT_MS = 3_600_000

/**
 * Posts once; never rejects. A reason holds a status with a known phrase, or the code of a fault, and nothing of address, headers or
 * answer: all of them may hold a secret.
 */
export async function sendOnce(
  request: SinkRequest,
  post: Post,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<SendResult> {
  const timeout = answerTimeout(timeoutMs)
  const { url, headers, body } = request
  try {
    const answer = await post(url, {
      method: 'POST',
      headers,
      body,
      signal: AbortSignal.any([timeout, signal]),
    })
    return await resultOf(answer)
  } catch (error) {
    if (timeout.aborted) return { result: 'later', reason: `no response in ${timeoutMs} ms` }
    const { code } = (error ?? {}) as { code?: unknown }
    return { result: 'later', reason: typeof code === 'string' ? `not reached (${code})` : 'not reached' }
  }
}

async function resultOf(answer: PostAnswer): Promise<SendResult> {
  const { status } = answer
  const isGood = status >= 200 && status < 300
  // A good status is what the service says; a body that does not come whole takes nothing from it.
  const text = await answer.text().catch((error: unknown) => {
    if (isGood) return ''
    throw error
  })
  const isDenied = isGood && saysNotOk(text)
  if (isGood && !isDenied) return { result: 'sent' }
  const reason = isDenied
    ? `${reasonOfAnswer(status, text)}, and that nothing was sent`
    : reasonOfAnswer(status, text)
  const written = answer.headers.get('retry-after') ?? saidSeconds(text)
  const isLater = status === 429 || status === 408 || status >= 500 || (isDenied && written !== undefined)
  if (!isLater) return { result: 'refused', reason }
  const seconds = Number(written ?? Number.NaN)
  return seconds > 0
    ? { result: 'later', reason, afterMs: Math.min(LONGEST_WAIT_MS, Math.ceil(seconds * 1_000)) }
    : { result: 'later', reason }
}

/** Seconds to wait by the body: Discord's `retry_after`, Telegram's `parameters.retry_after`. */
function saidSeconds(text: string): number | undefined {
  const [, seconds] = /"retry_after"\s*:\s*(\d{1,6}(?:\.\d{1,6})?)/.exec(text.slice(0, 2_000)) ?? []
  return seconds === undefined ? undefined : Number(seconds)
}
