/** `perpd backtest --check`: a run is recorded, and its views are handed to the kinds alone, changed so that an honest kind decides the same. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { noisyFrom } from '../../backtest/check/changedHistory.ts'
import {
  type CheckedKind,
  type CheckFinding,
  type CheckName,
  checkKind,
  checkNames,
} from '../../backtest/check/checkKinds.ts'
import { firstApart } from '../../backtest/check/comparedRuns.ts'
import type { Difference } from '../../backtest/check/difference.ts'
import { sessionTurns } from '../../backtest/check/recordedSession.ts'
import { createTurnRecorder, MOST_RECORDED, type RecordedTurn } from '../../backtest/check/recordedTurns.ts'
import { liveExactRun } from '../../backtest/exactRun.ts'
import { type RunPlan, type RunWish, takeRunFolder } from '../../backtest/planRun.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import type { LoadedConfig } from '../../config/loadConfig.ts'
import { readStrategyFiles } from '../../daemon/readStrategies.ts'
import type { PriceHistory } from '../../paper/catalog/historyPrices.ts'
import type { LoadedStrategy } from '../../strategy/files/load.ts'
import type { Call } from '../call/command.ts'
import { SCREEN_COLUMNS, wrapped } from '../output/screen.ts'

/** Reads `--check`; undefined when it is not given. Throws CommandError for a check that there is not. */
export function checkFlag(flags: Call['flags']): CheckName | undefined {
  const given = flags.get('check')
  if (given === undefined) return undefined
  const check = checkNames.find((name) => name === given)
  if (check !== undefined) return check
  throw new CommandError(
    `--check ${String(given)} is not there: it is one of ${checkNames.join(', ')}.\n  Nothing was run.`,
    exitCodes.configuration,
  )
}

/** Later than any recording, Unix seconds. */
const NO_END_SECONDS = 4_000_000_000

/** Name of the change that takes a second run. */
const LATER = 'all later candles replaced by noise'

/** Asks for twice the candles, so that a view has what a window of the asked length leaves out. */
function widened(loaded: LoadedStrategy): LoadedStrategy {
  const { candles } = loaded.needs
  if (candles === undefined) return loaded
  return {
    ...loaded,
    needs: { ...loaded.needs, candles: candles.map((need) => ({ ...need, limit: 2 * need.limit })) },
  }
}

