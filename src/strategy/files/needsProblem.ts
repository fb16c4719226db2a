/** Holds what a kind returns as its needs to their form: a kind of the user's own may return anything. Pure. */
import { periodSeconds } from '../../protocol/market.ts'
import { z } from '../strategy.ts'

const shape = z.object({
  symbols: z.array(z.string()),
  allPositionMarkets: z.boolean().optional(),
  balances: z.boolean().optional(),
  candles: z
    .array(
      z.object({
        symbol: z.string(),
        period: z.enum(Object.keys(periodSeconds)),
        limit: z.int().positive(),
        readsRunning: z.boolean().optional(),
      }),
    )
    .optional(),
})

/** Returns the first thing that is wrong with the needs of a kind, as `symbols: expected array`; undefined when nothing is. */
export function needsProblem(needs: unknown): string | undefined {
  const issue = shape.safeParse(needs).error?.issues[0]
  if (issue === undefined) return undefined
  return issue.path.length === 0 ? issue.message : `${issue.path.join('.')}: ${issue.message}`
}
