/**
 * Prints what CHANGELOG.md says of one version, as a release's notes: `npm run -s release:notes -- 0.2.0`. Without a version it is
 * what is not released yet.
 */
import { readFileSync } from 'node:fs'

/**
 * The entries of one version, without its heading.
 *
 * @param version as its heading has it; a date may follow there
 * @throws Error when there is no such heading, or nothing under it
 */
export function releaseNotes(changelog: string, version: string): string {
  const [, ...parts] = changelog.split(/^## /m)
  const part = parts.find((text) => text.split(/[\s\n]/, 1)[0] === version)
  if (part === undefined) {
    const known = parts.map((text) => text.split(/[\s\n]/, 1)[0]).join(', ')
    throw new Error(`CHANGELOG.md has no heading "## ${version}". It has: ${known}.`)
  }
  const notes = part.slice(part.indexOf('\n')).trim()
  if (notes === '') throw new Error(`CHANGELOG.md says nothing under "## ${version}".`)
  return notes
}

if (import.meta.main) {
  const changelog = readFileSync(new URL('../CHANGELOG.md', import.meta.url), 'utf8')
  try {
    process.stdout.write(`${releaseNotes(changelog, process.argv[2] ?? 'Unreleased')}\n`)
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`)
    process.exitCode = 1
  }
}
