/** `perpd doctor`: looks at all that a start and trading stand on, and says of each whether it is good and what to do if not. */
import { createApi } from '../../api/client.ts'
import { createNodeFetch } from '../../api/transport/nodeFetch.ts'
import { systemClock } from '../../base/systemClock.ts'
import type { Config } from '../../config/configTypes.ts'
import { exitCodes } from '../../config/exit.ts'
import { ownVenueProblem } from '../../config/judge.ts'
import { accountIn, ConfigError, type LoadedConfig } from '../../config/loadConfig.ts'
import type { StatusBody } from '../../control/routes.ts'
import { chooseEvidence } from '../../daemon/evidence/evidenceSource.ts'
import { reportSigner } from '../../daemon/signers/openSigner.ts'
import { counted } from '../../monitor/text.ts'
import type { BareCall } from '../call/command.ts'
import { wrapped } from '../output/screen.ts'
import { checkAccount } from './accountChecks.ts'
import { checkChain } from './chainChecks.ts'
import {
  checkJournal,
  checkPort,
  checkStrategyFiles,
  checkVenueFiles,
  lookForDaemon,
} from './daemonChecks.ts'
import { bounded, type Finding, fail, pass, warn, worstOf } from './finding.ts'
import { checkHosts } from './hostChecks.ts'
import { checkProcess, checkSecrets, checkState } from './machineChecks.ts'

/** Prints every finding; exit code 0 when none fails, 4 when the configuration cannot be used, else 1. */
export async function doctor(call: BareCall): Promise<number> {
  const { findings, isConfigured } = await examine(call)
  const worst = worstOf(findings)
  if (call.flags.has('json')) call.out(JSON.stringify({ worst, findings }, undefined, 2))
  else call.out(doctorText(findings, call.width))
  if (!isConfigured) return exitCodes.configuration
  return worst === 'fail' ? exitCodes.error : exitCodes.ok
}

async function examine(call: BareCall): Promise<{ findings: readonly Finding[]; isConfigured: boolean }> {
  let loaded: LoadedConfig
  try {
    loaded = await call.readSettings()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const remedy = 'Correct it; perpd config shows each value and its source.'
    return {
      findings: error.problems.map((each) => fail('configuration', each, remedy)),
      isConfigured: false,
    }
  }
  if (loaded.accounts.length === 0) return { findings: await findingsOf(call, loaded), isConfigured: true }
  const findings: Finding[] = []
  for (const [at, { name }] of loaded.accounts.entries()) {
    for (const finding of await findingsOf(call, accountIn(loaded, name))) {
      const isOfAccount = ofAccount.includes(finding.check)
      // All that accounts share is the same for each, and said once.
      if (isOfAccount) findings.push({ ...finding, check: `${name} ${finding.check}` })
      else if (at === 0) findings.push(finding)
    }
  }
  return { findings, isConfigured: true }
}

/** Checks of one of several accounts; all others are of what accounts share. */
const ofAccount: readonly string[] = [
  ...['key', 'state', 'journal', 'strategies', 'daemon', 'router'],
  ...['account', 'approval', 'allowances', 'balances'],
]

/** The findings about one account, and about what it shares with others. */
async function findingsOf(call: BareCall, loaded: LoadedConfig): Promise<readonly Finding[]> {
  const { config } = loaded
  const { status, findings: ofDaemon } = await lookForDaemon(loaded)
  const found = await Promise.all([
    [
      pass(
        'configuration',
        `profile ${config.profile}, ${config.isPaper ? 'play money' : 'REAL MONEY'} on ${config.venue.chain.name}`,
      ),
    ],
    loaded.warnings.map((each) => warn('configuration', each, 'perpd config')),
    bounded('node', 'docs/hardening.md', () => checkProcess(config, call)),
    checkKey(config, call),
    bounded('secrets', 'chmod 600 the file', () => checkSecrets(config, call.env.CREDENTIALS_DIRECTORY)),
    bounded('state', 'Set journal.path to another place.', () => checkState(config)),
    bounded('journal', 'perpd journal verify', () => checkJournal(config, status)),
    bounded('strategies', 'perpd check', () => checkStrategyFiles(config)),
    bounded('venue files', 'perpd check', () => checkVenueFiles(config)),
    ofDaemon,
    bounded('port', 'Choose another: --control.port', () => checkPort(config, status)),
    checkVenue(config, status),
  ])
  return found.flat()
}

/** The key as far as it shows without being opened. */
function checkKey(config: Config, { keys }: BareCall): readonly Finding[] {
  const { source, problems, warnings } = reportSigner(config, keys)
  if (problems.length > 0) {
    return problems.map((each) => {
      const [statement = '', ...advice] = each.split('\n').map((line) => line.trim())
      return fail('key', statement, advice.length === 0 ? 'docs/keys.md' : advice.join(' '))
    })
  }
  return [pass('key', source), ...warnings.map((each) => warn('key', each, 'docs/keys.md'))]
}

/** Runs the checks that reach beyond this machine. A paper venue inside a daemon is asked only when a daemon runs. */
async function checkVenue(config: Config, status: StatusBody | undefined): Promise<readonly Finding[]> {
  const problem = ownVenueProblem(config)
  if (problem !== undefined) return [fail('venue', problem, 'docs/scale.md#on-paper')]
  if (config.embedsVenue && status === undefined)
    return [pass('venue', 'the paper venue is in the daemon, which is not running: not checked')]
  const hosts = config.embedsVenue
    ? { api: status?.apiHosts ?? [], oracle: status?.oracleHosts ?? [] }
    : { api: config.venue.apiHosts, oracle: config.venue.oracleHosts }
  const { fetch, close } = createNodeFetch()
  try {
    const api = createApi({
      chain: config.venue.chain,
      hosts,
      fetch,
      clock: systemClock,
      random: Math.random,
      limits: config.api,
    })
    const remedy = 'Repeat in a minute.'
    const found = await Promise.all([
      checkHosts(api, config.embedsVenue),
      config.embedsVenue
        ? [pass('chain', "the paper venue's own node, inside the daemon")]
        : bounded(
            'chain',
            remedy,
            () => checkChain(config, chooseEvidence(config, undefined), fetch),
            60_000,
          ),
      bounded('account', remedy, () => checkAccount(config, api, status?.account, systemClock.now() / 1_000)),
    ])
    return found.flat()
  } finally {
    close()
  }
}

/** The findings as text: a line each, with what to do below those that are not good. */
export function doctorText(findings: readonly Finding[], width: number): string {
  const names = Math.max(...findings.map(({ check }) => check.length))
  const lines = findings.flatMap(({ check, level, statement, remedy }) => [
    ...wrapped(`${level}  ${check.padEnd(names)}  `, statement, width),
    ...(remedy === undefined ? [] : wrapped(`${' '.repeat(names + 8)}do: `, remedy, width)),
  ])
  const bad = findings.filter(({ level }) => level === 'fail').length
  const weak = findings.filter(({ level }) => level === 'warn').length
  const sum =
    bad + weak === 0
      ? `All ${counted(findings.length, 'check')} passed.`
      : `${counted(findings.length, 'check')}: ${bad} failed, ${counted(weak, 'warning')}.`
  return [...lines, '', sum].join('\n')
}
