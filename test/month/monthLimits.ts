/** Judges a month by every limit in force (limitJudges.ts): of the account, and of each file by its own part. */
import { type LimitName, type Limits, limitReadable } from '../../src/domain/limits/limits.ts'
import { BPS_ONE } from '../../src/protocol/units.ts'
import {
  type At,
  DRIFT_BPS,
  type Judge,
  limitJudges,
  opens,
  type Past,
  ROAD_MS,
  type Scope,
  sum,
} from './limitJudges.ts'
import type { AdmittedDeed, EndedDeed, FillDeed, LookDeed, MessageDeed } from './monthDeeds.ts'

/** Judges a month's deeds by the limits of the account and of the files; `say` is told what is wrong. */
export function createLimitJudge(parts: {
  readonly account: Limits
  readonly files: Readonly<Record<string, Limits>>
  /** Of the account's breaker, which an operator alone resets. */
  readonly maxDrawdownBps?: number | undefined
  readonly say: (text: string) => void
}) {
  const { account, files, maxDrawdownBps, say } = parts
  const scopes: readonly Scope[] = [
    { whose: 'the account', limits: account, holds: () => true },
    ...Object.entries(files).map(([name, limits]) => ({
      whose: name,
      limits,
      holds: (strategy: string | undefined) => strategy === name,
    })),
  ]
  const past: Past = {
    messages: [],
    fills: [],
    admitted: [],
    ended: [],
    parts: new Map(),
    sizes: new Map(),
    look: undefined,
    peakUsd: 0n,
    fall: undefined,
  }

  function judge<Kind extends 'message' | 'look' | 'admitted' | 'ended'>(
    kind: Kind,
    deed: Parameters<NonNullable<Judge<never>[Kind]>>[1],
    strategy: string | undefined,
  ): void {
    for (const scope of scopes) {
      if (kind !== 'look' && !scope.holds(strategy)) continue
      for (const [name, most] of Object.entries(scope.limits) as [LimitName, bigint | number | undefined][]) {
        const check = limitJudges[name][kind] as
          | ((most: unknown, deed: unknown, at: At) => string | undefined)
          | undefined
        const wrong = most === undefined ? undefined : check?.(most, deed, { scope, past })
        if (wrong !== undefined)
          say(`${name} of ${scope.whose} (${limitReadable(name, most ?? 0)}): ${wrong}`)
      }
    }
  }

  /** A decrease takes from who asked for it, as far as that has a part; else from all by their parts. */
  function takeFrom(deed: FillDeed): void {
    const { strategy, side, sizeUsd } = deed
    const holders = [...past.parts].filter(([key]) => key.endsWith(` ${side}`))
    const own = holders.find(([key]) => key === `${strategy} ${side}`)
    if (own !== undefined && own[1] >= sizeUsd) {
      past.parts.set(own[0], own[1] - sizeUsd)
      return
    }
    const all = sum(holders.map(([, usd]) => usd))
    for (const [key, usd] of holders) past.parts.set(key, all === 0n ? 0n : usd - (usd * sizeUsd) / all)
  }

  function noteFall({ atMs, equityUsd }: LookDeed): void {
    if (equityUsd > past.peakUsd) past.peakUsd = equityUsd
    if (past.peakUsd === 0n) return
    const fallenBps = Number(((past.peakUsd - equityUsd) * BigInt(BPS_ONE)) / past.peakUsd)
    if (maxDrawdownBps !== undefined && fallenBps > maxDrawdownBps + DRIFT_BPS)
      past.fall ??= { atMs, fallenBps }
  }

  return {
    message(deed: MessageDeed): void {
      past.messages.push(deed)
      if (deed.strategy === undefined)
        say(`a message with ${deed.orders.length} orders that nobody asked for`)
      judge('message', deed, deed.strategy)
      const { fall } = past
      if (fall !== undefined && opens(deed) && deed.atMs > fall.atMs + ROAD_MS)
        say(`opened after the account had fallen by ${fall.fallenBps} bps, of ${maxDrawdownBps}`)
    },
    fill(deed: FillDeed): void {
      past.fills.push(deed)
      const { strategy, side, sizeUsd } = deed
      const key = `${strategy} ${side}`
      if (deed.isIncrease) past.parts.set(key, (past.parts.get(key) ?? 0n) + sizeUsd)
      else takeFrom(deed)
    },
    look(deed: LookDeed): void {
      for (const key of past.parts.keys())
        if (!deed.positions.some(({ side }) => key.endsWith(` ${side}`))) past.parts.delete(key)
      judge('look', deed, undefined)
      past.sizes.clear()
      for (const { side, sizeUsd } of deed.positions) past.sizes.set(side, sizeUsd)
      past.look = deed
      noteFall(deed)
    },
    admitted(deed: AdmittedDeed): void {
      past.admitted.push(deed)
      judge('admitted', deed, deed.strategy)
    },
    ended(deed: EndedDeed): void {
      past.ended.push(deed)
      judge('ended', deed, deed.strategy)
    },
  }
}
