/** The built-in kinds by name. */
import type { Strategy } from '../strategy.ts'
import { grid } from './grid.ts'
import { guard } from './guard.ts'
import { signal } from './signal.ts'
import { trend } from './trend.ts'

/** What `kind:` in a strategy file may name without a path. */
export const builtInKinds: Readonly<Record<string, Strategy>> = { grid, guard, signal, trend }
