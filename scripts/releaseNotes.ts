/**
 * Prints the part of CHANGELOG.md about one version, as a release's notes: `npm run -s release:notes -- 0.2.0`. Without a version
 * it prints the newest.
 */
import { readFileSync } from 'node:fs'

/**
 * The entries of one version, without its heading.
 *
 * @param version as its heading has it; a date or a title may follow there; the newest one when absent
 * @throws Error when there is no such heading, or nothing under it
 */
export function releaseNotes(changelog: string, version?: string): string {
  const [, ...parts] = changelog.split(/^## /m)
  const versionOf = (text: string) => text.split(/[\s:]/, 1)[0]
  const part = version === undefined ? parts[0] : parts.find((text) => versionOf(text) === version)
  if (part === undefined) {
    const known = parts.map(versionOf).join(', ')
    throw new Error(`CHANGELOG.md has no heading "## ${version}". It has: ${known}.`)
  }
  const notes = part.slice(part.indexOf('\n')).trim()
  if (notes === '') throw new Error(`CHANGELOG.md says nothing under "## ${version}".`)
  return notes
}

if (import.meta.main) {
  const changelog = readFileSync(new URL('../CHANGELOG.md', import.meta.url), 'utf8')
  try {
    process.stdout.write(`${releaseNotes(changelog, process.argv[2])}\n`)
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`)
    process.exitCode = 1
  }
}
