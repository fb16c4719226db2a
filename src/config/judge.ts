/** The rules that hold between settings, and what a start needs besides. */

import { isLoopback } from '../base/networkAddress.ts'
import { describeLane } from '../domain/order/laneTable.ts'
import { isJournalLocation } from '../journal/service/journalLocation.ts'
import type { Chain } from '../protocol/chains/chain.ts'
import { formatUsd } from '../protocol/units.ts'
import type { Config } from './configTypes.ts'
import { privateKeyVariable } from './privateKeyVariable.ts'
import { isOwnHost } from './sections/daemonSection.ts'

/**
 * Checks settings against each other. A problem prevents the start; a warning is reported and permitted.
 *
 * @param comparesAll false when some value could not be read: a comparison with its substitute would mislead
 */
export function judge(
  config: Config,
  origins: Readonly<Record<string, string>>,
  comparesAll: boolean,
): { readonly problems: readonly string[]; readonly warnings: readonly string[] } {
  const problems: string[] = []
  const warnings: string[] = []
  const at = (key: string): string => `${origins[key]}: ${key}`
  const hosts = [
    ...config.venue.apiHosts.map((url) => ({ key: 'venue.apiHosts', url, known: 'api' as const })),
    ...config.venue.oracleHosts.map((url) => ({ key: 'venue.oracleHosts', url, known: 'oracle' as const })),
  ]
  const endpoints = [
    ...config.rpc.http.map((url) => ({ key: 'rpc.http', url })),
    ...config.rpc.ws.map((url) => ({ key: 'rpc.ws', url })),
  ]
  if (config.evidence.source === 'chain' && endpoints.length === 0 && !config.embedsVenue) {
    problems.push(
      `${at('evidence.source')} is chain, and rpc.http (${origins['rpc.http']}) and rpc.ws (${origins['rpc.ws']}) are empty: set rpc.http, or let evidence.source be auto.`,
    )
  }
  if (config.isPaper) {
    // Such an address may carry a key: its host alone is told.
    for (const { key, url } of endpoints) {
      const { hostname } = new URL(url.reveal())
      if (isLoopback(hostname)) continue
      problems.push(`${at(key)} points to ${hostname}; the paper profile connects to this machine only.`)
    }
    for (const { key, url } of hosts) {
      if (!isLoopback(new URL(url).hostname)) {
        problems.push(
          `${at(key)} has ${url}; the paper profile connects to this machine only. For real money choose --profile ${config.venue.chain.name}.`,
        )
      }
    }
    if (
      !config.embedsVenue &&
      (config.venue.apiHosts.length === 0 || config.venue.oracleHosts.length === 0)
    ) {
      const [given, missing] =
        config.venue.apiHosts.length === 0 ? (['oracle', 'api'] as const) : (['api', 'oracle'] as const)
      problems.push(
        `${at(`venue.${given}Hosts`)} is ${config.venue[`${given}Hosts`].join(', ')}, and venue.${missing}Hosts (${origins[`venue.${missing}Hosts`]}) is empty: in the paper profile set both or neither.`,
      )
    }
    for (const key of keySettings) {
      if (config.account[key] === undefined) continue
      problems.push(
        `${at(`account.${key}`)} is set; the paper profile signs only with its throwaway key, because a signature made on paper is valid on the live chain.`,
      )
    }
  } else {
    if (config.evidence.trustVenue) {
      problems.push(
        `${at('evidence.trustVenue')} is true; with real money the venue's statement alone never closes an order. Remove it.`,
      )
    }
    if (config.rpc.finality === 'latest') {
      warnings.push(
        `${at('rpc.finality')} is latest; an order may be closed on a block that a reorganisation later removes.`,
      )
    }
    for (const { key, url, known } of hosts) {
      const list = config.venue.chain.hosts[known]
      if (!list.includes(url)) warnings.push(outsider(key, url, config.venue.chain, list))
    }
  }
  for (const [lower, higher] of comparesAll ? ordered : []) {
    const [low, high] = [figures[lower](config), figures[higher](config)]
    if (low <= high) continue
    problems.push(
      `${at(lower)} ${figureText(lower, low)} is above ${higher} ${figureText(higher, high)} (${origins[higher]}); it must be equal or lower.`,
    )
  }
  const { relayDeadlineSeconds } = config.execution
  const { minDeadlineSeconds, maxDeadlineSeconds } = config.signing
  const isSigned = relayDeadlineSeconds >= minDeadlineSeconds && relayDeadlineSeconds <= maxDeadlineSeconds
  if (comparesAll && describeLane(config.account.lane).signsOwnDeadline && !isSigned) {
    problems.push(
      `${at('execution.relayDeadlineSeconds')} is ${relayDeadlineSeconds}, outside what is signed: ${minDeadlineSeconds} to ${maxDeadlineSeconds} s (signing.minDeadlineSeconds, ${origins['signing.minDeadlineSeconds']}; signing.maxDeadlineSeconds, ${origins['signing.maxDeadlineSeconds']}).`,
    )
  }
  if (!isJournalLocation(config.journal.path)) {
    problems.push(
      `${at('journal.path')} has the unknown scheme ${config.journal.path.split(':')[0]}:; a journal is a path, sqlite:PATH, or memory:.`,
    )
  }
  for (const key of ['standby', 'synchronousStandby'] as const) {
    if (config.journal.url !== undefined || !config.journal[key]) continue
    problems.push(
      `${at(`journal.${key}`)} is true, and journal.url (${origins['journal.url']}) is empty: only a journal in PostgreSQL is reached by two machines. Set journal.url, or remove it.`,
    )
  }
  if (!isOwnHost(config.control.host)) {
    warnings.push(
      `control.host ${config.control.host} is open to other machines: anyone who can connect sees account, orders and metrics.`,
    )
  }
  return { problems, warnings }
}

