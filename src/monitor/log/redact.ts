/** Keeps secrets out of everything that is written: by shape, by field name, and by value for known ones. */
import { urlsOf } from '../../base/hostList.ts'
import { isLoopback, keysInHost, shownHost } from '../../base/networkAddress.ts'
import { Secret } from '../../base/secret.ts'

/** Text in the place of a secret. */
const HIDDEN = '[hidden]'

/** A URL without what may be secret: credentials, path, query, and a key in the host's name. Text that is no URL is hidden whole. */
export function redactUrl(text: string): string {
  const url = URL.parse(text)
  if (url === null || url.host === '') return HIDDEN
  const bare = url.username === '' && url.password === '' && url.search === '' && url.pathname.length <= 1
  const origin = `${url.protocol}//${shownHost(url.host)}`
  return bare ? origin : `${origin}/${HIDDEN}`
}

// A 65-byte signature; a digest is 32 bytes and may be shown.
const signature = /0x[0-9a-fA-F]{130}\b/g
const credentials = /\b([a-z][a-z0-9+.-]*:\/\/)[^\s/@:]+(?::[^\s/@]*)?@/gi
const secretField = /^(?:signature|private_?key|secret|password|passphrase|mnemonic|authorization|token)$/i

/** Shorter texts occur by chance. */
const MIN_KNOWN = 6
/** Shorter parts of a path are words of it, as `v2` or `arbitrum`. */
const MIN_PATH_PART = 12

/** Schemes of databases. Of their addresses only passwords are secrets: user, database and options, as `primary`, are words of messages. */
const databases: readonly string[] = ['postgres:', 'postgresql:']

/** Options of a database's address that hold a secret. */
const passwordOptions = ['password', 'sslpassword']

/** A secret, and of an address what in it may be a key: name, password, long parts of the host and the path, values of the query. */
function partsOf(secret: string): readonly string[] {
  const parts = urlsOf(secret).flatMap((url) =>
    databases.includes(url.protocol)
      ? [
          ...asTyped(url.password),
          ...passwordOptions.flatMap((option) => url.searchParams.getAll(option).flatMap(asTyped)),
        ]
      : [
          url.username,
          url.password,
          ...keysInHost(url.hostname),
          ...url.pathname.split('/').filter((part) => part.length >= MIN_PATH_PART),
          ...url.searchParams.values(),
        ],
  )
  return [secret, ...parts]
}

/** A part of an address as it stands there and as a server gets it. */
function asTyped(part: string): readonly string[] {
  try {
    return [part, decodeURIComponent(part)]
  } catch {
    return [part]
  }
}

/**
 * Tells whether an address may carry a key. For another machine, everything but the scheme and a host of plain words counts as a key. That may be a
 * path of any length, a query or a name; for a database only a password. No provider runs on this machine, so there the short parts of a path count as plain words.
 */
export function mayHoldKey(text: string): boolean {
  return urlsOf(text).some(holdsKey)
}

function holdsKey(url: URL): boolean {
  if (databases.includes(url.protocol)) return partsOf(url.href).slice(1).some(Boolean)
  if (isLoopback(url.hostname))
    return partsOf(url.href).some((part, at) => at > 0 && part.length >= MIN_KNOWN)
  const { username, password, pathname, search, hash } = url
  const isBare = username + password + search + hash === '' && pathname.length <= 1
  return !isBare || keysInHost(url.hostname).length > 0
}

/** A cleaner of texts and values; `secrets` are known secret values, hidden wherever they or their parts occur. */
export function createRedactor(secrets: readonly Secret[] = []): {
  /** The text with secrets hidden. */
  text(value: string): string
  /** A copy of the value with secrets hidden, bigints as decimal text, ready for JSON. */
  value(value: unknown): unknown
} {
  const known = [...new Set(secrets.flatMap((secret) => partsOf(secret.reveal())))]
    .filter((part) => part.length >= MIN_KNOWN)
    .sort((one, other) => other.length - one.length)
  const text = (value: string): string => {
    let clean = value.replace(signature, HIDDEN).replace(credentials, `$1${HIDDEN}@`)
    for (const secret of known) clean = clean.replaceAll(secret, HIDDEN)
    return clean
  }
  const copy = (value: unknown): unknown => {
    if (typeof value === 'string') return text(value)
    if (typeof value === 'bigint') return value.toString()
    if (Array.isArray(value)) return value.map(copy)
    if (value instanceof Secret) return HIDDEN
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [name, secretField.test(name) ? HIDDEN : copy(inner)]),
    )
  }
  return { text, value: copy }
}
