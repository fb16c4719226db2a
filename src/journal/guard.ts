/**
 * The guard against two signatures for one intent: an append-only table beside the journal of what was ever given to the
 * key, `intentId -> (attempt, digest, deadline)` (security document, section 4). It is asked by the signer itself, so that
 * whoever asks, a daemon with a fault in its machine included, gets no second live digest for one intent, and none that
 * lives longer than any order may. A line is durable before the key is used.
 */
import { hash } from 'node:crypto'
import {
  closeSync,
  constants,
  fdatasync,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  write,
} from 'node:fs'
import { promisify } from 'node:util'
import type { Hex } from '../domain/address.ts'
import { BaseError, reasonOf } from '../domain/errors.ts'
import type { SignClaim, Signer } from '../domain/signer.ts'

/** A signature that the guard does not allow, or a table that cannot be used. */
export class GuardError extends BaseError {}

/** What the guard is made with. */
export interface GuardOptions {
  /** File of the table; absent: it is kept in memory and ends with the process. */
  readonly path?: string
  /** Furthest deadline from now, seconds. */
  readonly horizonSeconds: number
  /** How long after its deadline a digest still counts as live, for clocks that differ, seconds. */
  readonly marginSeconds: number
  /** Unix ms. */
  readonly now: () => number
  /**
   * Whether a line of an earlier run is of a signature that never left the process: what the journal does not hold as armed
   * was never sent, and died with the process that made it.
   */
  readonly neverLeft?: (entry: SignEntry) => boolean
}

/** One line: what was given to the key. */
export interface SignEntry extends SignClaim {
  /** Lower case. */
  readonly digest: Hex
}

/** The table. */
export interface SigningGuard {
  /**
   * Writes down that a digest is about to be signed; resolves when that is durable. The same digest of the same intent again
   * is no second one.
   *
   * @throws GuardError SIGN_SECOND_DIGEST, SIGN_DEADLINE_TOO_FAR or GUARD_NOT_WRITTEN; nothing may be signed then.
   */
  claim(claim: SignClaim, digest: Hex): Promise<void>
  close(): void
}

const CHECK_DIGITS = 16
const writeAt = promisify(write)
const sync = promisify(fdatasync)

/**
 * Opens the table, made with mode 0600 when there is none. A last line that was cut by a crash was never signed, and is taken off.
 *
 * @throws GuardError GUARD_NOT_OPENED, or GUARD_DAMAGED when any other line is not as it was written.
 */
export function openGuard(options: GuardOptions): SigningGuard {
  const { path, horizonSeconds, marginSeconds, now, neverLeft } = options
  const opened = path === undefined ? undefined : openTable(path)
  const byIntent = new Map<string, SignEntry>()
  const byDigest = new Map<string, SignEntry>()
  const keep = (entry: SignEntry): void => {
    byIntent.set(entry.intentId, entry)
    byDigest.set(entry.digest, entry)
  }
  for (const entry of opened?.entries ?? []) if (neverLeft?.(entry) !== true) keep(entry)
  const isLive = ({ deadlineSeconds }: SignEntry): boolean => now() / 1000 <= deadlineSeconds + marginSeconds

  // One write and one sync for all that wait: the sync takes long, and those that come meanwhile share the next.
  let waiting: string[] = []
  let flushing: Promise<void> | undefined
  const flush = async (fd: number): Promise<void> => {
    const text = waiting.join('')
    waiting = []
    flushing = undefined
    await writeWhole(fd, text)
    await sync(fd)
  }
  let before: Promise<unknown> = Promise.resolve()
  const durable = (fd: number, line: string): Promise<void> => {
    waiting.push(line)
    if (flushing === undefined) {
      const next = before.then(() => flush(fd))
      flushing = next
      // After a write that failed the end of the file is unknown: every later claim fails too.
      before = next
      next.catch(() => undefined)
    }
    return flushing
  }

  return {
    async claim({ intentId, attempt, deadlineSeconds }, digest) {
      const latest = Math.floor(now() / 1000) + horizonSeconds
      if (!(deadlineSeconds <= latest)) {
        throw new GuardError('The deadline is further away than any that may be signed.', {
          code: 'SIGN_DEADLINE_TOO_FAR',
          facts: { intentId, deadlineSeconds, latest },
          details: 'Nothing was signed.',
        })
      }
      const entry = { intentId, attempt, digest: digest.toLowerCase() as Hex, deadlineSeconds }
      const others = [byIntent.get(intentId), byDigest.get(entry.digest)]
      for (const other of others) {
        if (other === undefined) continue
        if (other.digest === entry.digest && other.intentId === intentId) return
        if (isLive(other)) throw secondDigest(entry, other)
      }
      // Before the wait: two that ask at once must not both pass.
      keep(entry)
      if (opened === undefined) return
      try {
        await durable(opened.fd, lineOf(entry))
      } catch (cause) {
        throw new GuardError('What is to be signed cannot be written down.', {
          code: 'GUARD_NOT_WRITTEN',
          facts: { path, reason: reasonOf(cause) },
          details: 'Nothing was signed, and nothing will be before a restart. Check the disk.',
          cause,
        })
      }
    },
    close() {
      if (opened !== undefined) closeSync(opened.fd)
    },
  }
}

