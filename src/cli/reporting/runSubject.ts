/** The subject of a report from the folder of a backtest. Its journal tells why each order was made. */
import { basename, join } from 'node:path'
import { parse } from 'yaml'
import { type ReadRun, readRun } from '../../backtest/readRun.ts'
import { type RunFill, type RunManifest, type RunResult, runFileNames } from '../../backtest/runFiles.ts'
import { tripFillOf } from '../../backtest/runTrades.ts'
import { defined } from '../../base/defined.ts'
import { isThere } from '../../base/isThere.ts'
import { type IntentState, lastAttempt } from '../../domain/order/intent.ts'
import { isExit } from '../../domain/order/orderLegs.ts'
import type { ReportSubject } from '../../report/figures/reportSubject.ts'
import { statisticsOf } from '../../report/figures/statistics.ts'
import { sentenceOf } from '../../report/figures/statisticTable.ts'
import { type TripFill, tradesOf } from '../../report/figures/trips.ts'
import { sendingParts } from './sendingParts.ts'

/** Reads a run's folder and its journal. Throws what `readRun` throws. */
export async function runSubject(folder: string): Promise<ReportSubject> {
  const run = readRun(folder)
  const journalPath = join(folder, runFileNames.journal)
  const intents = isThere(journalPath) ? await intentsOf(journalPath) : undefined
  return subjectOfRun(run, {
    journalPath,
    name: basename(folder),
    ...defined({ intents }),
  })
}

/** Returns the sentence that is read first of a run, by the figures of its report. Throws what `readRun` throws. */
export async function sentenceOfRun(folder: string): Promise<string> {
  const subject = await runSubject(folder)
  return sentenceOf(statisticsOf(subject), subject.isResult)
}

async function intentsOf(path: string): Promise<readonly IntentState[]> {
  const { openJournalReader } = await import('../../journal/service/open.ts')
  const journal = await openJournalReader(path)
  try {
    return await journal.intents()
  } finally {
    await journal.close()
  }
}

/** The subject of a run that was read; without intents no reason is known. */
function subjectOfRun(
  { manifest, result, fills, equity, candles }: ReadRun,
  { journalPath, name, intents }: { journalPath: string; name: string; intents?: readonly IntentState[] },
): ReportSubject {
  const { fromSeconds, toSeconds, strategies, model, inputs } = manifest
  const byId = new Map((intents ?? []).map((state) => [state.intent.intentId, state]))
  const { costs } = result
  const data = inputs.map(
    ({ market, candles: count, periodSeconds, source, gaps }) =>
      `Data: ${market}, ${count} candles of ${periodSeconds} s from ${source}, ${gaps.length === 0 ? 'without a gap' : gaps.length === 1 ? 'with one gap' : `with ${gaps.length} gaps`}.`,
  )
  const ambiguous =
    result.ambiguousFills === 0
      ? 'No fill was ambiguous: no candle held both the stop and the target of a position.'
      : `${result.ambiguousFills} of ${result.fills} fills were ambiguous: stop and target lay in one candle, and the assumed way decided.`
  return {
    title: [...new Set(strategies.map((each) => each.name))].join(', '),
    name,
    source: 'backtest',
    isResult: result.isResult,
    assumptions: [
      ...data,
      ...model.sentences,
      ambiguous,
      ...refusals(result),
      ...(intents === undefined ? ['The journal of the run is gone: reasons of orders are missing.'] : []),
    ],
    fromSeconds,
    toSeconds,
    equity,
    transfers: [],
    trades: tradesOf(fills.map((fill) => tripOf(fill, byId.get(fill.intentId)))),
    turnoverUsd: fills.reduce((sum, { sizeDeltaUsd }) => sum + absolute(sizeDeltaUsd), 0n),
    candles,
    costs: {
      positionFeeUsd: costs.positionFeesUsd,
      impactUsd: costs.impactUsd,
      fundingUsd: costs.fundingUsd,
      borrowingUsd: costs.borrowingUsd,
      ...sendingParts(costs.sendingUsd, intents ?? []),
      swapUsd: costs.swapUsd,
      liquidationUsd: costs.liquidationUsd,
    },
    journalPath,
    configuration: configurationOf(manifest),
  }
}

/** Sentences on decisions that were refused and orders that were sent and not executed. */
function refusals({ denied, unexecuted }: RunResult): readonly string[] {
  const counts = (codes: Readonly<Record<string, number>>): string =>
    Object.entries(codes)
      .toSorted(([, one], [, other]) => other - one)
      .map(([code, count]) => `${code} ${count}`)
      .join(', ')
  return [
    ...(Object.keys(denied).length === 0 ? [] : [`Decisions that were refused: ${counts(denied)}.`]),
    ...(Object.keys(unexecuted).length === 0
      ? []
      : [`Messages that were not executed: ${counts(unexecuted)}.`]),
  ]
}

const absolute = (amount: bigint): bigint => (amount < 0n ? -amount : amount)

function tripOf(fill: RunFill, state: IntentState | undefined): TripFill {
  return tripFillOf(fill, state, fill.action === 'liquidation' ? 'liquidation' : reasonOf(fill, state))
}

/** The strategy's reason; of an exit that came with an entry, which one it was. */
function reasonOf({ action, second }: RunFill, state: IntentState | undefined): string {
  if (state === undefined) return ''
  const { decision, kind } = state.intent
  if (action === 'increase' || kind !== 'increase') return decision.reason
  const exits = (lastAttempt(state)?.children ?? []).filter(
    (child) => isExit(child) && child.phase === 'EXECUTED',
  )
  const own = exits.find(({ settlement }) => settlement?.timestampSeconds === second) ?? exits[0]
  return own?.role ?? decision.reason
}

/** Everything that decides a run, flat. */
function configurationOf(manifest: RunManifest): Readonly<Record<string, string>> {
  const { strategies, settings, inputs, model, balances } = manifest
  const { sentences: _, ...choices } = model
  return flat({
    perpd: manifest.perpd,
    node: manifest.node,
    chain: manifest.chain,
    mode: manifest.mode,
    from: new Date(manifest.fromSeconds * 1000).toISOString(),
    to: new Date(manifest.toSeconds * 1000).toISOString(),
    seed: manifest.seed,
    balances,
    model: choices,
    data: inputs.map(({ market, source, sha256, periodSeconds }) => ({
      market,
      source,
      periodSeconds,
      sha256,
    })),
    strategies: strategies.map(({ name, kind, text, turnSeconds }) => ({
      name,
      kind,
      turnSeconds,
      file: yamlOf(text),
    })),
    settings,
  })
}

/** A strategy's file as values; as its text where it is none. */
function yamlOf(text: string): unknown {
  try {
    return parse(text)
  } catch {
    return text
  }
}

function flat(value: unknown, prefix = ''): Readonly<Record<string, string>> {
  if (typeof value !== 'object' || value === null) return { [prefix]: String(value) }
  const entries = Array.isArray(value)
    ? value.map((each, at) => [String(at + 1), each] as const)
    : Object.entries(value)
  return Object.assign(
    {},
    ...entries.map(([key, each]) => flat(each, prefix === '' ? key : `${prefix}.${key}`)),
  )
}
