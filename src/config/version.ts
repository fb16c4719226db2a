/** The version of this perpd, from its package. */
import { readFileSync } from 'node:fs'

const manifest: { readonly version: string } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
)

/** `0.1.0`. */
export const { version } = manifest
