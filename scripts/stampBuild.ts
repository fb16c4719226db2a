/** Writes the commit that is built into `dist/build.json`, for `perpd version --json`; nothing where there is no checkout. */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'

try {
  const commit = execFileSync('git', ['rev-parse', 'HEAD'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  writeFileSync('dist/build.json', `${JSON.stringify({ commit: commit.trim() })}\n`)
} catch {
  process.stderr.write('No commit is known: perpd version --json of this build says null.\n')
}
