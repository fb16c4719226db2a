/**
 * Answers that hold for a while, kept as the bytes that leave: within its window a question is answered with what it was first
 * answered with, and a read that is asked a thousand times is made once. Bounded in number and in size.
 */

import { type Json, stringify } from './http.ts'

/** A kept answer. */
interface CachedResponse {
  readonly fromMs: number
  /** The first moment at which it no longer holds. */
  readonly untilMs: number
  /** Absent until somebody asks for the bytes of an answer that was kept as a value. */
  body: Buffer<ArrayBuffer> | undefined
  /** Absent for an answer that was kept as bytes. */
  readonly value: Json | undefined
}

/** Most questions whose answers are kept, and most paths that lead to them; the oldest go first. */
export const MAX_CACHED_RESPONSES = 2048
/** Most bytes of all kept answers. An answer of more than half of it is not kept. */
export const MAX_CACHED_BYTES = 67_108_864
/** Longest question or path that is remembered, characters. */
const MAX_CACHED_NAME = 2048

/** The kept answers of a venue. */
export interface ResponseCache {
  /** Bytes that answer a question at a moment; undefined: they must be made. */
  at(question: string, nowMs: number): Buffer<ArrayBuffer> | undefined
  /** Keeps an answer from `nowMs` for `windowMs`; returns its bytes. */
  keep(
    question: string,
    answer: string | Buffer<ArrayBuffer>,
    nowMs: number,
    windowMs: number,
  ): Buffer<ArrayBuffer>
  /** Returns the JSON of an answer that was kept as a value; undefined: ask `at`. */
  valueAt(question: string, nowMs: number): Json | undefined
  /** Keeps an answer as `keep` does, as the JSON that it is made of. */
  keepValue(question: string, value: Json, nowMs: number, windowMs: number): void
  /** Remembers that a path, query included, asks a question, so that `atPath` need not read it again. */
  lead(path: string, question: string): void
  /** As `at`, by a path that led to an answer before. */
  atPath(path: string, nowMs: number): Buffer<ArrayBuffer> | undefined
  /** Forgets all answers: whatever is asked next is made anew. */
  forget(): void
}

/** Makes an empty store. */
export function createResponseCache(): ResponseCache {
  const answers = new Map<string, CachedResponse>()
  const questions = new Map<string, string>()
  let bytes = 0

  const drop = (question: string): void => {
    bytes -= answers.get(question)?.body?.length ?? 0
    answers.delete(question)
  }
  const current = (question: string, nowMs: number): CachedResponse | undefined => {
    const one = answers.get(question)
    // A clock that was set back has not reached the answer yet.
    return one !== undefined && nowMs >= one.fromMs && nowMs < one.untilMs ? one : undefined
  }
  const at = (question: string, nowMs: number): Buffer<ArrayBuffer> | undefined => {
    const one = current(question, nowMs)
    if (one !== undefined && one.body === undefined) {
      one.body = Buffer.from(stringify(one.value))
      bytes += one.body.length
    }
    return one?.body
  }
  const trim = (): void => {
    for (const oldest of answers.keys()) {
      if (answers.size <= MAX_CACHED_RESPONSES && bytes <= MAX_CACHED_BYTES) break
      drop(oldest)
    }
  }
  return {
    at,
    valueAt: (question, nowMs) => current(question, nowMs)?.value,
    keepValue: (question, value, nowMs, windowMs) => {
      drop(question)
      if (question.length > MAX_CACHED_NAME) return
      answers.set(question, { fromMs: nowMs, untilMs: nowMs + windowMs, body: undefined, value })
      trim()
    },
    keep: (question, answer, nowMs, windowMs) => {
      const body = typeof answer === 'string' ? Buffer.from(answer) : answer
      drop(question)
      if (body.length > MAX_CACHED_BYTES / 2 || question.length > MAX_CACHED_NAME) return body
      answers.set(question, { fromMs: nowMs, untilMs: nowMs + windowMs, body, value: undefined })
      bytes += body.length
      trim()
      return body
    },
    lead: (path, question) => {
      if (path.length > MAX_CACHED_NAME || !answers.has(question) || questions.has(path)) return
      questions.set(path, question)
      for (const oldest of questions.keys()) {
        if (questions.size <= MAX_CACHED_RESPONSES) break
        questions.delete(oldest)
      }
    },
    atPath: (path, nowMs) => {
      const question = questions.get(path)
      return question === undefined ? undefined : at(question, nowMs)
    },
    forget: () => {
      answers.clear()
      questions.clear()
      bytes = 0
    },
  }
}
