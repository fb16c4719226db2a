/** Accounts of one process whose keys are the same, which only their opening shows: nothing starts. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { exitCodes } from '../../src/config/exit.ts'
import { accountIn, loadConfig } from '../../src/config/loadConfig.ts'
import { type KeyedAccount, refuseSharedKeys } from '../../src/daemon/desk/openAccount.ts'
import { paperSigner } from '../../src/keys/local.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'perpd-shared-keys-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

/** Opens the key of a file as an account's, which trades for an owner where one is given. */
function keyed(name: string, file: string, owner?: KeyedAccount['address']): KeyedAccount {
  const { config } = accountIn(
    loadConfig({ argv: [`--accounts.${name}.risk.maxOrderSizeUsd=100`], env: {}, cwd: folder }),
    name,
  )
  const { signer } = { signer: paperSigner(join(folder, file)) }
  return { start: { name, config }, signer, address: owner ?? signer.address } as unknown as KeyedAccount
}

const refused = (accounts: readonly KeyedAccount[]): unknown => {
  try {
    refuseSharedKeys(accounts)
    return undefined
  } catch (error) {
    return error
  }
}

test('two files with one key are refused with both accounts and the address, whatever the files are called', () => {
  const alpha = keyed('alpha', 'alpha.key')
  cpSync(join(folder, 'alpha.key'), join(folder, 'beta.key'))
  const error = refused([alpha, keyed('gamma', 'gamma.key'), keyed('beta', 'beta.key')])
  expect(error).toMatchObject({ exitCode: exitCodes.configuration })
  expect(String(error)).toContain('alpha and beta')
  expect(String(error)).toContain(alpha.signer.address.toLowerCase())
  expect(String(error)).not.toContain('gamma')
})

test("a delegated key for the account of another's own key is refused: both would trade for one address", () => {
  const alpha = keyed('alpha', 'alpha.key')
  const error = refused([alpha, keyed('beta', 'beta.key', alpha.signer.address)])
  expect(error).toMatchObject({ exitCode: exitCodes.configuration })
  expect(String(error)).toContain('alpha and beta')
})

test('accounts with a key each are not refused', () => {
  expect(refused([keyed('alpha', 'alpha.key'), keyed('beta', 'beta.key')])).toBeUndefined()
})
