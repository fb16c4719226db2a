/** `perpd strategies test`: tries a strategy file in made-up situations, before it ever sees a market. */
import { resolve } from 'node:path'
import { createLiveLimits } from '../../account/liveLimits.ts'
import type { Config } from '../../config/configTypes.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import { didYouMean } from '../../config/suggest.ts'
import { readStrategyFiles, strategyProblems } from '../../daemon/readStrategies.ts'
import { loadCatalog } from '../../paper/catalog/catalog.ts'
import { edgeWarning } from '../../strategy/files/edgeWarning.ts'
import { checkMarkets, closeStrategies, type LoadedStrategy } from '../../strategy/files/load.ts'
import { secondsOfPeriod } from '../../strategy/indicators.ts'
import type { Call } from '../call/command.ts'
import { runTrial, type Trial, type TrialSetting } from './runTrial.ts'
import { type Situation, situations, TRIAL_STEPS } from './situations.ts'
import { type TrialMarket, trialMarket } from './trialMarkets.ts'
import { linesOf, noEntryText, situationText, summaryOf, summaryText } from './trialText.ts'

/** When every trial begins, Unix seconds: Friday, 2027-01-15 08:00 UTC. */
const START_SECONDS = 1_800_000_000
const usualMarket = 'ETH/USD [WETH-USDC]'

/** Tries the file. Exit code 1 when its kind throws or decides what is no decision, 4 for a file that cannot be loaded. */
export async function testStrategy(call: Call): Promise<number> {
  const {
    loaded: { config },
    positionals,
    flags,
    cwd,
    width,
    out,
  } = call
  const wanted = wantedSituations(flags.get('situation'))
  const path = resolve(cwd, positionals[0] ?? '')
  const found = await readStrategyFiles({ strategies: { ...config.strategies, paths: [path] } }, true)
  try {
    const [loaded] = found.strategies
    if (found.problems.length > 0) throw strategyProblems(found.problems)
    if (loaded === undefined || found.strategies.length > 1)
      throw new CommandError(`${path} is no single strategy file: name one.`, exitCodes.configuration)
    const setting = settingOf(config, loaded)
    const trials: Trial[] = []
    for (const situation of wanted) trials.push(await runTrial(setting, situation))
    const turnOf = (atSeconds: number) =>
      Math.ceil((atSeconds - setting.clock.startSeconds) / setting.clock.stepSeconds) + 1
    if (flags.has('json')) out(JSON.stringify(bodyOf(setting, trials, turnOf), undefined, 2))
    else tell(setting, trials, turnOf, { width, out, isWhole: wanted.length === 1 })
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

/** Markets, limits and clock of a file's trials. A turn is the shortest candle that its kind reads, or a minute. */
function settingOf(config: Config, loaded: LoadedStrategy): TrialSetting {
  const { chain } = config.venue
  const { needs, symbols } = loaded
  const { samplePrices } = loadCatalog(chain.name)
  const named = [...symbols, ...needs.symbols, ...(needs.candles ?? []).map(({ symbol }) => symbol)]
  const wanted = [...new Set(named.length === 0 ? [usualMarket] : named)]
  const unlisted = checkMarkets(
    [loaded],
    [...chain.facts.markets.values()].map(({ symbol }) => symbol),
  )
  if (unlisted.length > 0) throw strategyProblems(unlisted)
  const markets = wanted.map((symbol) => {
    const market = trialMarket(symbol, chain.facts, samplePrices)
    if (market !== undefined) return market
    throw new CommandError(
      `${symbol} cannot be tried: perpd ships no facts or no sample price of it on ${chain.name}.`,
      exitCodes.configuration,
    )
  })
  const periods = (needs.candles ?? []).map(({ period }) => secondsOfPeriod(period))
  const stepSeconds = periods.length === 0 ? 60 : Math.min(...periods)
  return {
    loaded,
    markets: markets as [TrialMarket, ...TrialMarket[]],
    limits: createLiveLimits({
      account: config.limits,
      markets: config.marketLimits,
      strategies: { [loaded.name]: loaded.limits },
      breakers: config.breakers,
    }),
    defaultSlippageBps: config.limits.maxSlippageBps,
    chain: chain.name,
    lane: config.account.lane,
    clock: {
      // In the middle of a candle: at its very beginning no price is beyond what came before.
      startSeconds: START_SECONDS + stepSeconds / 2,
      stepSeconds,
    },
  }
}

/** Says that `protect.minEdgeBps` admits no entry: by the file's own figures, or by a custom kind's statements about its entries. */
function noEntry(loaded: LoadedStrategy, trials: readonly Trial[]): string | undefined {
  return (loaded.hosted === undefined ? edgeWarning(loaded) : undefined) ?? noEntryText(trials)
}

function bodyOf({ loaded, clock }: TrialSetting, trials: readonly Trial[], turnOf: (at: number) => number) {
  return {
    noEntry: noEntry(loaded, trials) ?? null,
    strategy: loaded.name,
    kind: loaded.strategy.kind,
    turns: TRIAL_STEPS,
    turnSeconds: clock.stepSeconds,
    situations: trials.map((trial) => ({ ...summaryOf(trial), lines: linesOf(trial, turnOf) })),
  }
}

function tell(
  { loaded, markets, clock }: TrialSetting,
  trials: readonly Trial[],
  turnOf: (at: number) => number,
  { width, out, isWhole }: Pick<Call, 'width' | 'out'> & { readonly isWhole: boolean },
): void {
  const { kind, opensPositions } = loaded.strategy
  const where = markets.map(({ symbol }) => symbol).join(', ')
  out(
    `${loaded.name} (${kind}) on ${where}: ${TRIAL_STEPS} turns of ${clock.stepSeconds} s in each situation.`,
  )
  out(
    'Prices are made up, and fills are ideal: the oracle price, a fee of 6 bps, no price impact, funding or borrowing. It shows the decisions of the file and the refusals, not its profit.',
  )
  if (!opensPositions) out('It is given a long of $2,000.00 with 10x leverage to keep.')
  else if (loaded.exits !== undefined)
    out('What begins with "exit:" is what perpd does for the exits of the file at each turn.')
  for (const trial of trials) out(`\n${situationText(trial, linesOf(trial, turnOf), width, isWhole)}`)
  out(`\n${summaryText(trials, width)}`)
  const none = noEntry(loaded, trials)
  if (none !== undefined) out(`\n${none}`)
}
