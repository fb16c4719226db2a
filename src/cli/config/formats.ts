/** What a setting's value may be: how it is read from a file's JSON and from the text of a flag or a variable. */
import { isForbiddenAddress } from '../../domain/networkAddress.ts'
import { breakerNames } from '../../domain/trading.ts'
import { parseUnits } from '../../domain/units.ts'
import { warningActions as actions } from '../../domain/warnedFacts.ts'

/** A value in its normal form, as JSON can carry it. */
export type Value = string | number | boolean | readonly string[]

/** One kind of value. */
export interface Format {
  /** What a good value looks like, to follow "expected". */
  readonly expected: string
  /** True when the value is a list: flags may repeat, variables separate by commas. */
  readonly list: boolean
  /** The normal form of a value from JSON, or undefined when it does not fit. */
  read(value: unknown): Value | undefined
  /** The same for text of a flag or an environment variable. */
  readText(text: string): Value | undefined
}

function scalar(expected: string, read: (value: unknown) => Value | undefined): Format {
  return { expected, list: false, read, readText: read }
}

/** Any text, the empty one included. */
export const text: Format = scalar('text', (value) => (typeof value === 'string' ? value : undefined))

/** A name of lower-case letters, digits and dashes. */
export const name: Format = scalar('a name of lower-case letters, digits and dashes', (value) =>
  typeof value === 'string' && /^[a-z0-9][a-z0-9-]*$/.test(value) ? value : undefined,
)

/** An account's address; or empty. */
export const address: Format = scalar('0x and 40 hex digits', (value) =>
  typeof value === 'string' && /^(?:0x[0-9a-fA-F]{40})?$/.test(value) ? value : undefined,
)

/** A hash of 32 bytes; or empty. */
export const hash: Format = scalar('0x and 64 hex digits', (value) =>
  typeof value === 'string' && /^(?:0x[0-9a-fA-F]{64})?$/.test(value) ? value : undefined,
)

/** A referral code as the venue takes it: 32 bytes, or the text that they are made of. */
export const referralCode: Format = scalar(
  '0x and 64 hex digits, or up to 20 letters, digits and signs without spaces',
  (value) =>
    typeof value === 'string' && (value === '' || /^(?:0x[0-9a-fA-F]{64}|[\x21-\x7e]{1,20})$/.test(value))
      ? value
      : undefined,
)

/** A host name or IP address to listen on. */
export const listenHost: Format = scalar('a host name or IP address without port, as 127.0.0.1', (value) =>
  typeof value === 'string' &&
  /^[A-Za-z0-9_.:-]+$/.test(value) &&
  !/^.+:\d+$/.test(value.replace(/^.*::/, ''))
    ? value
    : undefined,
)

/** A file or directory path, relative to the working directory; not empty. */
export const path: Format = scalar('a path', (value) =>
  typeof value === 'string' && value.trim() !== '' ? value : undefined,
)

/** One of some words. */
export function choice(words: readonly string[]): Format {
  return scalar(`one of ${words.join(', ')}`, (value) =>
    typeof value === 'string' && words.includes(value) ? value : undefined,
  )
}

/** true or false. */
export const flag: Format = {
  expected: 'true or false',
  list: false,
  read: (value) => (typeof value === 'boolean' ? value : undefined),
  readText: (value) => (value === 'true' ? true : value === 'false' ? false : undefined),
}

/** A whole number within bounds, both included. */
export function integer(least: number, most: number): Format {
  const within = (value: number): number | undefined =>
    Number.isSafeInteger(value) && value >= least && value <= most ? value : undefined
  return {
    expected: `a whole number from ${least} to ${most}`,
    list: false,
    read: (value) => (typeof value === 'number' ? within(value) : undefined),
    readText: (value) => (/^-?\d{1,16}$/.test(value) ? within(Number(value)) : undefined),
  }
}

/**
 * A non-negative decimal number kept as its text, exact, with at most `decimals` decimals. JSON numbers are taken when
 * their text is plain and short enough (15 digits) to be exactly what was written.
 */
export function decimal(expected: string, decimals: number, least: string, most: string): Format {
  const [leastUnits, mostUnits] = [parseUnits(least, decimals), parseUnits(most, decimals)]
  return scalar(expected, (value) => {
    const written = typeof value === 'number' ? String(value) : value
    if (typeof written !== 'string' || !/^\d{1,30}(\.\d{1,30})?$/.test(written)) return undefined
    if (typeof value === 'number' && written.replace('.', '').length > 15) return undefined
    if ((written.split('.')[1] ?? '').length > decimals) return undefined
    const units = parseUnits(written, decimals)
    return units >= leastUnits && units <= mostUnits ? written : undefined
  })
}