/** A signer that signs nothing before the guard has it on record, and nothing that does not say for which intent it is. */
export function guardedSigner(signer: Signer, guard: SigningGuard): Signer {
  return {
    address: signer.address,
    async sign(request) {
      if (request.claim === undefined) {
        throw new GuardError('What is to be signed does not say for which order.', {
          code: 'SIGN_UNNAMED',
          facts: { digest: request.digest },
          details: 'Nothing was signed.',
        })
      }
      await guard.claim(request.claim, request.digest)
      return await signer.sign(request)
    },
  }
}

function secondDigest(entry: SignEntry, other: SignEntry): GuardError {
  return new GuardError('The order has another signature that can still land.', {
    code: 'SIGN_SECOND_DIGEST',
    facts: {
      intentId: entry.intentId,
      attempt: entry.attempt,
      digest: entry.digest,
      firstIntentId: other.intentId,
      firstAttempt: other.attempt,
      firstDigest: other.digest,
      firstDeadlineSeconds: other.deadlineSeconds,
    },
    details:
      'Nothing was signed. The first one is dead after its deadline; what is still wished for is a new decision.',
  })
}

function openTable(path: string): { readonly fd: number; readonly entries: readonly SignEntry[] } {
  let fd: number | undefined
  try {
    const { O_RDWR, O_CREAT, O_APPEND, O_NOFOLLOW } = constants
    fd = openSync(path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW, 0o600)
    if (!fstatSync(fd).isFile()) throw new Error('it is no regular file')
    const text = readFileSync(fd, 'latin1')
    const whole = text.lastIndexOf('\n') + 1
    if (whole < text.length) ftruncateSync(fd, whole)
    const lines = text.slice(0, whole).split('\n').slice(0, -1)
    return { fd, entries: lines.map((line, index) => entryOf(line) ?? damaged(path, index + 1)) }
  } catch (cause) {
    if (fd !== undefined) closeSync(fd)
    if (cause instanceof GuardError) throw cause
    throw new GuardError('The table of what was signed cannot be opened.', {
      code: 'GUARD_NOT_OPENED',
      facts: { path, reason: reasonOf(cause) },
      details: 'perpd did not start. It lies beside the journal and belongs to the user that runs perpd.',
      cause,
    })
  }
}

function damaged(path: string, line: number): never {
  throw new GuardError('The table of what was signed is damaged.', {
    code: 'GUARD_DAMAGED',
    facts: { path, line },
    details:
      'perpd did not start: a signature may live that the table does not show. Restore the file; or, when the longest deadline that is ever signed (signing.maxDeadlineSeconds) has passed since perpd last ran, move it away.',
  })
}

function lineOf({ intentId, attempt, digest, deadlineSeconds }: SignEntry): string {
  const text = JSON.stringify([intentId, attempt, digest, deadlineSeconds])
  return `${hash('sha256', text).slice(0, CHECK_DIGITS)} ${text}\n`
}

function entryOf(line: string): SignEntry | undefined {
  const text = line.slice(CHECK_DIGITS + 1)
  if (hash('sha256', text).slice(0, CHECK_DIGITS) !== line.slice(0, CHECK_DIGITS)) return undefined
  const [intentId, attempt, digest, deadlineSeconds] = JSON.parse(text) as [string, number, Hex, number]
  return { intentId, attempt, digest, deadlineSeconds }
}

async function writeWhole(fd: number, text: string): Promise<void> {
  const bytes = Buffer.from(text, 'latin1')
  for (let at = 0; at < bytes.length; ) at += (await writeAt(fd, bytes, at)).bytesWritten
}
