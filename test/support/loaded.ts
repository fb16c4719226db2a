/** Strategies as their files would be loaded. */
import type { LoadedStrategy } from '../../src/strategy/files/load.ts'

/** A strategy for these symbols, asked every five seconds and without limits of its own, but for `parts`. */
export function loadedOf(
  strategy: LoadedStrategy['strategy'],
  name: string,
  symbols: readonly string[],
  parts: Partial<LoadedStrategy> = {},
): LoadedStrategy {
  return {
    name,
    path: `/strategies/${name}.yaml`,
    strategy,
    params: {},
    instance: { name, symbols },
    needs: { symbols },
    symbols,
    symbolPlaces: [],
    cadenceMs: 5_000,
    limits: {},
    onRemove: 'keep',
    written: {},
    ...parts,
  }
}
