/**
 * From nothing to a first fill on paper: the minute that README and docs/releasing.md promise. It runs with no other test beside it
 * (vitest.config.ts), and a machine that was busy with something else gets two more tries.
 */
import { execFile } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { perpd, scratch, until } from '../world/processes.ts'
import { cannotFetch, npm, npmEnv, packInto } from './packed.ts'

const run = promisify(execFile)
const folder = scratch()
let tarball = ''
let tries = 0

beforeAll(async () => {
  tarball = await packInto(folder.path)
}, 600_000)

afterAll(() => folder.remove(), 600_000)

test('installed for all of a machine, perpd init and perpd run come to a first fill on paper in under a minute', {
  timeout: 60_000,
  retry: 2,
}, async (context) => {
  tries += 1
  const prefix = join(folder.path, `prefix-${tries}`)
  const home = join(folder.path, `empty-${tries}`)
  mkdirSync(home)
  try {
    await npm(['install', '-g', '--prefix', prefix, '--prefer-offline', '--fetch-retries=0', tarball], home)
  } catch (error) {
    if (!cannotFetch.test(String((error as { stderr?: unknown }).stderr))) throw error
    process.stderr.write('npm reaches no registry and has no cache: the package is not installed for all.\n')
    context.skip()
  }
  const program = join(prefix, 'bin', 'perpd')
  const init = await run(program, ['init', '--yes'], { cwd: home, env: npmEnv })
  expect(init.stdout.trim().split('\n').at(-1)).toBe('Next: perpd run')
  const daemon = perpd(['run', '--control.port=0', '--log.format=json'], { program, cwd: home })
  await until('an order is filled', () => daemon.stdout().includes('"order.filled"') || undefined, {
    seen: daemon.said,
  })
  daemon.child.kill('SIGTERM')
  expect(await daemon.ended).toBe(0)
})
