/** One try to hand a letter to a mail server (SMTP, RFC 5321), and what its answer means. */
import { connect } from 'node:net'
import { defined } from '../base/defined.ts'
import { answerTimeout } from '../base/systemClock.ts'
import type { MailLetter } from './mailLetter.ts'
import type { SendResult } from './sendOnce.ts'

/** Sends a letter; never rejects. */
export type PostMail = (
  letter: MailLetter,
  limits: { readonly timeoutMs: number; readonly signal: AbortSignal },
) => Promise<SendResult>

/**
 * A way for letters: a connection of its own for each, closed when its time is over, whatever the server does by then.
 *
 * @param ca certificates (PEM) that are trusted beside no others; absent: those that Node trusts.
 */
export function createPostMail({ ca }: { readonly ca?: string } = {}): PostMail {
  return async (letter, { timeoutMs, signal }) => {
    const timeout = answerTimeout(timeoutMs)
    const ended = AbortSignal.any([timeout, signal])
    try {
      return await handOver(letter, ended, { timeoutMs, ...defined({ ca }) })
    } catch (error) {
      if (timeout.aborted) return { result: 'later', reason: `no response in ${timeoutMs} ms` }
      return resultOf(error)
    }
  }
}

async function handOver(
  letter: MailLetter,
  ended: AbortSignal,
  { timeoutMs, ca }: { readonly timeoutMs: number; readonly ca?: string },
): Promise<SendResult> {
  const { host, port, security, login, from, to, subject, text, priority } = letter
  // Loaded with the first letter: a daemon that writes none does without.
  const { createTransport } = await import('nodemailer')
  ended.throwIfAborted()
  const socket = connect({ host, port })
  const gone = Promise.withResolvers<never>()
  const end = (): void => {
    socket.destroy()
    gone.reject(new Error('it timed out'))
  }
  ended.addEventListener('abort', end, { once: true })
  const transport = createTransport({
    host,
    port,
    secure: security === 'tls',
    requireTLS: security === 'starttls',
    ignoreTLS: security === 'none',
    ...(login === undefined ? {} : { auth: { user: login.username, pass: login.password.reveal() } }),
    // Later than ours, which reads what has come before it ends.
    greetingTimeout: 2 * timeoutMs,
    socketTimeout: 2 * timeoutMs,
    tls: { minVersion: 'TLSv1.2', ...defined({ ca }) },
    // A text from outside is a text, and never the name of something to read.
    disableFileAccess: true,
    disableUrlAccess: true,
    getSocket: (_options, done) => {
      socket.once('error', done)
      socket.once('connect', () => {
        socket.off('error', done)
        done(null, { connection: socket })
      })
    },
  })
  try {
    const sent = transport.sendMail({ from, to: [...to], subject, text, priority })
    const { rejected } = await Promise.race([sent, gone.promise])
    if (rejected.length === 0) return { result: 'sent' }
    return { result: 'refused', reason: `it refused ${rejected.length} of ${to.length} recipients` }
  } finally {
    ended.removeEventListener('abort', end)
    transport.close()
    socket.destroy()
  }
}

/** A reason holds a status or the code of a fault alone: what a server says may hold what it was told. */
function resultOf(error: unknown): SendResult {
  const { code, responseCode } = (error ?? {}) as { code?: unknown; responseCode?: unknown }
  if (code === 'ETLS') return { result: 'refused', reason: 'it offers no TLS (ETLS)' }
  if (typeof responseCode === 'number' && responseCode >= 400) {
    // 4yz: try again; 5yz: never (RFC 5321, 4.2.1).
    const result = responseCode >= 500 ? 'refused' : 'later'
    return { result, reason: `it responded ${responseCode}` }
  }
  return { result: 'later', reason: typeof code === 'string' ? `not reached (${code})` : 'not reached' }
}
