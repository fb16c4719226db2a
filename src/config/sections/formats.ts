/** Formats of settings that are the daemon's own: addresses, files, markets and limits. Those that any setting may have are `protocol/settings/setting.ts`. */
import { z } from 'zod'
import { urlsOf } from '../../base/hostList.ts'
import { isForbiddenAddress, isLoopback } from '../../base/networkAddress.ts'
import { Secret } from '../../base/secret.ts'
import { type BreakerName, breakerNames, type TradingHalt } from '../../domain/accountRecords/tradingState.ts'
import { type LimitName, type Limits, limitRows, limitSetting } from '../../domain/limits/limits.ts'
import type { LimitRow } from '../../domain/limits/limitTable.ts'
import { type ComponentLevel, componentLevelOf, logComponents, logLevels } from '../../domain/logLevels.ts'
import { warningActions as actions, type WarningAction } from '../../domain/order/warnedFacts.ts'
import type { Address, Hex } from '../../protocol/address.ts'
import type { Chain } from '../../protocol/chains/chain.ts'
import type { Finality } from '../../protocol/chains/finality.ts'
import { chainNamed, chainNames } from '../../protocol/chains/index.ts'
import {
  choice,
  choices,
  type Format,
  format,
  list,
  matching,
  meaning,
} from '../../protocol/settings/setting.ts'
import { NATIVE_DECIMALS, parseUnits, usd } from '../../protocol/units.ts'

/** A name of lower-case letters, digits and dashes. */
export const name: Format<string> = matching(
  'a name of lower-case letters, digits and dashes',
  /^[a-z0-9][a-z0-9-]*$/,
)

const emptyIsNone = <T extends string>(value: string): T | undefined =>
  value === '' ? undefined : (value as T)

/** An account's address; or empty. */
export const address: Format<Address | undefined> = meaning(
  matching('0x and 40 hex digits', /^(?:0x[0-9a-fA-F]{40})?$/),
  emptyIsNone<Address>,
)

/** A hash of 32 bytes; or empty. */
export const hash: Format<Hex | undefined> = meaning(
  matching('0x and 64 hex digits', /^(?:0x[0-9a-fA-F]{64})?$/),
  emptyIsNone<Hex>,
)

/** A referral code as the venue takes it: 32 bytes, or the text that they are made of, padded with zeros at the end; or empty. */
export const referralCode: Format<Hex | undefined> = meaning(
  matching(
    '0x and 64 hex digits, or up to 20 letters, digits and signs without spaces',
    /^(?:0x[0-9a-fA-F]{64}|[\x21-\x7e]{0,20})$/,
  ),
  (value): Hex | undefined => {
    if (value === '' || value.length === 66) return emptyIsNone<Hex>(value)
    return `0x${Buffer.from(value, 'ascii').toString('hex').padEnd(64, '0')}`
  },
)

/** Levels of components of the log. */
export const componentLevels: Format<readonly ComponentLevel[]> = list(
  `a list of COMPONENT=LEVEL, as host=debug; levels are ${logLevels.join(', ')}, components ${logComponents.join(', ')}`,
  (item) => componentLevelOf(item) !== undefined,
  { means: levelNamed },
)

function levelNamed(item: string): ComponentLevel {
  const found = componentLevelOf(item)
  if (found === undefined) throw new RangeError(`not a COMPONENT=LEVEL pair: ${item}`)
  return found
}

/** A host name or IP address to listen on. */
export const listenHost: Format<string> = format({
  expected: 'a host name or IP address without port, as 127.0.0.1',
  written: z
    .string()
    .regex(/^[A-Za-z0-9_.:-]+$/)
    .refine((value) => !/^.+:\d+$/.test(value.replace(/^.*::/, ''))),
})

/** One of the chains. */
export const chain: Format<Chain> = meaning(choice(chainNames), chainOf)

/** Some of the chains. */
export const chainList: Format<readonly Chain[]> = meaning(choices(chainNames), (names) => names.map(chainOf))

function chainOf(named: string): Chain {
  const found = chainNamed(named)
  if (found === undefined) throw new RangeError(`no such chain: ${named}`)
  return found
}

