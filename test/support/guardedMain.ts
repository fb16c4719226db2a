/**
 * `perpd` as tests start it: the real command line, which ends with exit code 99 when it reaches for what is a user's own.
 * TEST_CLOCK_SHIFT_MS moves the wall clock of the process, so that no test depends on the hour. TEST_CLOCK_SHIFT_FILE names a file
 * with as many milliseconds more, which may grow while the process runs: what has an age grows older with it. TEST_PROGRAM names the bundle
 * of the source that is run (bundleProgram.ts); without it the source itself is.
 */
import { readFileSync, writeSync } from 'node:fs'
import { guardUsersOwn } from './usersOwn.ts'

/** How a process ends that reached for what is a user's own. */
const reachedCode = 99

const shiftMs = Number(process.env.TEST_CLOCK_SHIFT_MS ?? '0')
const shiftFile = process.env.TEST_CLOCK_SHIFT_FILE ?? ''
if (shiftMs !== 0 || shiftFile !== '') {
  let moreMs = 0
  if (shiftFile !== '') {
    const read = (): void => {
      moreMs = Number(readFileSync(shiftFile, 'utf8'))
    }
    read()
    setInterval(read, 20).unref()
  }
  const RealDate = Date
  const now = () => RealDate.now() + shiftMs + moreMs
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, args) => Reflect.construct(target, args.length === 0 ? [now()] : args),
    get: (target, name, receiver) => (name === 'now' ? now : Reflect.get(target, name, receiver)),
  })
}

guardUsersOwn((what) => {
  writeSync(2, `a test's perpd ${what}\n`)
  process.exit(reachedCode)
})
const program = process.env.TEST_PROGRAM || '../../src/cli/main.ts'
const { runProcess }: typeof import('../../src/cli/main.ts') = await import(program)
await runProcess()
