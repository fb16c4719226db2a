/** What `perpd limits` says of a configuration that changed besides its limits. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadConfig } from '../../src/config/loadConfig.ts'
import { waitingSettings } from '../../src/daemon/waitingSettings.ts'

test('settings that changed are named without their values; limits, levels of the log and what is the same are not', () => {
  const cwd = mkdtempSync(join(tmpdir(), 'perpd-waiting-'))
  const read = (...argv: string[]) => loadConfig({ argv, env: {}, cwd }).values
  try {
    const running = read('--rpc.http=http://127.0.0.1:1/first-key')
    expect(waitingSettings(running, read('--rpc.http=http://127.0.0.1:1/first-key'))).toEqual([])
    const next = read(
      '--rpc.http=http://127.0.0.1:1/other-key',
      '--log.format=json',
      '--log.level=debug',
      '--risk.maxOrderSizeUsd=70',
    )
    expect(waitingSettings(running, next)).toEqual(['rpc.http', 'log.format'])
  } finally {
    rmSync(cwd, { recursive: true })
  }
})
