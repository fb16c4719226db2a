/** Holds the state of the page, and notifies its views of changes. */
import { type Change, emptyPage, fold, type PageState } from './pageState.ts'

/** The page's state, and who listens. */
export interface PageStore {
  get(): PageState
  /** Folds changes in, and tells listeners once. */
  take(...changes: readonly Change[]): void
  /** Gives what ends the listening. */
  subscribe(listener: () => void): () => void
}

/** A store that knows nothing yet. */
export function createPageStore(): PageStore {
  let state = emptyPage
  const listeners = new Set<() => void>()
  return {
    get: () => state,
    take(...changes) {
      const before = state
      state = changes.reduce(fold, state)
      if (state !== before) for (const listener of listeners) listener()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
