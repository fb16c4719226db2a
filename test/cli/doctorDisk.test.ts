/** A journal on a disk that anybody can fill is told of; one on a disk of its own is not. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { sharedDisk } from '../../src/cli/doctor/machineChecks.ts'

test('a folder that anybody may write on the disk of the journal is a warning; one for its owner alone, or on another disk, is none', () => {
  const folder = mkdtempSync(join(tmpdir(), 'perpd-shared-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const open = join(folder, 'open')
  mkdirSync(open)
  chmodSync(open, 0o1777)
  expect(sharedDisk(folder, [open])).toMatchObject([{ check: 'disk', level: 'warn' }])
  expect(sharedDisk(folder, [folder, join(folder, 'none'), '/proc'])).toEqual([])
})