/** An amount of US dollars, zero excluded. */
export const dollars: Format = decimal(
  'an amount of US dollars above 0, as 500 or "500.50"',
  18,
  '0.000000000000000001',
  '1000000000000',
)

/** The same, and 0 for none. */
export const dollarsOrNone: Format = decimal(
  'an amount of US dollars, as 500 or "500.50"; 0 for none',
  18,
  '0',
  '1000000000000',
)

/** A list; in text form the items are separated by commas. `accepts` judges one item. */
function list(expected: string, accepts: (item: string) => boolean): Format {
  const read = (value: unknown): Value | undefined => {
    if (!Array.isArray(value)) return undefined
    const items = value.map((item: unknown) => (typeof item === 'string' ? item.trim() : undefined))
    return items.every((item): item is string => item !== undefined && accepts(item)) ? items : undefined
  }
  const readText = (value: string): Value | undefined =>
    read(value.trim() === '' ? [] : value.split(',').map((item) => item.trim()))
  return { expected, list: true, read, readText }
}

/** A list of host names, without ports. */
export const hostNames: Format = list('a list of host names without ports', (item) =>
  /^[A-Za-z0-9_.-]+$/.test(item),
)

/** A list of paths. */
export const paths: Format = list('a list of paths', (item) => item !== '')

/** Whether a host name, as `URL.hostname` gives it, is this machine. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
}

function isSafeUrl(item: string, mayCarrySecrets: boolean): boolean {
  const url = URL.parse(item)
  if (url === null || url.hash !== '') return false
  if (!mayCarrySecrets && (url.username !== '' || url.password !== '' || url.search !== '')) return false
  // Such addresses serve a machine's own metadata and credentials; nobody trades there.
  if (isForbiddenAddress(url.hostname)) return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))
}

/** Base addresses of an API: https, or http on this machine; no credentials, no query. */
export const hostUrls: Format = list(
  'a list of https:// addresses without credentials or query; http:// is for this machine only',
  (item) => isSafeUrl(item, false),
)

/** Address of a remote signer, as `hostUrls` has them; or empty. */
export const signerUrl: Format = scalar(
  'an https:// address without credentials or query; http:// is for this machine only',
  (value) =>
    typeof value === 'string' && (value === '' || isSafeUrl(value, false))
      ? value.replace(/\/+$/, '')
      : undefined,
)

/** RPC endpoints: as `hostUrls`, and a key may stand in the address. */
export const rpcUrls: Format = list(
  'a list of https:// addresses; http:// is for this machine only',
  (item) => isSafeUrl(item, true),
)

/** RPC endpoints over WebSocket: as `rpcUrls`, with their schemes. */
export const socketUrls: Format = list(
  'a list of wss:// addresses; ws:// is for this machine only',
  (item) => /^wss?:/i.test(item) && isSafeUrl(item.replace(/^ws/i, 'http'), true),
)

/** When a block counts as final: a word, or how many blocks it must be behind the latest. */
export const finality: Format = scalar(
  'one of auto, latest, safe, finalized, or a number of blocks behind latest up to 100000',
  (value) => {
    const written = typeof value === 'number' ? String(value) : value
    if (typeof written !== 'string') return undefined
    const isDepth = /^\d{1,6}$/.test(written) && Number(written) <= 100_000
    return isDepth || ['auto', 'latest', 'safe', 'finalized'].includes(written) ? written : undefined
  },
)

/** What breakers set, `BREAKER=reducing` or `BREAKER=halted`. */
export const breakerStates: Format = list(
  `a list of BREAKER=reducing or BREAKER=halted, with a breaker of ${breakerNames.join(', ')}`,
  (item) => {
    const [name, state, ...rest] = item.split('=')
    const isBreaker = breakerNames.some((each) => each === name)
    return isBreaker && (state === 'reducing' || state === 'halted') && rest.length === 0
  },
)

