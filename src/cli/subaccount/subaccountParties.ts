/** Parties of an approval and of its end: the owner, the delegated key, and the venue. */
import { existsSync, readdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { type Api, createApi } from '../../api/client.ts'
import { createNodeFetch } from '../../api/transport/nodeFetch.ts'
import { BaseError } from '../../base/errors.ts'
import { systemClock } from '../../base/systemClock.ts'
import type { Config } from '../../config/configTypes.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import type { LoadedConfig } from '../../config/loadConfig.ts'
import type { StatusBody } from '../../control/routes.ts'
import { passwordSources } from '../../daemon/signers/keySources.ts'
import { readKeystore } from '../../daemon/signers/openSigner.ts'
import { paperOwnerProblem } from '../../daemon/signers/paperOwner.ts'
import { readApprovalFile } from '../../daemon/signers/subaccountFile.ts'
import type { Signer } from '../../domain/signer.ts'
import { decryptKeystore } from '../../keys/keystore.ts'
import { createLocalSigner, readPaperKey } from '../../keys/local.ts'
import { readPassword } from '../../keys/password.ts'
import { createLog } from '../../monitor/log/log.ts'
import { type Address, sameHex } from '../../protocol/address.ts'
import type { Chain } from '../../protocol/chains/index.ts'
import type { Call } from '../call/command.ts'
import { queryStatus } from '../call/daemonClient.ts'

/** The owner's key: on paper one that perpd makes; else a keystore that was named, opened for one signature. Throws CommandError. */
export async function ownerKey(call: Call): Promise<Signer> {
  const { flags, keys, loaded } = call
  const { config } = loaded
  const path = fileFlag(call, 'owner-keystore')
  if (config.isPaper) {
    if (path === undefined && existsSync(config.paper.ownerKeyFile))
      return readPaperKey(config.paper.ownerKeyFile)
    if (path === undefined) throw noPaperOwner(config)
    throw new CommandError(
      'The paper profile signs only with keys that it made, because a signature made on paper is valid on the live chain.',
      exitCodes.configuration,
    )
  }
  if (path === undefined) {
    throw new CommandError(
      "Who signs? Name the owner's keystore with --owner-keystore FILE, or sign elsewhere: --out FILE, then --request FILE --signature FILE.",
      exitCodes.configuration,
    )
  }
  const fd = flags.get('password-fd')
  const sources = passwordSources(keys, fd === undefined ? undefined : Number(fd))
  const password = await readPassword(sources, "Password of the owner's key: ")
  return createLocalSigner(await decryptKeystore(readKeystore(path, '--owner-keystore'), password))
}

/** No owner is made where one is asked for: an account that nobody has used would be approved for, and nothing traded. */
function noPaperOwner({ account, paper, venue }: Config): CommandError {
  const approved = approvedKeys(paper.keyFile, account.approvalFile, venue.chain)
  const next =
    approved === undefined
      ? 'Make a delegated key first: perpd subaccount create. It names the next command'
      : `${account.approvalFile} is for other keys: name them, ${approved}`
  return new CommandError(
    `There is no owner's key in ${paper.ownerKeyFile}: ${paper.keyFile} is the account's own key, which needs no approval. Nothing was done.\n  ${next}`,
    exitCodes.configuration,
  )
}

/**
 * The flags that name the keys, of those that perpd made for paper beside `keyFile`, which an approval is of and for; undefined where
 * there is no approval, or not of two of them.
 */
export function approvedKeys(keyFile: string, approvalFile: string, chain: Chain): string | undefined {
  const found = paperKeys(keyFile)
  for (const owner of found) {
    for (const key of found) {
      try {
        if (readApprovalFile(approvalFile, chain, owner.address, key.address) === undefined) return undefined
        return `--paper.keyFile ${key.path} --paper.ownerKeyFile ${owner.path}`
      } catch (error) {
        if (!(error instanceof BaseError)) throw error
      }
    }
  }
  return undefined
}

/** The keys that perpd made for paper beside `keyFile`, by name; what is no such key is left out. */
export function paperKeys(keyFile: string): readonly { readonly path: string; readonly address: Address }[] {
  const folder = dirname(keyFile)
  const names = existsSync(folder)
    ? readdirSync(folder)
        .filter((name) => name.endsWith('.key'))
        .sort()
    : []
  return names.flatMap((name) => {
    const path = join(folder, name)
    try {
      return [{ path, address: readPaperKey(path).address }]
    } catch (error) {
      if (error instanceof BaseError) return []
      throw error
    }
  })
}

/** Whose account it is: the configured owner, that of `key`, or on paper that of the owner's key there. Throws CommandError. */
export function ownerOf(config: Config, key: Address | undefined): Address {
  const { account, isPaper, paper } = config
  const problem = paperOwnerProblem(config)
  if (problem !== undefined)
    throw new CommandError(`${problem}\n  Nothing was done.`, exitCodes.configuration)
  const owner =
    account.owner ??
    key ??
    (isPaper && existsSync(paper.ownerKeyFile) ? readPaperKey(paper.ownerKeyFile).address : undefined)
  if (owner === undefined && isPaper) throw noPaperOwner(config)
  if (owner === undefined)
    throw new CommandError('Whose account? Set account.owner to its address.', exitCodes.configuration)
  if (key !== undefined && !sameHex(owner, key)) {
    throw new CommandError(
      `account.owner is ${owner}, but the owner's key belongs to ${key}`,
      exitCodes.configuration,
    )
  }
  return owner
}

/** The delegated key's address, without opening it. Throws CommandError. */
export function delegatedOf(config: Config, flags: Call['flags']): Address {
  const named = flags.get('subaccount')
  if (typeof named === 'string' && /^0x[0-9a-f]{40}$/i.test(named)) return named as Address
  if (named !== undefined) throw new CommandError('--subaccount needs an address.', exitCodes.error)
  if (config.isPaper) {
    const { keyFile } = config.paper
    if (existsSync(keyFile)) return readPaperKey(keyFile).address
    throw new CommandError(
      `There is no key in ${keyFile} yet. Make one: perpd subaccount create. It names the next command`,
      exitCodes.configuration,
    )
  }
  const { address, keystore } = config.account
  const found =
    address ?? (keystore === undefined ? undefined : readKeystore(keystore, 'account.keystore').address)
  if (found !== undefined) return found
  throw new CommandError(
    'Which key? Name its address with --subaccount ADDRESS, or configure account.keystore.',
    exitCodes.configuration,
  )
}

/**
 * Clients of the hosts, for as long as `use` takes: those of the configuration, or of the paper venue that is embedded: in the
 * running daemon, and where none runs in this process.
 *
 * @throws CommandError when the running daemon trades another chain, or its venue's world is another perpd's
 */
export async function withApi<T>({ loaded, err }: Call, use: (api: Api) => Promise<T>): Promise<T> {
  const { config } = loaded
  const { chain } = config.venue
  const { hosts, close: closeVenue } = config.embedsVenue
    ? ((await venueOfDaemon(loaded)) ?? (await venueOfOurOwn(config, err)))
    : { hosts: { api: config.venue.apiHosts, oracle: config.venue.oracleHosts }, close: undefined }
  const { fetch, close } = createNodeFetch()
  try {
    return await use(
      createApi({ chain, hosts, fetch, clock: systemClock, random: Math.random, limits: config.api }),
    )
  } finally {
    close()
    await closeVenue?.()
  }
}

/** Hosts of a venue, and what ends it where it is ours. */
interface OpenVenue {
  readonly hosts: { readonly api: readonly string[]; readonly oracle: readonly string[] }
  readonly close?: () => Promise<void>
}

/** The paper venue inside the running daemon; undefined when none runs. */
async function venueOfDaemon(loaded: LoadedConfig): Promise<OpenVenue | undefined> {
  let status: StatusBody
  try {
    status = await queryStatus(loaded)
  } catch (error) {
    if (error instanceof CommandError && error.exitCode === exitCodes.notRunning) return undefined
    throw error
  }
  const { name } = loaded.config.venue.chain
  if (status.chain === name) return { hosts: { api: status.apiHosts, oracle: status.oracleHosts } }
  throw new CommandError(
    `The perpd that runs here trades on ${status.chain}, and this command is for ${name}. Nothing was done.\n  Leave out --venue.chain, or stop that perpd first.`,
    exitCodes.configuration,
  )
}

/** The paper venue as the daemon would start it, inside this process. */
async function venueOfOurOwn(config: Config, err: Call['err']): Promise<OpenVenue> {
  const { startVenue } = await import('../../daemon/embeddedVenue.ts')
  const stream = { write: (text: string) => err(text.trimEnd()) }
  const log = createLog({ level: 'error', format: 'pretty', stream, color: false })
  return await startVenue({ ...config, paper: { ...config.paper, port: 0 } }, log)
}

/** A flag's file, from the folder that the command was given in; undefined when it was not given. */
export function fileFlag({ flags, cwd }: Call, name: string): string | undefined {
  const value = flags.get(name)
  return typeof value === 'string' ? resolve(cwd, value) : undefined
}
