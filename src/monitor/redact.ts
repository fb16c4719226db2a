/** Keeps secrets out of everything that is written: by shape, by field name, and by value for known ones. */

/** What stands where a secret was. */
export const HIDDEN = '[hidden]'

/** A URL without what may be secret: credentials, path and query. Text that is no URL is hidden whole. */
export function redactUrl(text: string): string {
  const url = URL.parse(text)
  if (url === null || url.host === '') return HIDDEN
  const bare = url.username === '' && url.password === '' && url.search === '' && url.pathname.length <= 1
  return bare ? url.origin : `${url.origin}/${HIDDEN}`
}

// A 65-byte signature; a digest is 32 bytes and may be shown.
const signature = /0x[0-9a-fA-F]{130}\b/g
const credentials = /\b([a-z][a-z0-9+.-]*:\/\/)[^\s/@:]+(?::[^\s/@]*)?@/gi
const secretField = /^(?:signature|private_?key|secret|password|passphrase|mnemonic|authorization|token)$/i

/** A cleaner of texts and values; `secrets` are known secret values, hidden wherever they occur. */
export function createRedactor(secrets: readonly string[] = []): {
  /** The text with secrets hidden. */
  text(value: string): string
  /** A copy of the value with secrets hidden, bigints as decimal text, ready for JSON. */
  value(value: unknown): unknown
} {
  const known = secrets.filter((secret) => secret.length >= 6)
  const text = (value: string): string => {
    let clean = value.replace(signature, HIDDEN).replace(credentials, `$1${HIDDEN}@`)
    for (const secret of known) clean = clean.replaceAll(secret, HIDDEN)
    return clean
  }
  const copy = (value: unknown): unknown => {
    if (typeof value === 'string') return text(value)
    if (typeof value === 'bigint') return value.toString()
    if (Array.isArray(value)) return value.map(copy)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [name, secretField.test(name) ? HIDDEN : copy(inner)]),
    )
  }
  return { text, value: copy }
}
