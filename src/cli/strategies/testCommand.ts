/** `perpd strategies test`: tries a strategy file in made-up situations, before it ever sees a market. */
import { resolve } from 'node:path'
import { marketsOfFile } from '../../backtest/runStrategies.ts'
import { GIVEN_LEVERAGE, GIVEN_USD } from '../../backtest/trial/givenPosition.ts'
import { trialMarket } from '../../backtest/trial/madePrices.ts'
import { runTrial, type Trial, type TrialSetting, trialClock, turnOf } from '../../backtest/trial/runTrial.ts'
import { type Situation, situations, TRIAL_TURNS } from '../../backtest/trial/situations.ts'
import type { Config } from '../../config/configTypes.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import { didYouMean } from '../../config/suggest.ts'
import { readStrategyFiles, strategyProblems } from '../../daemon/readStrategies.ts'
import { indexCatalog, loadCatalog } from '../../paper/catalog/catalog.ts'
import { formatDollars } from '../../protocol/units.ts'
import { edgeWarning } from '../../strategy/files/edgeWarning.ts'
import { checkMarkets, closeStrategies, type LoadedStrategy } from '../../strategy/files/load.ts'
import type { Call } from '../call/command.ts'
import { linesOf, noEntryText, situationText, summaryOf, summaryText, type TrialLine } from './trialText.ts'

const usualMarket = 'ETH/USD [WETH-USDC]'

/** Tries the files. Exit code 1 when a kind throws or decides what is no decision, 4 for a file that cannot be loaded. */
export async function testStrategy(call: Call): Promise<number> {
  const {
    loaded: { config },
    positionals,
    flags,
    cwd,
    out,
  } = call
  const wanted = wantedSituations(flags.get('situation'))
  const paths = positionals.map((path) => resolve(cwd, path))
  const found = await readStrategyFiles({ strategies: { ...config.strategies, paths } }, true)
  try {
    if (found.problems.length > 0) throw strategyProblems(found.problems)
    if (found.strategies.length === 0)
      throw new CommandError(`${paths.join(', ')} holds no strategy file: name one.`, exitCodes.configuration)
    const setting = settingOf(config, found.strategies)
    const trials: Trial[] = []
    for (const situation of wanted) trials.push(await runTrial(setting, situation))
    if (flags.has('json')) out(JSON.stringify(bodyOf(setting, trials), undefined, 2))
    else tell(setting, trials, call, wanted.length === 1)
    const isGood = trials.every(
      ({ failed, rows }) => failed === undefined && rows.every(({ outcome }) => outcome !== 'invalid'),
    )
    return isGood ? exitCodes.ok : exitCodes.error
  } finally {
    await closeStrategies(found.strategies)
  }
}

function wantedSituations(name: string | true | undefined): readonly Situation[] {
  if (typeof name !== 'string') return situations
  const found = situations.find((each) => each.name === name)
  if (found !== undefined) return [found]
  const names = situations.map((each) => each.name)
  throw new CommandError(
    `${name} is no situation.${didYouMean(name, names)} Situations: ${names.join(', ')}.`,
    exitCodes.notFound,
  )
}

/** Markets and clock of the trials of these files. */
function settingOf(config: Config, strategies: readonly LoadedStrategy[]): TrialSetting {
  const { chain } = config.venue
  const unlisted = checkMarkets(
    strategies,
    [...chain.facts.markets.values()].map(({ symbol }) => symbol),
  )
  if (unlisted.length > 0) throw strategyProblems(unlisted)
  const catalog = indexCatalog(loadCatalog(chain.name))
  const named = [...new Set(strategies.flatMap(marketsOfFile))]
  const markets = (named.length === 0 ? [usualMarket] : named).map((symbol) => {
    const market = trialMarket(symbol, catalog)
    if (market !== undefined) return market
    throw new CommandError(
      `${symbol} cannot be tried: perpd ships no facts or no sample price of it on ${chain.name}.`,
      exitCodes.configuration,
    )
  })
  return { config, strategies, markets, clock: trialClock(strategies) }
}

/** Says that `protect.minEdgeBps` admits no entry: by a file's own figures, or by a custom kind's statements about its entries. */
function noEntry(strategies: readonly LoadedStrategy[], trials: readonly Trial[]): string | undefined {
  const [warning] = strategies.flatMap((loaded) =>
    loaded.hosted === undefined ? (edgeWarning(loaded) ?? []) : [],
  )
  return warning ?? noEntryText(trials)
}

function bodyOf({ strategies, clock }: TrialSetting, trials: readonly Trial[]) {
  return {
    noEntry: noEntry(strategies, trials) ?? null,
    strategy: strategies.map(({ name }) => name).join(', '),
    kind: strategies.map(({ strategy }) => strategy.kind).join(', '),
    turns: TRIAL_TURNS,
    turnSeconds: clock.turnSeconds,
    situations: trials.map((trial) => ({
      ...summaryOf(trial),
      lines: linesOf(trial, (second) => turnOf(clock, second)),
    })),
  }
}

function tell(
  { strategies, markets, clock }: TrialSetting,
  trials: readonly Trial[],
  { width, out }: Pick<Call, 'width' | 'out'>,
  isWhole: boolean,
): void {
  const where = markets.map(({ symbol }) => symbol).join(', ')
  const names = strategies.map(({ name, strategy }) => `${name} (${strategy.kind})`).join(', ')
  out(`${names} on ${where}: ${TRIAL_TURNS} turns of ${clock.turnSeconds} s in each situation.`)
  out(
    'Prices are made up. All else is the daemon on the paper venue, with its limits, fees, price impact and funding. It shows the decisions and the refusals, not a profit.',
  )
  if (strategies.every(({ strategy }) => !strategy.opensPositions))
    out(`The account begins with a long of ${formatDollars(GIVEN_USD)} with ${GIVEN_LEVERAGE}x leverage.`)
  else if (strategies.some(({ exits }) => exits !== undefined))
    out('What begins with "exit:" is what perpd does for the exits of the file at each turn.')
  for (const trial of trials) {
    const lines = linesOf(trial, (second) => turnOf(clock, second))
    out(`\n${situationText(trial, strategies.length > 1 ? lines.map(named) : lines, width, isWhole)}`)
  }
  out(`\n${summaryText(trials, width)}`)
  const none = noEntry(strategies, trials)
  if (none !== undefined) out(`\n${none}`)
}

/** A line with the name of its file, where there are several. */
function named(line: TrialLine): TrialLine {
  return line.strategy === '' ? line : { ...line, what: `${line.strategy}: ${line.what}` }
}
