/**
 * Where a 308 leads
 * (docs/reference/api-coverage.md A15: hosts of the second family that do not compute stats point at the Arbitrum host of their
 * family). A redirect comes from outside, so only the host is taken from it, and only if it is configured or of the same
 * family, or a path of the same origin; everything else stays that of the question.
 */

/** Everything after the first label of a host name: `arbitrum.venue.io` and `megaeth.venue.io` share `venue.io`. */
function familyOf({ hostname }: URL): string | undefined {
  const family = hostname.slice(hostname.indexOf('.') + 1)
  // A bare name or an address has no family; a single label would make the whole of a top-level domain one.
  return hostname.includes('.') && family.includes('.') && !/^[\d.]+$/.test(hostname) ? family : undefined
}

function parsed(text: string, base: string): URL | undefined {
  return URL.canParse(text, base) ? new URL(text, base) : undefined
}

/**
 * The base address that a 308 names, if it may be followed: the same path at a configured base or at a host of the same
 * family, over the same protocol and port. Undefined for any other answer.
 */
export function redirectedBase(
  answer: { readonly status: number; readonly location: string | null },
  url: string,
  host: string,
  isKnown: (base: string) => boolean,
): string | undefined {
  if (answer.status !== 308 || answer.location === null) return undefined
  const from = new URL(url)
  const to = parsed(answer.location, url)
  if (to === undefined || to.pathname !== from.pathname || to.origin === from.origin) return undefined
  if (to.username !== '' || to.password !== '') return undefined
  const base = to.origin + new URL(host).pathname.replace(/\/+$/, '')
  if (isKnown(base)) return base
  const family = familyOf(from)
  const isSameFamily = family !== undefined && family === familyOf(to)
  return isSameFamily && to.protocol === from.protocol && to.port === from.port ? base : undefined
}

/** Where a question is asked once more after a 308. */
export interface Redirected {
  /** Base address of the host that is asked. */
  readonly host: string
  /** The whole address. */
  readonly url: string
}

/**
 * Where a 308 leads, if it may be followed: to another host as `redirectedBase` says, or to another path of the same origin,
 * with the query of the question. Undefined for any other answer.
 */
export function redirected(
  answer: { readonly status: number; readonly location: string | null },
  url: string,
  host: string,
  isKnown: (base: string) => boolean,
): Redirected | undefined {
  const base = redirectedBase(answer, url, host, isKnown)
  const from = new URL(url)
  if (base !== undefined) return { host: base, url: base + url.slice(host.length) }
  if (answer.status !== 308 || answer.location === null) return undefined
  const to = parsed(answer.location, url)
  if (to === undefined || to.origin !== from.origin || to.pathname === from.pathname) return undefined
  if (to.username !== '' || to.password !== '') return undefined
  return { host, url: from.origin + to.pathname + from.search }
}
