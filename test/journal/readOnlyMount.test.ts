/** A journal on a file system that is mounted read-only has words of its own, and one of another user keeps its own. */
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Secret } from '../../src/base/secret.ts'
import { openFault } from '../../src/journal/journalFaults.ts'
import { createPrivateFile } from '../../src/keys/privateFile.ts'

const refusedWith = (code: string) =>
  Object.assign(new Error(`${code}: the system says no`), { code, syscall: 'open' })

test('a journal that the mount keeps from being written names the mount, and one that its owner keeps names the owner', () => {
  const path = join(tmpdir(), 'perpd.db')
  expect(openFault(path, refusedWith('EROFS'))).toMatchObject({
    code: 'JOURNAL_READ_ONLY',
    details: expect.stringContaining('ReadWritePaths='),
  })
  for (const code of ['EACCES', 'EPERM'])
    expect(openFault(path, refusedWith(code))).toMatchObject({
      code: 'JOURNAL_NOT_PERMITTED',
      details: expect.stringContaining('0700'),
    })
})

test('a token that cannot be made for another reason than the mount is told as before', () => {
  expect(() => createPrivateFile('/dev/null/token', new Secret('x'), 'control.tokenFile')).toThrow(
    expect.objectContaining({ code: 'KEY_FILE_NOT_MADE', details: expect.stringContaining('permissions') }),
  )
})