/** Limits that one market may have for its own. */
export const marketLimitNames = [
  'maxPositionSizeUsd',
  'maxPositionEquityBps',
  'maxMarketExposureUsd',
  'maxMarketExposureEquityBps',
  'maxWishEquityBps',
  'maxWishCollateralEquityBps',
  'maxOrderSizeUsd',
  'minOrderSizeUsd',
  'maxUnboundedOrderUsd',
  'maxLeverage',
  'maxSlippageBps',
  'capacityHeadroomBps',
  'maxCapacityShareBps',
  'maxPriceDivergenceBps',
  'minLiquidationDistanceBps',
  'maxOrdersPerHour',
  'attemptsPerCause',
  'executionFeesPerDay',
  'relayFeesPerDayUsd',
  'maxDailyLossUsd',
  'maxDailyLossEquityBps',
  'maxDataAgeMs',
  'maxTickerAgeMs',
  'maxCapacityAgeMs',
  'maxOracleAgeMs',
  'maxAccountAgeMs',
  'reduceAgainAfterMs',
] as const

/** Limits of single markets, `MARKET: limit=value limit=value`. */
export const marketLimits: Format = list(
  `a list of MARKET: LIMIT=VALUE LIMIT=VALUE, as ETH/USD [WETH-USDC]: maxPositionSizeUsd=3000 maxLeverage=5, with limits of ${marketLimitNames.join(', ')}`,
  (item) => {
    const [, market, pairs] = /^([^:=]+):\s*(\S.*)$/.exec(item) ?? []
    if (market === undefined || pairs === undefined) return false
    return pairs.split(/\s+/).every((pair) => {
      const [, name = '', value = ''] = /^([A-Za-z]+)=(\d{1,15}(?:\.\d{1,4})?)$/.exec(pair) ?? []
      if (!marketLimitNames.some((each) => each === name)) return false
      if (/(?:Bps|Ms|PerHour|PerCause)$/.test(name)) return /^\d{1,8}$/.test(value)
      return parseUnits(value, 4) > 0n
    })
  },
)

/** What a warning of the venue does, `CODE=action` or `CODE.REASON=action`. */
export const warningActions: Format = list(
  `a list of CODE=ACTION or CODE.REASON=ACTION, with an action of ${actions.join(', ')}`,
  (item) => {
    const [, action] = /^[A-Z][A-Z0-9_]{1,63}(?:\.[A-Z][A-Z0-9_]{1,63})?=(\w+)$/.exec(item) ?? []
    return actions.some((each) => each === action)
  },
)

/** Codes of warnings, `CODE` or `CODE.REASON`. */
export const warningCodes: Format = list('a list of CODE or CODE.REASON', (item) =>
  /^[A-Z][A-Z0-9_]{1,63}(?:\.[A-Z][A-Z0-9_]{1,63})?$/.test(item),
)

/** A list of some words. */
export function choices(words: readonly string[]): Format {
  return list(`a list of ${words.join(', ')}`, (item) => words.includes(item))
}

/** Hours of markets, `INDEX/USD=HH:MM-HH:MM`. */
export const marketHours: Format = list('a list of MARKET=HH:MM-HH:MM, as XAU/USD=13:30-20:00', (item) =>
  /^[^=]+=([01]\d|2[0-3]):[0-5]\d-([01]\d|2[0-3]):[0-5]\d$/.test(item),
)

/** Gas prices by chain, `CHAIN=gwei`. */
export const chainPrices: Format = list('a list of CHAIN=gwei, as arbitrum=0.05', (item) =>
  /^(arbitrum|avalanche|megaeth)=(?!0+(\.0+)?$)\d{1,6}(\.\d{1,9})?$/.test(item),
)

/** Pools open to wallets, `WALLET=MARKET`; a market is its symbol or its market token. */
export const walletMarkets: Format = list(
  'a list of WALLET=MARKET, as 0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A=ETH/USD [WETH-USDC]',
  (item) => /^0x[0-9a-fA-F]{40}=[^=]+$/.test(item),
)

/** Parts of pools that wallets hold, `WALLET=MARKET=millionths`. */
export const walletShares: Format = list(
  'a list of WALLET=MARKET=millionths, as 0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A=ETH/USD [WETH-USDC]=2500',
  (item) => {
    const [, share] = /^0x[0-9a-fA-F]{40}=[^=]+=(\d{1,7})$/.exec(item) ?? []
    return share !== undefined && Number(share) <= 1_000_000
  },
)

/** Amounts of tokens, `SYMBOL=amount`. */
export const tokenAmounts: Format = list('a list of SYMBOL=amount, as USDC=10000', (item) =>
  /^[A-Za-z][A-Za-z0-9.]*=\d{1,30}(\.\d{1,18})?$/.test(item),
)
