/** `perpd keys new | import | address | export`: encrypted key files, made and opened without the daemon. */
import { resolve } from 'node:path'
import { isatty } from 'node:tty'
import { Secret } from '../../base/secret.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import { passwordSources } from '../../daemon/signers/keySources.ts'
import { readKeystore } from '../../daemon/signers/openSigner.ts'
import { decryptKeystore, encryptKey } from '../../keys/keystore.ts'
import { newPrivateKey, privateKeyOf, readKeyFile } from '../../keys/local.ts'
import {
  type PasswordSources,
  readNewPassword,
  readPassword,
  secretOfDescriptor,
} from '../../keys/password.ts'
import { createPrivateFile, refuseTaken } from '../../keys/privateFile.ts'
import type { Address, Hex } from '../../protocol/address.ts'
import { addressOfKey } from '../../protocol/crypto/secp256k1.ts'
import type { Call } from '../call/command.ts'
import { wholeFlag } from '../call/numberFlags.ts'

/** Makes a new random key and writes its keystore. Prints the address. */
export async function newKey(call: Call): Promise<number> {
  const path = newFileOf(call)
  const password = await readNewPassword(passwordsOf(call))
  return await write(call, path, new Secret(newPrivateKey()), password)
}

/** Writes the keystore of a key that exists: from a file, a descriptor or the terminal. Prints the address. */
export async function importKey(call: Call): Promise<number> {
  const path = newFileOf(call)
  const key = await givenKey(call)
  const password = await readNewPassword(passwordsOf(call))
  return await write(call, path, key, password)
}

/** Prints the address of a keystore; with `--verify`, or when the file does not say, after opening it. */
export async function keyAddress(call: Call): Promise<number> {
  const keystore = readKeystore(fileOf(call), '--file')
  const address =
    keystore.address !== undefined && !call.flags.has('verify')
      ? keystore.address
      : addressOf(await decryptKeystore(keystore, await readPassword(passwordsOf(call), 'Password: ')))
  call.out(address)
  return exitCodes.ok
}

/** Prints the bare key: to a terminal, or elsewhere only when that was asked for by name. */
export async function exportKey(call: Call): Promise<number> {
  if (!isatty(1) && !call.flags.has('unsafe-stdout')) {
    throw new CommandError(
      'Standard output is not a terminal: the key would go into a file or a pipe.\n  Nothing was opened. To allow that: --unsafe-stdout',
      exitCodes.error,
    )
  }
  const keystore = readKeystore(fileOf(call), '--file')
  const key = await decryptKeystore(keystore, await readPassword(passwordsOf(call), 'Password: '))
  call.err(`The bare key of ${addressOf(key)}. Anyone who sees it controls the account.`)
  call.out(key.reveal())
  return exitCodes.ok
}

async function write(call: Call, path: string, key: Secret, password: Secret): Promise<number> {
  createPrivateFile(path, await encryptKey(key, password), '--file')
  call.out(addressOf(key))
  call.err(
    `${path} holds the encrypted key. Keep a copy of the file and of the password in another place: neither can be recovered.\nTo trade with it: --account.keystore ${path}`,
  )
  return exitCodes.ok
}

function addressOf(key: Secret): Address {
  return addressOfKey(key.reveal() as Hex)
}

function fileOf({ flags, loaded }: Call): string {
  const named = flags.get('file')
  const path = typeof named === 'string' && named !== '' ? resolve(named) : loaded.config.account.keystore
  if (path !== undefined) return path
  throw new CommandError(
    'Which keystore? Name it with --file FILE, or configure account.keystore.',
    exitCodes.configuration,
  )
}

function newFileOf(call: Call): string {
  const path = fileOf(call)
  refuseTaken(path, '--file')
  return path
}

function passwordsOf({ flags, keys, loaded }: Call): PasswordSources {
  return passwordSources(
    keys,
    descriptorOf(flags, 'password-fd') ?? loaded.config.account.passwordFd,
    loaded.config.accountName,
  )
}

function descriptorOf(flags: Call['flags'], name: string): number | undefined {
  return wholeFlag(flags, name, { least: 0, most: 9_999, unit: ', that of an open file descriptor,' })
}

async function givenKey({ flags, keys }: Call): Promise<Secret> {
  const from = flags.get('from')
  const descriptor = descriptorOf(flags, 'key-fd')
  if (typeof from === 'string') return readKeyFile(resolve(from), '--from')
  const text =
    descriptor === undefined ? await keys.ask?.('Private key (0x...): ') : secretOfDescriptor(descriptor)
  if (text === undefined) {
    throw new CommandError(
      'Which key? Name a file that holds it with --from FILE, an open descriptor with --key-fd N, or run this at a terminal.',
      exitCodes.configuration,
    )
  }
  const key = privateKeyOf(text)
  if (key !== undefined) return key
  throw new CommandError(
    'This is not a private key; expected 0x and 64 hex digits.\n  Nothing was written.',
    exitCodes.error,
  )
}
