/** `perpd check`: whether the configuration and the strategy files would start, without touching network or journal. */
import { resolve } from 'node:path'
import { BaseError } from '../../base/errors.ts'
import type { Config } from '../../config/configTypes.ts'
import { exitCodes } from '../../config/exit.ts'
import { ownVenueProblem } from '../../config/judge.ts'
import { strategyWarnings } from '../../daemon/checkStrategies.ts'
import { processProblems, processWarnings } from '../../daemon/hardening.ts'
import { nodeReport } from '../../daemon/nodeBinary.ts'
import { copyNotes } from '../../daemon/ownFiles/ownCopies.ts'
import { secretProblems } from '../../daemon/ownFiles/secretFiles.ts'
import { readStrategyFiles } from '../../daemon/readStrategies.ts'
import { reportSigner } from '../../daemon/signers/openSigner.ts'
import { stateProblems } from '../../daemon/trustedState.ts'
import { formatUsd } from '../../protocol/units.ts'
import { checkMarkets, closeStrategies, type LoadedStrategy } from '../../strategy/files/load.ts'
import type { Call } from '../call/command.ts'
import { columns } from '../output/table.ts'
import { lossBoundText } from './lossTerms.ts'

/** Prints what would run; exit code 4 when something would not. */
export async function check({
  loaded,
  flags,
  positionals,
  keys,
  env,
  execArgv,
  cwd,
  out,
  err,
}: Call): Promise<number> {
  const [file] = positionals
  // One file instead of those that are configured; everything else is checked as it would run.
  const config: Config =
    file === undefined
      ? loaded.config
      : { ...loaded.config, strategies: { ...loaded.config.strategies, paths: [resolve(cwd, file)] } }
  const key = reportSigner(config, keys)
  const node = nodeReport()
  // The file that is named, and no copy of it.
  const { journal, control, ...named } = config
  const found = await readStrategyFiles(file === undefined ? { ...named, journal, control } : named)
  await closeStrategies(found.strategies)
  const warnings = [
    ...loaded.warnings,
    ...key.warnings,
    ...processWarnings(config, { env }),
    ...(config.isPaper ? [] : node.warnings),
    ...(found.problems.length > 0
      ? []
      : strategyWarnings(found.strategies, found.disabled, config.limits, config.marketLimits)),
  ]
  const problems = [
    ...processProblems(config, { env, execArgv }),
    ...stateProblems(config),
    ...[ownVenueProblem(config)].filter((problem) => problem !== undefined),
    ...(config.embedsVenue
      ? await (await import('../../daemon/ownFiles/venueFiles.ts')).venueFileProblems(config)
      : []),
    ...secretProblems(config, env.CREDENTIALS_DIRECTORY),
    ...key.problems,
    ...[...found.problems, ...(await marketProblems(config, found.strategies))].map(
      (problem) => problem.message,
    ),
  ]
  const advice = adviceOn(config)
  const code = problems.length === 0 ? exitCodes.ok : exitCodes.configuration
  if (flags.has('json')) {
    out(
      JSON.stringify(
        {
          ok: problems.length === 0,
          profile: config.profile,
          chain: config.venue.chain.name,
          key: key.source,
          node: node.text,
          strategies: found.strategies.map(({ name, path, symbols, cadenceMs, strategy }) => ({
            name,
            kind: strategy.kind,
            path,
            symbols,
            cadenceMs,
          })),
          disabled: found.disabled,
          problems,
          warnings,
          advice,
        },
        undefined,
        2,
      ),
    )
    return code
  }
  const money = config.isPaper ? 'play money' : 'REAL MONEY'
  out(`profile ${config.profile}: ${money} on ${config.venue.chain.name}`)
  out(`key: ${key.source}`)
  if (!config.isPaper) out(`node: ${node.text}`)
  if (config.account.owner !== undefined) out(`for: ${config.account.owner}, its owner`)
  const { limits } = config
  const loss = limits.maxDailyLossUsd === undefined ? 'none' : formatUsd(limits.maxDailyLossUsd)
  out(
    `limits: order ${formatUsd(limits.maxOrderSizeUsd)}, position ${formatUsd(limits.maxPositionSizeUsd)}, exposure ${formatUsd(limits.maxTotalExposureUsd)}, leverage ${limits.maxLeverageBps / 10_000}x, daily loss ${loss}`,
  )
  const worst = config.isPaper ? undefined : lossBoundText(config)
  if (worst !== undefined) out(worst)
  const rows = found.strategies.map(({ name, strategy, symbols, cadenceMs }) => [
    name,
    strategy.kind,
    symbols.length === 0 ? 'every market with a position' : symbols.join(', '),
    `every ${cadenceMs / 1_000} s`,
  ])
  if (rows.length > 0) out(columns([...rows, ...found.disabled.map((name) => [name, 'disabled', '', ''])]))
  for (const each of copyNotes(config, found.strategies)) out(`copy: ${each}`)
  for (const warning of warnings) err(`warning: ${warning}`)
  for (const each of advice) out(`advice: ${each}`)
  for (const problem of problems) err(problem)
  out(problems.length === 0 ? 'All checks passed.' : 'perpd would not start with this configuration.')
  return code
}

/** Lists settings that are valid and could be safer. */
function adviceOn({ isPaper, profile, account }: Config): readonly string[] {
  if (isPaper || account.owner !== undefined) return []
  return [
    `trade with a delegated key instead of the account's own: it can only make orders for the account, up to a count and a time that you sign. perpd subaccount create --profile ${profile} --file var/${profile}/delegated.json makes one; then perpd subaccount approve, and --account.owner ADDRESS (docs/going-live.md)`,
  ]
}

/** The embedded venue's markets are known without network; a live venue says at the start what it lists. */
async function marketProblems(
  config: Config,
  strategies: readonly LoadedStrategy[],
): Promise<readonly BaseError[]> {
  if (!config.embedsVenue) return []
  const { loadCatalog } = await import('../../paper/catalog/catalog.ts')
  try {
    const { markets } = loadCatalog(config.venue.chain.name)
    const traded = markets.filter(({ isListed, isSpotOnly }) => isListed && !isSpotOnly)
    return checkMarkets(
      strategies,
      traded.map(({ symbol }) => symbol),
    )
  } catch (error) {
    if (!(error instanceof BaseError)) throw error
    return [error]
  }
}
