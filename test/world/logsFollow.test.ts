/** `perpd logs --follow` beside a real daemon: it prints each line once as it is written, and ends when the daemon has ended. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folderEach } from './folderEach.ts'
import { perpd, until, writeOnceStrategy } from './processes.ts'

const folder = folderEach(writeOnceStrategy)

const inFolder = (...words: string[]) => perpd(words, { cwd: folder.path, env: { COLUMNS: '80' } })

test('what the daemon writes while it is followed is printed once, in order, and its end ends the command with 3', {
  timeout: 180_000,
}, async () => {
  const flags = ['--control.port=0', `--strategies.paths=${join(folder.path, 'once.yaml')}`]
  const daemon = inFolder('run', '--log.format=json', ...flags)
  await until('its order is executed', () => daemon.said().includes('"state_to":"executed"') || undefined, {
    seen: daemon.said,
  })
  const followed = inFolder('logs', '--follow', '--json')
  const lines = () =>
    followed
      .stdout()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as { seq: number; text: string })
  await until(
    'what was written before is printed',
    () => lines().some(({ text }) => text.includes('ready: ')) || undefined,
    {
      seen: followed.said,
    },
  )
  expect(lines().some(({ text }) => text.includes('is halted'))).toBe(false)
  const halted = inFolder('trading', 'halted', '--reason', 'the test says so')
  expect(await halted.ended, halted.said()).toBe(0)
  await until(
    'the new line is printed',
    () => lines().some(({ text }) => text.includes('the test says so')) || undefined,
    {
      seen: followed.said,
    },
  )
  const numbers = lines().map(({ seq }) => seq)
  expect(numbers).toEqual([...new Set(numbers)].toSorted((one, other) => one - other))
  const shown = async (...words: string[]) => {
    const asked = inFolder('logs', '--json', ...words)
    return { code: await asked.ended, out: asked.stdout(), err: asked.stderr() }
  }
  const ofOne = await shown('--strategy', 'once')
  const about = ofOne.out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { strategy?: string; intentId?: string })
  expect(new Set(about.map(({ strategy }) => strategy))).toEqual(new Set(['once']))
  const intentId = about.find((each) => each.intentId !== undefined)?.intentId ?? ''
  const ofOrder = await shown('--order', intentId.slice(0, 10), '--level', 'debug')
  expect(ofOrder.out).toContain(intentId)
  expect(ofOrder.out).not.toContain('the test says so')
  expect(await shown('--strategy', 'onec')).toMatchObject({
    code: 2,
    err: expect.stringMatching(/Did you mean\sonce\?/),
  })
  expect(await shown('--order', 'ffffffffffff')).toMatchObject({ code: 2 })
  expect(await shown('--order', 'x y')).toMatchObject({ code: 1 })
  daemon.child.kill('SIGTERM')
  expect(await daemon.ended, daemon.said()).toBe(0)
  expect(await followed.ended, followed.said()).toBe(3)
  expect(followed.stderr()).toContain('No perpd')
})
