/** Export of a kind's module. It is a separate file, so that the thread of a kind loads none of perpd's own kinds. */
import { z } from 'zod'
import type { Strategy } from '../strategy.ts'

/** Message about a module without a strategy. */
export const NO_STRATEGY = 'has no strategy as its default export'

/** The strategy that a module exports; undefined when it exports none. */
export function strategyIn(module: unknown): Strategy | undefined {
  const found =
    typeof module === 'object' && module !== null && 'default' in module ? module.default : undefined
  return isStrategy(found) ? found : undefined
}

function isStrategy(value: unknown): value is Strategy {
  if (typeof value !== 'object' || value === null) return false
  const { kind, needs, decide, params, opensPositions } = value as Record<string, unknown>
  return (
    typeof kind === 'string' &&
    typeof needs === 'function' &&
    typeof decide === 'function' &&
    typeof opensPositions === 'boolean' &&
    params instanceof z.ZodType
  )
}
