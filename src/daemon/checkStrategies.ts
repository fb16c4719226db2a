/** Finds settings in strategy files that would start and still not do what their author means: warnings of `perpd check` and of a start. */
import {
  countedLimits,
  isTighter,
  type Limits,
  limitField,
  limitReadable,
  limitTightness,
  tighten,
} from '../domain/limits/limits.ts'
import { listed } from '../monitor/text.ts'
import { formatUsd, mulDiv } from '../protocol/units.ts'
import { edgeWarning } from '../strategy/files/edgeWarning.ts'
import type { LoadedStrategy } from '../strategy/files/load.ts'

/** Limits that a scope keeps for itself: the account's are of all strategies together, so that a file's own may be any. */
const ownLimits: ReadonlySet<string> = new Set(countedLimits)

/**
 * One sentence for each thing worth knowing before these strategies trade: two on one market and collateral, a size that the
 * limits always cut, limits that the account's tighter ones make void, a least edge that nothing reaches, nothing that runs.
 */
export function strategyWarnings(
  strategies: readonly LoadedStrategy[],
  disabled: readonly string[],
  account: Limits,
  markets: Readonly<Record<string, Limits>>,
): readonly string[] {
  if (strategies.length === 0) {
    const reason =
      disabled.length === 0 ? 'no strategy file is there' : `${disabled.join(', ')}: enabled is false`
    return [`no strategy is enabled, so nothing would be traded (${reason}).`]
  }
  const denied = strategies.flatMap((each) => edgeWarning(each) ?? [])
  return [...shared(strategies), ...strategies.flatMap((each) => tooMuch(each, account, markets)), ...denied]
}

function shared(strategies: readonly LoadedStrategy[]): readonly string[] {
  const sides = new Map<string, string[]>()
  for (const { name, strategy, symbols, instance } of strategies) {
    if (!strategy.opensPositions || instance.size === undefined) continue
    for (const symbol of symbols) {
      const key = `${symbol} with the ${instance.size.collateral} token as collateral`
      sides.set(key, [...(sides.get(key) ?? []), name])
    }
  }
  return [...sides].flatMap(([side, names]) =>
    names.length < 2
      ? []
      : [
          `${listed(names)} trade ${side}: the venue merges both into one position for each direction. Each strategy reduces its own part only; they share leverage and liquidation price.`,
        ],
  )
}

function tooMuch(
  { name, instance, symbols, limits }: LoadedStrategy,
  account: Limits,
  markets: Readonly<Record<string, Limits>>,
): readonly string[] {
  const warnings: string[] = []
  const { size } = instance
  if (size !== undefined) {
    for (const symbol of symbols) {
      const caps = tighten(tighten(account, markets[symbol] ?? {}), limits)
      const cap = sizeCaps
        .flatMap((each) => (caps[each] === undefined ? [] : [{ name: each, usd: caps[each] }]))
        .reduce<{ name: string; usd: bigint } | undefined>(
          (least, each) => (least === undefined || each.usd < least.usd ? each : least),
          undefined,
        )
      if (cap !== undefined && size.usd > cap.usd) {
        warnings.push(
          `${name}: size.usd is ${formatUsd(size.usd)}, and ${cap.name} allows ${formatUsd(cap.usd)} on ${symbol}: every order is cut to it.`,
        )
      }
      if (caps.maxLeverageBps !== undefined && size.leverageBps > caps.maxLeverageBps) {
        const leftUsd = mulDiv(size.usd, BigInt(caps.maxLeverageBps), BigInt(size.leverageBps))
        const fate =
          leftUsd < (caps.minOrderSizeUsd ?? 0n)
            ? `which is below minOrderSizeUsd (${formatUsd(caps.minOrderSizeUsd ?? 0n)}): every order is denied`
            : 'for the collateral stays as asked'
        warnings.push(
          `${name}: size.leverage is ${size.leverageBps / 10_000}, and maxLeverage allows ${caps.maxLeverageBps / 10_000} on ${symbol}: every order of ${formatUsd(size.usd)} is cut to ${formatUsd(leftUsd)}, ${fate}.`,
        )
      }
    }
  }
  for (const [limit, rule] of Object.entries(limitTightness) as [keyof Limits, 'less' | 'more'][]) {
    const [own, of] = [limits[limit], account[limit]]
    if (ownLimits.has(limit) || own === undefined || of === undefined || !isTighter(rule, of, own)) continue
    warnings.push(
      `${name}: ${limitField(limit)} ${limitReadable(limit, own)} is looser than the account's ${limitReadable(limit, of)}, which holds.`,
    )
  }
  return warnings
}

const sizeCaps = [
  'maxOrderSizeUsd',
  'maxPositionSizeUsd',
  'maxMarketExposureUsd',
  'maxTotalExposureUsd',
] as const
