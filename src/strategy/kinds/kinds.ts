/** All built-in kinds, for what shows or describes them; a run loads those that its files name (`builtInKind.ts`). */
import type { Strategy } from '../strategy.ts'
import { builtInKind, builtInNames } from './builtInKind.ts'

/** Kinds that `kind:` in a strategy file may name without a path. */
export const builtInKinds: Readonly<Record<string, Strategy>> = Object.fromEntries(
  await Promise.all(builtInNames.map(async (name) => [name, (await builtInKind(name)) as Strategy] as const)),
)
