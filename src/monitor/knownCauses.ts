/** Remembers the repeated causes that the log has reported, grouped by subject, so that one strategy's turn checks only its own. */

/** Count of a cause, and its times; ms. */
export interface KnownCause {
  count: number
  readonly firstAtMs: number
  lastAtMs: number
  toldAtMs: number
}

/** Causes by topic, which is what ends together. */
export interface KnownCauses {
  get(topic: string, what: string): KnownCause | undefined
  /** A new one. Of more than `most` the one that was put in first is forgotten. */
  add(topic: string, what: string, cause: KnownCause): void
  /** Those of a topic, oldest first. */
  of(topic: string): readonly KnownCause[]
  isKnown(topic: string): boolean
  /** Forgets those of a topic. */
  forget(topic: string): void
}

/** None yet. */
export function createKnownCauses(most: number): KnownCauses {
  const topics = new Map<string, Map<string, KnownCause>>()
  /** Where each one is, oldest first. */
  const places = new Map<KnownCause, readonly [topic: string, what: string]>()

  function forgetOldest(): void {
    const [oldest] = places
    if (oldest === undefined) return
    const [cause, [topic, what]] = oldest
    places.delete(cause)
    const left = topics.get(topic)
    left?.delete(what)
    if (left?.size === 0) topics.delete(topic)
  }

  return {
    get: (topic, what) => topics.get(topic)?.get(what),
    add(topic, what, cause) {
      if (places.size >= most) forgetOldest()
      places.set(cause, [topic, what])
      const own = topics.get(topic)
      if (own === undefined) topics.set(topic, new Map([[what, cause]]))
      else own.set(what, cause)
    },
    of: (topic) => [...(topics.get(topic)?.values() ?? [])],
    isKnown: (topic) => topics.has(topic),
    forget(topic) {
      for (const cause of topics.get(topic)?.values() ?? []) places.delete(cause)
      topics.delete(topic)
    },
  }
}
