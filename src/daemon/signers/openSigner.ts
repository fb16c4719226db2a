/**
 * Which key signs. Paper makes its own and takes no other. Live takes one of: an encrypted keystore, a remote signer, or,
 * when the operator accepts it for the account, a bare key from a file or from PERPD_PRIVATE_KEY.
 */
import { createNodeFetch } from '../../api/transport/nodeFetch.ts'
import { BaseError } from '../../base/errors.ts'
import { isThere } from '../../base/isThere.ts'
import { Secret } from '../../base/secret.ts'
import type { Config } from '../../config/configTypes.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import { startProblems } from '../../config/judge.ts'
import { privateKeyVariable } from '../../config/privateKeyVariable.ts'
import type { Signer } from '../../domain/signer.ts'
import { decryptKeystore, type Keystore, parseKeystore } from '../../keys/keystore.ts'
import { createLocalSigner, paperSigner, privateKeyOf, readKeyFile, readPaperKey } from '../../keys/local.ts'
import { passwordSourceText, readPassword } from '../../keys/password.ts'
import { KeyFileError, readPrivateFile, readSecretFile } from '../../keys/privateFile.ts'
import { connectRemoteSigner } from '../../keys/remote.ts'
import { type Hex, sameHex, shortHex } from '../../protocol/address.ts'
import { type KeySources, passwordSources } from './keySources.ts'
import { paperOwnerProblem } from './paperOwner.ts'

/** Largest answer of a remote signer, bytes. */
const MAX_ANSWER_BYTES = 65_536

/** A signer that must be closed, and what the operator has to know of its key. */
export interface OpenedSigner {
  readonly signer: Signer
  /** One sentence when the key is kept in a way that is for development only. */
  readonly warning: string | undefined
  /** Closes connections to a remote signer. */
  close(): void
}

/**
 * The signer of the configured account. In the paper profile the key is made when there is none yet; a keystore may ask
 * for its password at the terminal; a remote signer is asked for its accounts.
 *
 * @throws CommandError with exit code 4 when the configuration names no key, more than one, a bare one that is not accepted,
 * or one of another address; KeyFileError, KeystoreError, PasswordError or RemoteSignerError when it cannot be used.
 */
export async function openSigner(config: Config, keys: KeySources): Promise<OpenedSigner> {
  const [found] = startProblems(config, keys.privateKey !== undefined)
  const problem = found ?? paperOwnerProblem(config)
  if (problem !== undefined) throw configurationError(problem)
  const { account } = config
  const signer = config.isPaper ? opened(paperSigner(config.paper.keyFile)) : await liveSigner(config, keys)
  if (account.address !== undefined && !sameHex(account.address, signer.signer.address)) {
    signer.close()
    throw configurationError(
      `account.address is ${account.address}, but the key is that of ${signer.signer.address}`,
    )
  }
  return signer
}

async function liveSigner(config: Config, keys: KeySources): Promise<OpenedSigner> {
  const { account } = config
  if (account.remoteSigner !== undefined && account.address !== undefined) {
    const { fetch, close } = createNodeFetch({ maxBodyBytes: MAX_ANSWER_BYTES })
    try {
      const signer = await connectRemoteSigner({
        url: account.remoteSigner,
        address: account.address,
        token: tokenOf(account.remoteSignerTokenFile),
        timeoutMs: account.remoteSignerTimeoutMs,
        fetch,
      })
      return { signer, warning: undefined, close }
    } catch (error) {
      close()
      throw error
    }
  }
  if (account.keystore !== undefined) {
    const keystore = readKeystore(account.keystore, 'account.keystore')
    const of = keystore.address === undefined ? account.keystore : shortHex(keystore.address)
    const password = await readPassword(
      passwordSources(keys, account.passwordFd, config.accountName),
      `Password of the key ${of}: `,
    )
    return opened(createLocalSigner(await decryptKeystore(keystore, password)))
  }
  if (keys.privateKey !== undefined) {
    return opened(createLocalSigner(variableKey(keys.privateKey)), rawWarning(privateKeyVariable))
  }
  return opened(createLocalSigner(readKeyFile(account.keyFile ?? '')), rawWarning('account.keyFile'))
}

function opened(signer: Signer, warning?: string): OpenedSigner {
  return { signer, warning, close() {} }
}