/** Settings of the account that name a key of the user's own. */
const keySettings = ['keystore', 'remoteSigner', 'keyFile'] as const

/**
 * Returns the faults of the keys that a start requires beyond a valid configuration; empty when the daemon may start.
 *
 * @param hasVariable true when `PERPD_PRIVATE_KEY` is not empty.
 */
export function startProblems(config: Config, hasVariable = false): readonly string[] {
  if (config.isPaper) {
    return hasVariable
      ? [
          `${privateKeyVariable} is set; the paper profile signs only with its throwaway key, because a signature made on paper is valid on the live chain.`,
        ]
      : []
  }
  const { account, profile } = config
  const given = keySettings.filter((key) => account[key] !== undefined)
  const named = [...given.map((key) => `account.${key}`), ...(hasVariable ? [privateKeyVariable] : [])]
  const [source] = named
  if (source === undefined) {
    return [
      `no key is configured; the profile ${profile} trades real money and needs one: --account.keystore FILE (perpd keys new makes it) or --account.remoteSigner URL`,
    ]
  }
  if (named.length > 1) {
    // An address may carry a password, and the variable holds the key: neither is told.
    const told = [
      ...given.map((key) =>
        key === 'remoteSigner' ? 'account.remoteSigner' : `account.${key} ${account[key]}`,
      ),
      ...(hasVariable ? [`${privateKeyVariable} (env)`] : []),
    ]
    return [
      `${told.join(' and ')} are set; keep only one. To see where each is set: perpd config --search account`,
    ]
  }
  if (source === 'account.keystore') return []
  if (source === 'account.remoteSigner') {
    return account.address === undefined
      ? ['account.address is not set; account.remoteSigner needs it to select your key.']
      : []
  }
  if (account.acceptRawKey) return []
  return [
    `account.acceptRawKey is false; the profile ${profile} trades real money, and anyone who reads ${source === privateKeyVariable ? privateKeyVariable : 'a raw key file'} controls the account. Encrypt it with perpd keys import, or accept the risk: --account.acceptRawKey`,
  ]
}

/**
 * Returns the problem of a perpd that would wait for a journal and bring a paper venue of its own, so that each holder of the journal had other positions;
 * undefined when there is none. It is of a start alone: the same settings serve the venue, and ask a database.
 */
export function ownVenueProblem({ embedsVenue, journal, cluster }: Config): string | undefined {
  if (!embedsVenue || !journal.standby) return undefined
  const fleet = cluster.name === undefined ? '' : `, cluster.name is ${cluster.name}`
  return `journal.standby is true${fleet}, and venue.apiHosts is empty: each perpd would have a separate paper venue, and the one that takes over would not find the account's positions there. Let one process serve the venue, perpd paper --print-config, and set venue and rpc of each perpd as it prints them; or remove journal.standby.`
}

function outsider(key: string, url: string, chain: Chain, list: readonly string[]): string {
  return `${key} has ${url}, which is not one of ${chain.name}'s own (${list.join(', ')}); this host sees the account and prepares its orders, which perpd verifies.`
}

/** Figures that must not be above others. */
const figures = {
  'risk.minOrderSizeUsd': ({ limits }) => limits.minOrderSizeUsd,
  'risk.maxOrderSizeUsd': ({ limits }) => limits.maxOrderSizeUsd,
  'risk.maxPositionSizeUsd': ({ limits }) => limits.maxPositionSizeUsd,
  'risk.maxTotalExposureUsd': ({ limits }) => limits.maxTotalExposureUsd,
  'execution.statusPollMs': ({ execution }) => execution.statusPollMs,
  'execution.statusPollMaxMs': ({ execution }) => execution.statusPollMaxMs,
  'execution.restingPollMs': ({ execution }) => execution.restingPollMs,
  'signing.minDeadlineSeconds': ({ signing }) => signing.minDeadlineSeconds,
  'signing.maxDeadlineSeconds': ({ signing }) => signing.maxDeadlineSeconds,
  'signing.relayFeeUsd': ({ signing }) => signing.relayFeeUsd,
  'signing.maxRelayFeeUsd': ({ signing }) => signing.maxRelayFeeUsd,
} satisfies Readonly<Record<string, (config: Config) => number | bigint>>

function figureText(key: string, value: number | bigint): string {
  if (typeof value === 'bigint') return formatUsd(value)
  return key.endsWith('Ms') ? `${value} ms` : `${value} s`
}

const ordered: readonly (readonly [keyof typeof figures, keyof typeof figures])[] = [
  ['risk.minOrderSizeUsd', 'risk.maxOrderSizeUsd'],
  ['risk.maxOrderSizeUsd', 'risk.maxPositionSizeUsd'],
  ['risk.maxPositionSizeUsd', 'risk.maxTotalExposureUsd'],
  ['execution.statusPollMs', 'execution.statusPollMaxMs'],
  ['execution.statusPollMaxMs', 'execution.restingPollMs'],
  ['signing.minDeadlineSeconds', 'signing.maxDeadlineSeconds'],
  ['signing.relayFeeUsd', 'signing.maxRelayFeeUsd'],
]
