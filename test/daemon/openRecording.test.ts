/** The recording beside a daemon: what is decided is kept, what cannot be written ends the recording alone. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { loadConfig } from '../../src/config/loadConfig.ts'
import { openRecording } from '../../src/daemon/ownFiles/openRecording.ts'
import type { Event } from '../../src/domain/event.ts'
import { readRecording } from '../../src/history/recording.ts'
import type { Log } from '../../src/monitor/log/log.ts'

let cwd: string
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'perpd-recorded-'))
  return () => rmSync(cwd, { recursive: true, force: true })
})

/** A daemon whose hosts answer nothing. */
function opened() {
  const { config } = loadConfig({ argv: [], env: {}, cwd })
  const notes: string[] = []
  const log = { note: (name: string) => void notes.push(name) } as unknown as Log
  return {
    notes,
    recording: openRecording(config, { api: ['http://127.0.0.1:9/v1'], oracle: ['http://127.0.0.1:9'] }, log),
  }
}

const decided = {
  type: 'decision.made',
  strategy: 'eth-trend',
  decisionKey: 'k',
  symbol: 'ETH/USD [WETH-USDC]',
  decision: { kind: 'increase', sizeDeltaUsd: 5n },
} as unknown as Event
const heard = { type: 'host.attempt' } as unknown as Event

test('decisions and what became of them are recorded, also where no host answers; other events are not', async () => {
  const { recording } = opened()
  recording.listen(decided)
  recording.listen(heard)
  await recording.close()
  recording.listen(decided)
  const folder = join(cwd, 'var', 'history', 'recorded')
  const [file = ''] = readdirSync(folder)
  expect(await Array.fromAsync(readRecording(join(folder, file)))).toMatchObject([
    { event: { type: 'decision.made', decision: { sizeDeltaUsd: '5' } } },
  ])
})

test('a folder that takes nothing ends the recording, once, and nothing is thrown into the daemon', async () => {
  mkdirSync(join(cwd, 'var'))
  writeFileSync(join(cwd, 'var', 'history'), 'a file')
  const { recording, notes } = opened()
  recording.listen(decided)
  recording.listen(decided)
  await recording.close()
  expect(notes.filter((name) => name === 'recording.failed')).toEqual(['recording.failed'])
})
