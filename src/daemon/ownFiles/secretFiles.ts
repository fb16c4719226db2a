/** The files that the configuration names, or that perpd makes, which are for their owner alone. */
import { dirname } from 'node:path'
import { reasonOf } from '../../base/errors.ts'
import { isThere } from '../../base/isThere.ts'
import type { Secret } from '../../base/secret.ts'
import type { Config } from '../../config/configTypes.ts'
import type { Role } from '../../control/guard/access.ts'
import { type PrivateFileRules, readSecretFile } from '../../keys/privateFile.ts'
import { secretFields } from '../../notify/sinkSettings.ts'
import { traceHeaders } from '../logging/traceHeaders.ts'
import { readSinkSecret } from '../notices/notifySinks.ts'
import { readHeartbeatUrl } from '../notices/openHeartbeat.ts'
import { readToken, tokenFileOf } from './controlTokens.ts'
import { bodySecretFiles, signalSecretReader } from './signalSecrets.ts'

/** Where systemd puts credentials, a folder for each service. */
const credentialFolder = /^\/run\/credentials\/[^/]+$/

/** Files that the look at the signer opens, and reports itself. */
const signerSettings: readonly string[] = [
  'paper.keyFile',
  'account.keystore',
  'account.keyFile',
  'account.remoteSignerTokenFile',
]

/** The reasons of `secretFaults`, a text each, without the files that the look at the signer reports. */
export function secretProblems(config: Config, credentialsDirectory: string | undefined): readonly string[] {
  return secretFaults(config, credentialsDirectory).flatMap(({ setting, error }) =>
    signerSettings.includes(setting) ? [] : [reasonOf(error)],
  )
}

/**
 * Returns the faults of files for their owner alone: unreadable as such, with a content that a run would refuse, or missing though required. No error
 * contains their content.
 */
export function secretFaults(
  config: Config,
  credentialsDirectory: string | undefined,
): readonly { readonly setting: string; readonly path: string; readonly error: unknown }[] {
  const checksFolder = !config.isPaper
  const tokens: Secret[] = []
  let readSignal: ReturnType<typeof signalSecretReader> | undefined
  const reading: Reading = {
    rulesOf: (path) => ({
      checksFolder,
      credentialsDirectory: credentialFolder.test(dirname(path)) ? dirname(path) : credentialsDirectory,
    }),
    token: (role) => tokens.push(readToken(config, role)),
    signal: (path, setting) => {
      readSignal ??= signalSecretReader(tokens, checksFolder)
      readSignal(path, setting)
    },
  }
  // Keys and tokens may be made yet; a file for what tells people must be there.
  return [...namedFiles(config), ...bodyFiles(config)].flatMap(({ setting, path, mustExist, read }) => {
    try {
      if (mustExist !== true && !isThere(path)) return []
      // The look at the signer judges how a key is opened.
      if (read === undefined) readSecretFile(path, { setting, checksFolder })
      else read(reading)
      return []
    } catch (error) {
      return [{ setting, path, error }]
    }
  })
}

/** Opens files as a run does. */
interface Reading {
  /** Rules of a file that systemd may give. */
  readonly rulesOf: (path: string) => Omit<PrivateFileRules, 'setting' | 'what'>
  readonly token: (role: Role) => void
  readonly signal: (path: string, setting: string) => void
}

/** A file, and what a run reads it with; absent: it is a key's. */
interface NamedFile {
  readonly setting: string
  readonly path: string
  readonly mustExist?: true
  readonly read?: (reading: Reading) => void
}

/** Files that the configuration names, or that perpd makes, whose content nobody else may have. */
export function secretFiles(config: Config): readonly { readonly setting: string; readonly path: string }[] {
  return [...namedFiles(config), ...bodyFiles(config)].map(({ setting, path }) => ({ setting, path }))
}

function namedFiles(config: Config): readonly NamedFile[] {
  const { account, paper, control, notify, otel, isPaper } = config
  const keys: readonly (readonly [string, string | undefined])[] = isPaper
    ? [
        ['paper.keyFile', paper.keyFile],
        ['paper.ownerKeyFile', paper.ownerKeyFile],
      ]
    : [
        ['account.keystore', account.keystore],
        ['account.keyFile', account.keyFile],
        ['account.remoteSignerTokenFile', account.remoteSignerTokenFile],
      ]
  const roles: readonly Role[] = ['operate', 'read']
  return [
    ...keys.flatMap(([setting, path]) => (path === undefined ? [] : [{ setting, path }])),
    ...roles.map((role) => ({
      ...{ setting: 'control.tokenFile', path: tokenFileOf(config, role) },
      read: ({ token }: Reading) => token(role),
    })),
    ...fileOf('control.signalSecretFile', control.signalSecretFile, (path, setting, { signal }) =>
      signal(path, setting),
    ),
    ...mustExist(
      fileOf('notify.heartbeatUrlFile', notify.heartbeatUrlFile, (path, _setting, { rulesOf }) => {
        readHeartbeatUrl(path, rulesOf(path))
      }),
    ),
    ...mustExist(
      fileOf('otel.headersFile', otel.headersFile, (path) => {
        traceHeaders(path, !isPaper)
      }),
    ),
    ...notify.sinks.flatMap((sink) => {
      const written: Readonly<Partial<Record<string, unknown>>> = sink
      return secretFields.flatMap((field) => {
        const path = written[field]
        if (typeof path !== 'string') return []
        return mustExist(
          fileOf(`notify.sinks (${sink.name}.${field})`, path, (_path, setting, { rulesOf }) => {
            readSinkSecret(path, field, { ...rulesOf(path), setting })
          }),
        )
      })
    }),
  ]
}

/** The secrets in bodies of signals; a folder that cannot be read stands for them. */
function bodyFiles(config: Config): readonly NamedFile[] {
  try {
    return bodySecretFiles(config).map(({ path, setting }) => ({
      ...{ setting, path },
      read: ({ signal }) => signal(path, setting),
    }))
  } catch (error) {
    const read = (): never => {
      throw error
    }
    return [
      {
        setting: 'control.signalBodySecrets',
        path: config.control.signalBodySecrets ?? '',
        mustExist: true,
        read,
      },
    ]
  }
}

function fileOf(
  setting: string,
  path: string | undefined,
  read: (path: string, setting: string, reading: Reading) => void,
): readonly NamedFile[] {
  return path === undefined ? [] : [{ setting, path, read: (reading) => read(path, setting, reading) }]
}

function mustExist(files: readonly NamedFile[]): readonly NamedFile[] {
  return files.map((file) => ({ ...file, mustExist: true }))
}