/** Checks the kinds of a run. Exit code 1 where a decision differs. */
export async function checkRun(
  check: CheckName,
  call: Call,
  strategies: readonly LoadedStrategy[],
  wish: RunWish,
  plan: (wish: RunWish) => Promise<RunPlan>,
): Promise<number> {
  if (check === 'recorded') return checkSession(call, strategies, wish)
  const folder = mkdtempSync(join(tmpdir(), 'perpd-check-'))
  try {
    const asked = check === 'warmup' ? strategies.map(widened) : strategies
    const planned = await plan({ ...wish, strategies: asked })
    const turns = await recorded(call, join(folder, 'run'), asked, planned, planned.candles.histories)
    if (turns.length >= MOST_RECORDED)
      call.err(
        `Only the first ${MOST_RECORDED} turns of this run are checked; choose a shorter range to check the rest.`,
      )
    const apart = check === 'lookahead' ? await laterApart(call, folder, asked, planned, turns) : undefined
    const checked: CheckedKind[] = []
    for (const loaded of strategies) {
      const kind = await checkKind(check, turns, loaded, () => loadedAgain(call, loaded), wish.seed)
      if (apart?.strategy === loaded.name) checked.push({ ...kind, finding: apart })
      else checked.push(check === 'lookahead' ? { ...kind, passed: [...kind.passed, LATER] } : kind)
    }
    return showChecked(call, check, checked)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Hands the decisions that a daemon recorded to the kinds again. Throws CommandError where there are none. */
async function checkSession(
  call: Call,
  strategies: readonly LoadedStrategy[],
  { fromSeconds = 0, toSeconds = NO_END_SECONDS, storeFolder, seed }: RunWish,
): Promise<number> {
  const span = { fromMs: fromSeconds * 1000, toMs: toSeconds * 1000 }
  const names = new Set(strategies.map(({ name }) => name))
  const turns = await sessionTurns(storeFolder, (name) => names.has(name), span)
  if (turns.length === 0)
    throw new CommandError(
      `No decision of ${[...names].join(', ')} is recorded in ${storeFolder} in that time.\n  Nothing was checked. Let a daemon record them: perpd run --history.record true`,
      exitCodes.configuration,
    )
  const checked: CheckedKind[] = []
  for (const loaded of strategies)
    checked.push(await checkKind('recorded', turns, loaded, () => loadedAgain(call, loaded), seed))
  return showChecked(call, 'recorded', checked)
}

/** Prints the outcome. Exit code 1 where a decision differs. */
function showChecked({ flags, out }: Call, check: CheckName, checked: readonly CheckedKind[]): number {
  if (flags.has('json')) out(JSON.stringify({ check, checked }, undefined, 2))
  else out(checked.map((each) => checkedText(check, each)).join('\n\n'))
  return checked.some(({ finding }) => finding !== undefined) ? exitCodes.error : exitCodes.ok
}

/** The turns of a run, in a folder that is thrown away. */
async function recorded(
  { loaded: { config } }: { readonly loaded: LoadedConfig },
  folder: string,
  strategies: readonly LoadedStrategy[],
  { manifest, followed }: Omit<RunPlan, 'id' | 'candles'>,
  histories: ReadonlyMap<string, PriceHistory>,
): Promise<readonly RecordedTurn[]> {
  mkdirSync(folder)
  takeRunFolder(folder, manifest)
  const { turns, record } = createTurnRecorder()
  await liveExactRun({ folder, manifest, config, strategies, histories, followed, record })
  return turns
}

/** Lives through the run's first part again, with noise in the place of all candles from its end on: each view before it must be the same. */
async function laterApart(
  call: Call,
  folder: string,
  strategies: readonly LoadedStrategy[],
  { manifest, candles, followed }: RunPlan,
  turns: readonly RecordedTurn[],
): Promise<CheckFinding | undefined> {
  const last = turns[Math.floor(turns.length * 0.6)]
  if (last === undefined) return undefined
  const toSeconds = Math.floor(last.atMs / 1000)
  if (toSeconds <= manifest.fromSeconds) return undefined
  const histories = new Map(
    [...candles.histories].map(([asset, history]) => [asset, noisyFrom(history, toSeconds, manifest.seed)]),
  )
  const again = await Promise.all(strategies.map((loaded) => loadedAgain(call, loaded)))
  try {
    const cut = { manifest: { ...manifest, toSeconds }, followed }
    const noisy = await recorded(call, join(folder, 'noisy'), again, cut, histories)
    return firstApart(
      turns,
      noisy.filter(({ atMs }) => atMs < toSeconds * 1000),
    )
  } finally {
    await Promise.all(again.map(({ hosted }) => hosted?.close()))
  }
}

async function loadedAgain({ loaded: { config } }: Call, { path }: LoadedStrategy): Promise<LoadedStrategy> {
  const { strategies, problems } = await readStrategyFiles(
    { strategies: { ...config.strategies, paths: [path] } },
    true,
  )
  const [again] = strategies
  if (again === undefined) throw problems[0] ?? new Error(`${path} is gone`)
  return again
}

const lookedFor: Readonly<Record<CheckName, string>> = {
  lookahead: 'decides only by data that was complete at each turn',
  warmup: 'decides the same with a window twice as long',
  recorded: 'decides on the recorded views as it did in that session',
}

function checkedText(check: CheckName, { strategy, turns, decided, passed, finding }: CheckedKind): string {
  const replayed = `${turns} turns were replayed, ${decided} of them with decisions`
  const lines = (text: string): readonly string[] => wrapped('', text, SCREEN_COLUMNS)
  if (finding === undefined) {
    const few = decided === 0 ? ' It made no decision in this run: choose a range in which it does.' : ''
    return [...lines(`${strategy}: ${lookedFor[check]}. ${replayed}: ${passed.join(', ')}.${few}`)].join('\n')
  }
  const at = new Date(finding.atMs).toISOString().slice(0, 19).replace('T', ' ')
  return [
    ...lines(`${strategy}: decided differently at ${at} UTC ${finding.by}. ${replayed}.`),
    ...places(
      'The views differ:',
      finding.views,
      'the views are the same, so the kind keeps state or reads other data',
    ),
    ...places('The answers differ:', finding.answers, 'no difference to show'),
  ].join('\n')
}

function places(head: string, differences: readonly Difference[], none: string): readonly string[] {
  if (differences.length === 0) return [`  ${head} ${none}.`]
  return [`  ${head}`, ...differences.map(({ path, one, other }) => `    ${path}: ${one} -> ${other}`)]
}
