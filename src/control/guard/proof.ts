/**
 * Lets a command and the daemon prove to each other that they hold the same token, which neither of them sends. Each request carries a code over
 * itself (HMAC-SHA256 with the token) and over a challenge from the daemon, which works once and for seconds. Each response carries a code over
 * itself and the request's nonce. So a listener in the daemon's place learns no token, can repeat nothing, and can answer nothing.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { defined } from '../../base/defined.ts'
import type { Secret } from '../../base/secret.ts'
import type { Role, Tokens } from './access.ts'

/** Where a challenge is had. */
export const challengePath = '/api/challenge'
/** The answer's header with its code. */
export const proofHeader = 'x-perpd-proof'

/** Lifetime of a challenge, ms. */
const challengeMs = 30_000
const scheme = 'Perpd-Proof'
const none = '-'
const form =
  /^Perpd-Proof role=(read|operate), nonce=([0-9a-f]{32}), challenge=(-|\d{1,15}\.[0-9a-f]{32}\.[0-9a-f]{64}), body=([0-9a-f]{64}), mac=([0-9a-f]{64})$/

/** Parts of a request that its code covers. */
export interface ChallengedRequest {
  readonly role: Role
  readonly method: string
  /** Path and query as they are sent. */
  readonly path: string
  /** The asker's own, new for each request: 32 hex digits. */
  readonly nonce: string
  /** The daemon's; absent when it is asked for one. */
  readonly challenge?: string
  /** SHA-256 of the body, hex. */
  readonly bodyDigest: string
}

/** Parts of a response that its code covers, in addition to the request's nonce. */
export interface Answered {
  readonly status: number
  readonly bodyDigest: string
}

/** SHA-256 of a body, hex. */
export function bodyDigestOf(body: string | Uint8Array): string {
  return createHash('sha256').update(body).digest('hex')
}

/** A nonce of one request. */
export function newNonce(): string {
  return randomBytes(16).toString('hex')
}

/** The `Authorization` header of a request. */
export function proofOf(token: Secret, asked: ChallengedRequest): string {
  const { role, nonce, challenge = none, bodyDigest } = asked
  return `${scheme} role=${role}, nonce=${nonce}, challenge=${challenge}, body=${bodyDigest}, mac=${requestCode(token, asked)}`
}

/** The code of an answer. */
export function answerCode(token: Secret, { nonce }: { readonly nonce: string }, answered: Answered): string {
  return codeOf(token, ['answer', nonce, String(answered.status), answered.bodyDigest])
}

/** Tells whether two codes are the same; the time it takes reveals nothing about them. */
export function isSameCode(one: string, other: string): boolean {
  return timingSafeEqual(
    createHash('sha256').update(one).digest(),
    createHash('sha256').update(other).digest(),
  )
}

function requestCode(token: Secret, asked: ChallengedRequest): string {
  const { role, method, path, nonce, challenge = none, bodyDigest } = asked
  return codeOf(token, ['request', role, method, path, nonce, challenge, bodyDigest])
}

function codeOf(token: Secret, parts: readonly string[]): string {
  return createHmac('sha256', token.reveal())
    .update(JSON.stringify(['perpd control 1', ...parts]))
    .digest('hex')
}

/** The daemon's side. */
export interface Proofs {
  /** Returns the role of the sender when the header proves it; undefined when it is no proof, or an invalid one. */
  read(
    header: string | undefined,
    request: { readonly method: string; readonly path: string },
  ): ChallengedRequest | undefined
  /** A challenge for one request. */
  challenge(): string
  /** The code of an answer to a proven request. */
  answer(asked: ChallengedRequest, answered: Answered): string
}

/**
 * Proofs over these tokens.
 *
 * @param now any clock in ms; only differences count.
 */
export function createProofs(tokens: Tokens, now: () => number): Proofs {
  const secret = randomBytes(32)
  const startedMs = now()
  /** Challenges that were used, with the time of their end: only who holds a token can add one. */
  const used = new Map<string, number>()
  const elapsedMs = (): number => Math.floor(now() - startedMs)
  const sealOf = (body: string): string => createHmac('sha256', secret).update(body).digest('hex')

  function isGood(challenge: string): boolean {
    const [endMs = '', salt = '', seal = ''] = challenge.split('.')
    if (!isSameCode(seal, sealOf(`${endMs}.${salt}`)) || Number(endMs) < elapsedMs() || used.has(challenge))
      return false
    for (const [each, at] of used) if (at < elapsedMs()) used.delete(each)
    used.set(challenge, Number(endMs))
    return true
  }

  return {
    read(header, { method, path }) {
      const [, role, nonce, challenge, bodyDigest, mac] = form.exec(header ?? '') ?? []
      if (role !== 'read' && role !== 'operate') return undefined
      if (nonce === undefined || bodyDigest === undefined || mac === undefined) return undefined
      const isFirst = challenge === none || challenge === undefined
      const asked: ChallengedRequest = {
        role,
        method,
        path,
        nonce,
        bodyDigest,
        ...defined({ challenge: isFirst ? undefined : challenge }),
      }
      if (!isSameCode(mac, requestCode(tokens[role], asked))) return undefined
      if (isFirst) return method === 'GET' && path === challengePath ? asked : undefined
      return isGood(challenge) ? asked : undefined
    },
    challenge() {
      const body = `${elapsedMs() + challengeMs}.${newNonce()}`
      return `${body}.${sealOf(body)}`
    },
    answer: (asked, answered) => answerCode(tokens[asked.role], asked, answered),
  }
}
