/** From what a run lived through to its figures and its files. Pure but for the writing. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { IntentState } from '../domain/order/intent.ts'
import type { PriceHistory } from '../paper/catalog/historyPrices.ts'
import { parseUnits, type Usd } from '../protocol/units.ts'
import { heldBpsOf } from '../report/figures/tradeFigures.ts'
import type { RunTally } from './exactRun.ts'
import { sendingUsdOf, settledFills } from './fillBook.ts'
import { shownCandles } from './runCandles.ts'
import {
  type EquityPoint,
  type RunCosts,
  type RunFill,
  type RunManifest,
  type RunResult,
  runFileNames,
  runJson,
  runTables,
  sha256Of,
} from './runFiles.ts'
import { closedTradesOf, receivedOf } from './runTrades.ts'

/** Writes the files of a run that is over, and gives its result. */
export function writeRun(
  folder: string,
  manifest: RunManifest,
  tally: RunTally,
  {
    histories,
    assets,
  }: { readonly histories: ReadonlyMap<string, PriceHistory>; readonly assets: ReadonlyMap<string, string> },
): RunResult {
  const fills = settledFills(tally.fills, tally.intents)
  const fillsText = textOf(runTables.fills, fills)
  const equityText = textOf(runTables.equity, tally.equity)
  const shown = manifest.inputs.flatMap(({ market }) => {
    const history = histories.get(assets.get(market) ?? '')
    return history === undefined ? [] : [...shownCandles(market, history, manifest)]
  })
  const result = resultOf(manifest, tally, fills, {
    fillsSha256: sha256Of(fillsText),
    equitySha256: sha256Of(equityText),
  })
  writeFileSync(join(folder, runFileNames.fills), fillsText)
  writeFileSync(join(folder, runFileNames.equity), equityText)
  writeFileSync(join(folder, runFileNames.candles), textOf(runTables.candles, shown))
  writeFileSync(join(folder, runFileNames.result), runJson(result))
  return result
}

function textOf<T>(
  table: { readonly head: string; readonly line: (row: T) => string },
  rows: readonly T[],
): string {
  return [table.head, ...rows.map(table.line), ''].join('\n')
}

function sum<T>(rows: readonly T[], of: (row: T) => Usd): Usd {
  return rows.reduce((total, row) => total + of(row), 0n)
}

/** Costs by kind: those of fills as the venue took them less the funding that positions received, and of all messages. */
export function runCostsOf(fills: readonly RunFill[], states: readonly IntentState[]): RunCosts {
  const byId = new Map(states.map((state) => [state.intent.intentId, state]))
  const receivedUsd = sum(fills, (fill) => receivedOf(fill, byId.get(fill.intentId)))
  return {
    positionFeesUsd: sum(fills, ({ positionFeeUsd }) => positionFeeUsd),
    borrowingUsd: sum(fills, ({ borrowingFeeUsd }) => borrowingFeeUsd),
    fundingUsd: sum(fills, ({ fundingFeeUsd }) => fundingFeeUsd) - receivedUsd,
    impactUsd: -sum(fills, ({ impactUsd }) => impactUsd),
    liquidationUsd: sum(fills, ({ liquidationFeeUsd }) => liquidationFeeUsd),
    swapUsd: sum(fills, ({ swapFeeUsd }) => swapFeeUsd),
    sendingUsd: sendingUsdOf(states),
  }
}

/** The deepest fall from the highest point before it. */
export function drawdownOf(equity: readonly EquityPoint[]): { readonly usd: Usd; readonly bps: number } {
  let [peak, usd, bps] = [0n, 0n, 0]
  for (const { equityUsd } of equity) {
    if (equityUsd > peak) peak = equityUsd
    const fall = peak - equityUsd
    if (fall > usd) usd = fall
    if (peak > 0n) bps = Math.max(bps, Number((fall * 10_000n) / peak))
  }
  return { usd, bps }
}

/** Returns the multiple of the costs that would have left nothing, two decimals; null where there were none, or nothing was made before them. */
export function breakEvenOf(madeUsd: Usd, costsUsd: Usd): string | null {
  if (costsUsd <= 0n || madeUsd + costsUsd <= 0n) return null
  const hundredths = ((madeUsd + costsUsd) * 100n) / costsUsd
  return `${hundredths / 100n}.${String(hundredths % 100n).padStart(2, '0')}`
}

function unexecutedOf(intents: RunTally['intents']): RunResult['unexecuted'] {
  const counts: Record<string, number> = {}
  for (const { closing } of intents)
    if (closing !== undefined && closing.outcome !== 'EXECUTED')
      counts[closing.code] = (counts[closing.code] ?? 0) + 1
  return counts
}

/** The result with each message at the ninetieth percentile of the gas price: what sending costs grows with it. */
function atP90Gas(
  { gasPriceGwei, gasPriceP90Gwei }: RunManifest['model'],
  madeUsd: Usd,
  sendingUsd: Usd,
): { readonly madeAtP90GasUsd?: Usd } {
  if (gasPriceP90Gwei === undefined) return {}
  const [p50, p90] = [parseUnits(gasPriceGwei, 9), parseUnits(gasPriceP90Gwei, 9)]
  return { madeAtP90GasUsd: madeUsd - (sendingUsd * (p90 - p50)) / p50 }
}

function resultOf(
  manifest: RunManifest,
  tally: RunTally,
  fills: readonly RunFill[],
  hashes: { readonly fillsSha256: string; readonly equitySha256: string },
): RunResult {
  const { equity } = tally
  const [first, last] = [equity[0], equity.at(-1)]
  const [startUsd, endUsd] = [first?.equityUsd ?? 0n, last?.equityUsd ?? 0n]
  const madeUsd = endUsd - startUsd
  const costs = runCostsOf(fills, tally.intents)
  const costsUsd = sum(Object.values(costs), (each) => each)
  const trades = closedTradesOf(fills, tally.intents)
  const drawdown = drawdownOf(equity)
  const symbols = [...new Set([...Object.keys(tally.startAmounts), ...Object.keys(tally.amounts)])].sort()
  return {
    isResult: manifest.model.impact !== 'none',
    startUsd,
    endUsd,
    madeUsd,
    holdMadeUsd: (last?.holdUsd ?? 0n) - (first?.holdUsd ?? 0n),
    maxDrawdownUsd: drawdown.usd,
    maxDrawdownBps: drawdown.bps,
    costs,
    atCosts: [
      { multiple: '0.5', madeUsd: madeUsd + costsUsd / 2n },
      { multiple: '1', madeUsd },
      { multiple: '2', madeUsd: madeUsd - costsUsd },
    ],
    ...atP90Gas(manifest.model, madeUsd, costs.sendingUsd),
    breakEvenMultiple: breakEvenOf(madeUsd, costsUsd),
    fills: fills.length,
    trades: trades.length,
    wins: trades.filter(({ resultUsd }) => resultUsd > 0n).length,
    ambiguousFills: fills.filter((fill) => fill.isAmbiguous).length,
    heldBps: heldBpsOf(equity) ?? 0,
    turns: tally.turns,
    decisions: tally.decisions,
    denied: tally.denied,
    unexecuted: unexecutedOf(tally.intents),
    balances: Object.fromEntries(
      symbols.map((symbol) => [
        symbol,
        { start: tally.startAmounts[symbol] ?? 0n, end: tally.amounts[symbol] ?? 0n },
      ]),
    ),
    ...hashes,
  }
}
