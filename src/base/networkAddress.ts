/**
 * Addresses that nothing here may talk to: link-local ones, and those at which clouds serve a machine's own credentials. A
 * name that was configured in good faith may resolve to one, so what a name resolves to is checked too, and that very
 * address is connected to. Loopback is allowed: the paper venue and a user's own proxy live there.
 */

/** IPv4 addresses of metadata services outside 169.254.0.0/16. */
const metadata4: ReadonlySet<string> = new Set(['100.100.100.200', '168.63.129.16', '192.0.0.192'])
/** IPv6 addresses of metadata services outside fe80::/10, as `groupsOf` gives them. */
const metadata6: ReadonlySet<string> = new Set(['fd00:ec2:0:0:0:0:0:254', 'fd20:ce:0:0:0:0:0:254'])

/** Tells whether an address is forbidden; `host` is an IP address, with or without the brackets of a URL, or a name (false). */
export function isForbiddenAddress(host: string): boolean {
  const text = host
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/%.*$/, '')
    .toLowerCase()
  if (/^\d+\.\d+\.\d+\.\d+$/.test(text)) return text.startsWith('169.254.') || metadata4.has(text)
  const groups = text.includes(':') ? groupsOf(text) : undefined
  if (groups === undefined) return false
  const [first = 0] = groups
  if ((first & 0xffc0) === 0xfe80) return true
  if (metadata6.has(groups.map((group) => group.toString(16)).join(':'))) return true
  const inside = embeddedIn(groups)
  return inside !== undefined && isForbiddenAddress(inside)
}

/** Tells whether a host name, as `URL.hostname` gives it, is this machine. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
}

/** Letters and digits in one, as long as this, are no word of a host's name, as `arb1` or `arbitrum-mainnet` are. */
const keyForm = /[a-z0-9]{16,}/gi

/** Returns the parts of a host's name that may be a key, as providers write one into it. */
export function keysInHost(host: string): readonly string[] {
  return host.match(keyForm) ?? []
}

/** A host as it is shown: what may be a key is hidden. */
export function shownHost(host: string): string {
  return host.replace(keyForm, '[hidden]')
}

/** The eight groups of an IPv6 address, or undefined when it is none. */
function groupsOf(text: string): readonly number[] | undefined {
  const [, front = text, dotted] = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text) ?? []
  const bytes = dotted?.split('.').map(Number)
  const tail =
    bytes === undefined
      ? ''
      : [0, 2].map((at) => ((bytes[at] ?? 0) * 256 + (bytes[at + 1] ?? 0)).toString(16)).join(':')
  const halves = `${front}${tail}`.split('::')
  const [head = [], rest] = halves.map((half) => (half === '' ? [] : half.split(':')))
  const missing = 8 - head.length - (rest?.length ?? 0)
  if (halves.length > 2 || missing < 0 || (rest === undefined && missing > 0)) return undefined
  const all = [...head, ...(rest === undefined ? [] : Array<string>(missing).fill('0')), ...(rest ?? [])]
  const groups = all.map((group) => (/^[0-9a-f]{1,4}$/.test(group) ? Number.parseInt(group, 16) : Number.NaN))
  return groups.some(Number.isNaN) ? undefined : groups
}

/** The IPv4 address that an IPv6 address stands for: mapped, compatible, translated (64:ff9b::/96) or 6to4. */
function embeddedIn(groups: readonly number[]): string | undefined {
  const prefix = groups
    .slice(0, 6)
    .map((group) => group.toString(16))
    .join(':')
  const isLast = ['0:0:0:0:0:ffff', '0:0:0:0:0:0', '0:0:0:0:ffff:0', '64:ff9b:0:0:0:0'].includes(prefix)
  const pair = isLast ? groups.slice(6) : groups[0] === 0x2002 ? groups.slice(1, 3) : undefined
  return pair?.flatMap((group) => [group >> 8, group & 0xff]).join('.')
}

/** A failure to resolve that this module makes. */
const FORBIDDEN_ADDRESS = 'ADDRESS_FORBIDDEN'

/** The error of a host that is, or resolves to, a forbidden address; nothing was sent. */
export function forbiddenAddress(host: string, address: string): Error & { readonly code: string } {
  const which = host === address ? host : `${host} (${address})`
  return Object.assign(new Error(`${which} is a link-local or metadata address; perpd connects to none`), {
    code: FORBIDDEN_ADDRESS,
  })
}

/** One address of a name. */
export interface ResolvedAddress {
  readonly address: string
  readonly family: number
}

/** Resolves a name to all its addresses. */
export type ResolveAll = (
  hostname: string,
  options: { readonly all: true },
  done: (error: Error | null, addresses: readonly ResolvedAddress[]) => void,
) => void

/** Looks up a name's addresses for a connection: `all` of them, or one. */
export type ConnectionLookup = (
  hostname: string,
  options: { readonly all?: boolean | undefined },
  done: (error: Error | null, address: string | ResolvedAddress[], family?: number) => void,
) => void

/** A lookup for connections that gives no address when one of a name's is forbidden. */
export function checkedLookup(resolve: ResolveAll): ConnectionLookup {
  return (hostname, options, done) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      const bad = error === null ? addresses.find(({ address }) => isForbiddenAddress(address)) : undefined
      const [first] = error === null ? addresses : []
      if (error !== null) done(error, '')
      else if (bad !== undefined) done(forbiddenAddress(hostname, bad.address), '')
      else if (options.all === true) done(null, [...addresses])
      else if (first === undefined) done(new Error(`${hostname} has no address`), '')
      else done(null, first.address, first.family)
    })
  }
}
