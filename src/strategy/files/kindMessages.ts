/** Messages between the daemon and the thread of a kind of the user's own. Only plain values. */
import type { Needs, StatusLine, StrategyInstance } from '../strategy.ts'
import type { SchemaIssue } from './schemaProblems.ts'

/** A question to the thread, one at a time. */
export type KindQuestion =
  | { readonly ask: 'params'; readonly raw: unknown }
  | { readonly ask: 'instance'; readonly instance: StrategyInstance }
  /** `bytes`: the scene by `v8.serialize`. */
  | { readonly ask: 'decide'; readonly bytes: Uint8Array }

/** Answers of the thread; `failed` to any question. */
export type KindAnswer =
  | {
      readonly is: 'loaded'
      readonly kind: string
      readonly description: string
      readonly opensPositions: boolean
      readonly remembers: boolean
      readonly takesSignals: boolean
      /** Files of the user's modules that its thread imported. */
      readonly modules: readonly string[]
    }
  | { readonly is: 'params'; readonly issues: readonly SchemaIssue[] }
  | { readonly is: 'needs'; readonly needs: Needs }
  /** `bytes`: the return value of `decide`, for a kind with a memory the checked turn, by `v8.serialize`. `spentMs`: as `KindRun` has it. */
  | {
      readonly is: 'decided'
      readonly bytes: Uint8Array
      readonly spentMs?: number
      readonly status?: StatusLine
    }
  /** The saved memory no longer fits the kind. */
  | {
      readonly is: 'unfit'
      readonly reason: string
      readonly facts: Readonly<Record<string, string | number>>
    }
  /** `decide` returned a promise, which crosses to no other thread. */
  | { readonly is: 'promise' }
  | { readonly is: 'failed'; readonly reason: string; readonly place?: string | undefined }