function rawWarning(source: string): string {
  return `BARE KEY: ${source} holds the key without a password, which is for development. Anyone who reads it controls the account. Encrypt it: perpd keys import`
}

/**
 * Reads a keystore without opening it.
 *
 * @param setting the setting or flag that names it.
 * @throws KeyFileError or KeystoreError when it cannot be used.
 */
export function readKeystore(path: string, setting: string): Keystore {
  return parseKeystore(readPrivateFile(path, { setting, checksFolder: true }), path)
}

/** The token of a remote signer. Throws KeyFileError when its file cannot be used; undefined without one. */
function tokenOf(path: string | undefined): Secret | undefined {
  if (path === undefined) return undefined
  const rules = { setting: 'account.remoteSignerTokenFile', checksFolder: true }
  const token = readSecretFile(path, rules).reveal().trim()
  // A header carries these characters alone; any others mean a wrong file.
  if (/^[\x21-\x7e]+$/.test(token)) return new Secret(token)
  throw new KeyFileError('The file holds no token.', {
    code: 'KEY_FILE_CONTENT',
    facts: { path, expected: 'one word of printable ASCII' },
    details: 'perpd did not start. Name the file of the token in account.remoteSignerTokenFile.',
  })
}

function variableKey(text: Secret): Secret {
  const key = privateKeyOf(text)
  if (key !== undefined) return key
  throw configurationError(`${privateKeyVariable} holds no private key: 0x and 64 hex digits are expected`)
}

function configurationError(problem: string): CommandError {
  return new CommandError(
    `${problem}\n  Nothing was started. Paper needs no key: npm start`,
    exitCodes.configuration,
  )
}

/** State of a configuration's key, as far as it shows without opening the key. */
export interface SignerReport {
  /** Where the key is and what opens it, for people. */
  readonly source: string
  /** Obstacles that would keep `openSigner` from giving a signer; empty when none show. */
  readonly problems: readonly string[]
  readonly warnings: readonly string[]
}

/** Looks at the configured key without making one, opening one, asking for a password or using the network. */
export function reportSigner(config: Config, keys: KeySources): SignerReport {
  const problems = startProblems(config, keys.privateKey !== undefined)
  if (problems.length > 0) return { source: 'none that can be used', problems, warnings: [] }
  try {
    return lookAtSigner(config, keys)
  } catch (error) {
    if (!(error instanceof BaseError) && !(error instanceof CommandError)) throw error
    return { source: 'none that can be used', problems: [error.message], warnings: [] }
  }
}

function lookAtSigner(config: Config, keys: KeySources): SignerReport {
  const { account, paper } = config
  if (config.isPaper) {
    if (isThere(paper.keyFile)) readPaperKey(paper.keyFile)
    const problem = paperOwnerProblem(config)
    const problems = problem === undefined ? [] : [problem]
    return { source: `${paper.keyFile}, made for paper alone`, problems, warnings: [] }
  }
  if (account.remoteSigner !== undefined) {
    tokenOf(account.remoteSignerTokenFile)
    return {
      source: `the remote signer ${account.remoteSigner}, for ${account.address}`,
      problems: [],
      warnings: [],
    }
  }
  if (account.keystore !== undefined) {
    const { address } = readKeystore(account.keystore, 'account.keystore')
    const says = address === undefined ? '' : ` of ${address}`
    const isOther =
      address !== undefined && account.address !== undefined && !sameHex(address, account.address)
    const opens = passwordSourceText(passwordSources(keys, account.passwordFd, config.accountName))
    return {
      source: `the keystore ${account.keystore}${says}, opened by ${opens ?? 'a password'}`,
      problems: isOther
        ? [`account.address is ${account.address}, but the keystore is that of ${address}`]
        : [],
      warnings:
        opens === undefined
          ? [
              'no source of the password is visible here: set account.passwordFd, the systemd credential, or use a terminal',
            ]
          : [],
    }
  }
  const [source, key] =
    keys.privateKey === undefined
      ? ['account.keyFile', readKeyFile(account.keyFile ?? '')]
      : [privateKeyVariable, variableKey(keys.privateKey)]
  const { address } = createLocalSigner(key.reveal() as Hex)
  const isOther = account.address !== undefined && !sameHex(address, account.address)
  return {
    source: `the bare key of ${address} in ${source}`,
    problems: isOther ? [`account.address is ${account.address}, but the key is that of ${address}`] : [],
    warnings: [rawWarning(source)],
  }
}
