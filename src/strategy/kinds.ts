/** The built-in kinds by name. */
import { grid } from './kinds/grid.ts'
import { guard } from './kinds/guard.ts'
import { trend } from './kinds/trend.ts'
import type { Strategy } from './strategy.ts'

/** What `kind:` in a strategy file may name without a path. */
export const builtInKinds: Readonly<Record<string, Strategy>> = { grid, guard, trend }
