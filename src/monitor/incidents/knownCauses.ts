/** Remembers repeated causes, grouped by topic, so that one strategy's turn checks only its own. */
import type { CauseCount } from './again.ts'

/** Causes by topic, which is what ends together. */
export interface KnownCauses {
  get(topic: string, what: string): CauseCount | undefined
  /** Puts one in, or its new count. Of more than `most` the one that was put in first is forgotten. */
  put(topic: string, what: string, cause: CauseCount): void
  /** Those of a topic, oldest first. */
  of(topic: string): readonly CauseCount[]
  isKnown(topic: string): boolean
  /** Forgets those of a topic. */
  forget(topic: string): void
}

/** None yet. */
export function createKnownCauses(most: number): KnownCauses {
  const topics = new Map<string, Map<string, CauseCount>>()
  /** Topic and cause of each one, oldest first. */
  const places = new Map<string, readonly [topic: string, what: string]>()
  const placeOf = (topic: string, what: string) => JSON.stringify([topic, what])

  function forgetOldest(): void {
    const [oldest] = places
    if (oldest === undefined) return
    const [place, [topic, what]] = oldest
    places.delete(place)
    const left = topics.get(topic)
    left?.delete(what)
    if (left?.size === 0) topics.delete(topic)
  }

  return {
    get: (topic, what) => topics.get(topic)?.get(what),
    put(topic, what, cause) {
      if (topics.get(topic)?.has(what) !== true) {
        if (places.size >= most) forgetOldest()
        places.set(placeOf(topic, what), [topic, what])
      }
      const own = topics.get(topic)
      if (own === undefined) topics.set(topic, new Map([[what, cause]]))
      else own.set(what, cause)
    },
    of: (topic) => [...(topics.get(topic)?.values() ?? [])],
    isKnown: (topic) => topics.has(topic),
    forget(topic) {
      for (const what of topics.get(topic)?.keys() ?? []) places.delete(placeOf(topic, what))
      topics.delete(topic)
    },
  }
}
