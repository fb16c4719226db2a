/** Decides who may request what from the control port: two tokens, two roles, and a rate. */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { Secret } from '../../base/secret.ts'

/** `read` sees the account; `operate` sees it and commands. */
export type Role = 'read' | 'operate'

/** The token of each role. */
export interface Tokens {
  readonly read: Secret
  readonly operate: Secret
}

/** Tells the role of an Authorization header; undefined when its token is none of ours. */
export type RoleOf = (authorization: string | undefined) => Role | undefined

/** Longest Authorization header that is looked at, characters. */
const longestHeader = 512

/**
 * Creates the comparison of a token with both roles. Its duration reveals nothing about the tokens: it compares digests of one length, and always
 * both.
 */
export function createRoles(tokens: Tokens): RoleOf {
  const operate = digestOf(tokens.operate.reveal())
  const read = digestOf(tokens.read.reveal())
  return (authorization) => {
    if (authorization === undefined || authorization.length > longestHeader) return undefined
    const [, token] = /^Bearer ([A-Za-z0-9._~+/=-]+)$/i.exec(authorization) ?? []
    if (token === undefined) return undefined
    const given = digestOf(token)
    const isOperator = timingSafeEqual(given, operate)
    const isReader = timingSafeEqual(given, read)
    return isOperator ? 'operate' : isReader ? 'read' : undefined
  }
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

/** Buckets of single askers, each by a name. */
export interface Buckets {
  /** Takes one of this asker's; false when it is empty. */
  take(asker: string): boolean
}

/** Most askers whose buckets are kept; the one that was asked for first goes, with what it had taken. */
const mostAskers = 1_024

/** A bucket for each asker, of `perSecond` requests a second and `most` at once. */
export function createBuckets(perSecond: number, now: () => number, most: number = perSecond): Buckets {
  const kept = new Map<string, Bucket>()
  return {
    take(asker) {
      const bucket = kept.get(asker) ?? createBucket(perSecond, now, most)
      kept.set(asker, bucket)
      const [oldest] = kept.keys()
      if (kept.size > mostAskers && oldest !== undefined) kept.delete(oldest)
      return bucket.take()
    },
  }
}

/** A bucket of requests that fills again with time. */
export interface Bucket {
  /** Takes one; false when it is empty. */
  take(): boolean
}

/**
 * A bucket for `perSecond` requests a second, and `most` at once.
 *
 * @param now any clock in ms; only differences count.
 */
export function createBucket(perSecond: number, now: () => number, most: number = perSecond): Bucket {
  let left = most
  let atMs = now()
  return {
    take() {
      const nowMs = now()
      left = Math.min(most, left + ((nowMs - atMs) / 1000) * perSecond)
      atMs = nowMs
      if (left < 1) return false
      left -= 1
      return true
    },
  }
}
