/** What a start would take is told beside what runs, without a secret, and a configuration that cannot be used is told as that. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { loadConfig } from '../../src/config/loadConfig.ts'
import { nextStart } from '../../src/daemon/waitingSettings.ts'

let cwd: string
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'perpd-next-'))
})
afterEach(() => rmSync(cwd, { recursive: true }))

const read = (...argv: string[]) => loadConfig({ argv, env: {}, cwd })
const secret = 'first-secret-key-of-an-endpoint'

test('what changed is told with both values and what takes it over, all else with its origin, and no secret at all', () => {
  const begun = read(`--rpc.http=http://127.0.0.1:1/${secret}`)
  const same = nextStart(begun, () => begun)
  expect(same.settings.filter(({ running }) => running !== undefined)).toEqual([])
  expect(same.settings.find(({ key }) => key === 'log.level')).toEqual({
    key: 'log.level',
    value: expect.any(String),
    origin: expect.stringMatching(/^(default|profile)/),
  })
  const report = nextStart(begun, () =>
    read('--rpc.http=http://127.0.0.1:1/other-secret-key', '--log.level=debug', '--risk.maxOrderSizeUsd=70'),
  )
  const changed = report.settings.flatMap(({ key, value, origin, running }) =>
    running === undefined ? [] : [[key, value, origin, running.taken]],
  )
  expect(changed).toEqual([
    ['rpc.http', ['http://127.0.0.1:1/[hidden]'], 'flag --rpc.http', 'restart'],
    ['risk.maxOrderSizeUsd', expect.anything(), 'flag --risk.maxOrderSizeUsd', 'limits'],
    ['log.level', 'debug', 'flag --log.level', 'limits'],
  ])
  expect(JSON.stringify([report, same])).not.toContain('secret')
})

test('a configuration that cannot be used is told with its problems and with what runs; any other fault is thrown on', () => {
  const begun = read()
  const report = nextStart(begun, () => read('--log.level=loud'))
  expect(report.problems).toEqual([expect.stringContaining('log.level')])
  expect(report.settings.find(({ key }) => key === 'log.level')?.value).toBe('info')
  expect(() =>
    nextStart(begun, () => {
      throw new TypeError('a bug')
    }),
  ).toThrow('a bug')
})