/** A shell replaces these in some places and leaves them in others, and a folder of that very name would be made without a word. */
function isAsWritten(value: string): boolean {
  return !/^~(?:[\\/]|$)|\$(?:\{|[A-Z_])/.test(value.replace(/^[a-z][a-z0-9+]+:/, ''))
}

/** A file or directory path, relative to the working directory; not empty. Absolute in the code. */
export const path: Format<string> = format({
  expected: 'a path without ~ and $NAME',
  written: z.string().refine((value) => value.trim() !== '' && isAsWritten(value)),
  locate: (value, locate) => locate(String(value)),
})

/** The same; or empty. */
export const pathOrNone: Format<string | undefined> = meaning(
  {
    ...format({ expected: 'a path without ~ and $NAME, or empty', written: z.string().refine(isAsWritten) }),
    locate: (value, locate) => (value === '' ? '' : locate(String(value))),
  },
  (value) => value || undefined,
)

/** A list of paths. */
export const paths: Format<readonly string[]> = {
  ...list('a list of paths without ~ and $NAME', (item) => item !== '' && isAsWritten(item)),
  locate: (value, locate) => (value as readonly string[]).map(locate),
}

/** Where a journal is: a path, which may be named by the scheme `sqlite:`, or another scheme with what it takes. */
export const journalLocation: Format<string> = {
  ...path,
  locate: (value, locate) => {
    const written = String(value)
    const [, scheme, rest = ''] = /^([a-z][a-z0-9+]+):(.*)$/.exec(written) ?? []
    if (scheme === undefined) return locate(written)
    return scheme === 'sqlite' ? locate(rest) : written
  },
}

/** Name of an account's rows in a shared journal; or empty. */
export const journalAccount: Format<string | undefined> = format({
  expected: 'up to 64 letters, digits, dots, hyphens and underscores, or empty',
  written: z.string().regex(/^[\w.-]{0,64}$/),
  means: (value) => value || undefined,
})

/** A list of host names, without ports. */
export const hostNames: Format<readonly string[]> = list('a list of host names without ports', (item) =>
  /^[A-Za-z0-9_.-]+$/.test(item),
)

/**
 * An address as it is meant: a parser takes `https:/host`, two addresses with a semicolon between them, and names in letters that look like
 * others. A name in other letters is written as its `xn--` form.
 */
const plainUrl =
  /^(?:https?|wss?):\/\/(?:[^\s/?#@]*@)?(?:\[[0-9a-f:.]+\]|[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?)(?::\d{1,5})?(?:[/?#][^\s\\{}<>"]*)?$/i

/** Tells whether an address may be used: https, or http on this machine, and none of a machine's own metadata. */
export function isSafeUrl(item: string, mayCarrySecrets: boolean): boolean {
  const url = plainUrl.test(item) ? URL.parse(item) : null
  if (url === null || url.hash !== '' || url.port === '0') return false
  if (!mayCarrySecrets && (url.username !== '' || url.password !== '' || url.search !== '')) return false
  // Such addresses serve a machine's own metadata and credentials; nobody trades there.
  if (isForbiddenAddress(url.hostname)) return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))
}

const withoutSlash = (url: string): string => url.replace(/\/+$/, '')

/** Base addresses of an API: https, or http on this machine; no credentials, no query. */
export const hostUrls: Format<readonly string[]> = list(
  'a list of https:// addresses without credentials or query; http:// is for this machine only',
  (item) => isSafeUrl(item, false),
  { means: withoutSlash },
)

/** Where a collector of traces takes them: https, or http on this machine; no credentials, no query; or empty. */
export const collectorUrlOrNone: Format<string | undefined> = meaning(
  format({
    expected: 'an https:// address without credentials or query; http:// is for this machine only',
    written: z.string().refine((value) => value === '' || isSafeUrl(value, false)),
  }),
  emptyIsNone<string>,
)

/** Public address of the console behind TLS: an origin without a path, or empty. */
export const publicUrlOrNone: Format<string | undefined> = meaning(
  format({
    expected: 'an https:// address without a path, as https://perpd.example.org',
    written: z.string().refine((value) => {
      const url = URL.parse(value)
      return value === '' || (url?.protocol === 'https:' && url.href === `${url.origin}/`)
    }),
  }),
  (value) => (value === '' ? undefined : new URL(value).origin),
)

/** Address of a remote signer, as `hostUrls` has them; or empty. */
export const signerUrl: Format<string | undefined> = format({
  expected: 'an https:// address without credentials or query; http:// is for this machine only',
  written: z
    .string()
    .refine((value) => value === '' || isSafeUrl(value, false))
    .transform(withoutSlash),
  means: (value) => value || undefined,
})

const asSecret = { means: (url: string) => new Secret(url), isSecret: true } as const

/** RPC endpoints: as `hostUrls`, and a key may stand in the address. */
export const rpcUrls: Format<readonly Secret[]> = list(
  'a list of https:// addresses; http:// is for this machine only',
  (item) => isSafeUrl(item, true),
  asSecret,
)

/** RPC endpoints over WebSocket: as `rpcUrls`, with their schemes. */
export const socketUrls: Format<readonly Secret[]> = list(
  'a list of wss:// addresses; ws:// is for this machine only',
  (item) => /^wss?:/i.test(item) && isSafeUrl(item.replace(/^ws/i, 'http'), true),
  asSecret,
)

const postgresUrl = /^postgres(?:ql)?:\/\/[^\s/?#]+\/[^\s/?#]+(?:\?[^\s#]*)?$/

/** Tells whether perpd demands what an address asks of its hosts: a primary that takes records. */
const wantsPrimary = ({ searchParams }: URL): boolean =>
  ['read-write', 'primary'].includes(searchParams.get('target_session_attrs') ?? 'primary')

/** Address of a database with its user and password; or empty. */
export const postgresUrlOrNone: Format<Secret | undefined> = format({
  expected:
    'postgres://USER:PASSWORD@HOST:PORT/DATABASE, with a comma between HOST:PORT of several servers, or empty',
  written: z.string().refine((value) => {
    const urls = urlsOf(value)
    return value === '' || (postgresUrl.test(value) && urls.length > 0 && urls.every(wantsPrimary))
  }),
  means: (value) => (value === '' ? undefined : new Secret(value)),
  isSecret: true,
})

const tags = ['latest', 'safe', 'finalized'] as const

/** When a block counts as final: a word, or how many blocks it must be behind the latest. Undefined: what the chain needs. */
export const finality: Format<Finality | undefined> = format({
  expected: 'one of auto, latest, safe, finalized, or a number of blocks behind latest up to 100000',
  written: z
    .union([z.string(), z.number()])
    .refine((value) => {
      const written = String(value)
      const isDepth = /^\d{1,6}$/.test(written) && Number(written) <= 100_000
      return isDepth || ['auto', ...tags].includes(written)
    })
    .transform(String),
  means: (written) => {
    if (written === 'auto') return undefined
    return tags.find((tag) => tag === written) ?? { depth: Number(written) }
  },
})

/** Trading states that breakers set, `BREAKER=reducing` or `BREAKER=halted`. */
export const breakerStates: Format<Readonly<Partial<Record<BreakerName, TradingHalt['state']>>>> = meaning(
  list(
    `a list of BREAKER=reducing or BREAKER=halted, with a breaker of ${breakerNames.join(', ')}`,
    (item) => {
      const [breaker, state, ...rest] = item.split('=')
      const isBreaker = breakerNames.some((each) => each === breaker)
      return isBreaker && (state === 'reducing' || state === 'halted') && rest.length === 0
    },
  ),
  (items) => Object.fromEntries(items.map((item) => item.split('='))),
)

/** Limits that one market may have for its own, by the names of their settings. */
const marketRows = new Map<string, { readonly limit: LimitName; readonly row: LimitRow }>(
  limitRows.flatMap(([limit, row]) => (row.isOfNoMarket ? [] : [[limitSetting(limit), { limit, row }]])),
)

/** Limits of single markets, `MARKET: limit=value limit=value`, by the market's symbol. */
export const marketLimits: Format<Readonly<Record<string, Limits>>> = meaning(
  list(
    `a list of MARKET: LIMIT=VALUE LIMIT=VALUE, as ETH/USD [WETH-USDC]: maxPositionSizeUsd=3000 maxLeverage=5, with limits of ${[...marketRows.keys()].join(', ')}`,
    (item) => {
      const [, market, pairs] = /^([^:=]+):\s*(\S.*)$/.exec(item) ?? []
      if (market === undefined || pairs === undefined) return false
      return pairs.split(/\s+/).every((pair) => {
        const [, limit = '', value = ''] = /^([A-Za-z]+)=(\d{1,15}(?:\.\d{1,4})?)$/.exec(pair) ?? []
        const unit = marketRows.get(limit)?.row.unit
        if (unit === undefined) return false
        const isWhole = unit === 'bps' || unit === 'count' || unit === 'ms'
        return isWhole ? /^\d{1,8}$/.test(value) : parseUnits(value, 4) > 0n
      })
    },
  ),
  (items) => Object.fromEntries(items.map(marketLimitsOf)),
)

function marketLimitsOf(item: string): readonly [string, Limits] {
  const colon = item.indexOf(':')
  const pairs = item
    .slice(colon + 1)
    .trim()
    .split(/\s+/)
  const limits = pairs.flatMap((pair): readonly (readonly [LimitName, number | bigint])[] => {
    const [written = '', value = ''] = pair.split('=')
    const found = marketRows.get(written)
    if (found === undefined) return []
    switch (found.row.unit) {
      case 'usd':
        return [[found.limit, usd(value)]]
      case 'native':
        return [[found.limit, parseUnits(value, NATIVE_DECIMALS)]]
      case 'times':
        return [[found.limit, Number(parseUnits(value, 4))]]
      default:
        return [[found.limit, Number(value)]]
    }
  })
  return [item.slice(0, colon).trim(), Object.fromEntries(limits)]
}

/** Actions for warnings of the venue, `CODE=action` or `CODE.REASON=action`; when a code is listed twice, the last counts. */
export const warningActions: Format<ReadonlyMap<string, WarningAction>> = meaning(
  list(`a list of CODE=ACTION or CODE.REASON=ACTION, with an action of ${actions.join(', ')}`, (item) => {
    const [, action] = /^[A-Z][A-Z0-9_]{1,63}(?:\.[A-Z][A-Z0-9_]{1,63})?=(\w+)$/.exec(item) ?? []
    return actions.some((each) => each === action)
  }),
  (items) => new Map(items.map((item) => item.split('=') as [string, WarningAction])),
)

/** Codes of warnings, `CODE` or `CODE.REASON`. */
export const warningCodes: Format<ReadonlySet<string>> = meaning(
  list('a list of CODE or CODE.REASON', (item) =>
    /^[A-Z][A-Z0-9_]{1,63}(?:\.[A-Z][A-Z0-9_]{1,63})?$/.test(item),
  ),
  (items) => new Set(items),
)
