/** The rule by which a reduction takes from the books of a side. Pure. */
import { maxOf, minOf, sharesOf, type Usd } from '../protocol/units.ts'

/** The sizes that a reduction takes, by name, USD above 0, in the order in which they are taken. */
export type Takes = readonly (readonly [strategy: string, takenUsd: Usd])[]

/**
 * Splits a reduction of a side: the books that are named first lose first, one after the other, then all others by size. `beyondUsd`: the rest,
 * which no book holds.
 *
 * @param first the order's book, then the unattributed one
 */
export function takesOf(
  parts: ReadonlyMap<string, { readonly sizeUsd: Usd }>,
  first: readonly string[],
  lessUsd: Usd,
): { readonly takes: Takes; readonly beyondUsd: Usd } {
  const takes: (readonly [string, Usd])[] = []
  let leftUsd = lessUsd
  for (const name of new Set(first)) {
    const takenUsd = minOf(leftUsd, maxOf(0n, parts.get(name)?.sizeUsd ?? 0n))
    if (takenUsd > 0n) takes.push([name, takenUsd])
    leftUsd -= takenUsd
  }
  const others = [...parts].filter(([name, { sizeUsd }]) => sizeUsd > 0n && !first.includes(name))
  const sizes = others.map(([, { sizeUsd }]) => sizeUsd)
  const sharedUsd = minOf(
    leftUsd,
    sizes.reduce((sum, each) => sum + each, 0n),
  )
  const shares = sharesOf(sharedUsd, sizes)
  for (const [place, [name]] of others.entries()) {
    const share = shares[place] ?? 0n
    if (share > 0n) takes.push([name, share])
  }
  return { takes, beyondUsd: leftUsd - sharedUsd }
}
