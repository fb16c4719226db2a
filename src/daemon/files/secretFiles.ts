/** The files that the configuration names, or that perpd makes, which are for their owner alone. */
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { reasonOf } from '../../base/errors.ts'
import type { Config } from '../../config/configTypes.ts'
import { readSecretFile } from '../../keys/privateFile.ts'
import { secretFields } from '../../notify/sinkSettings.ts'

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

/** Of the files for their owner alone, those that cannot be read as such, or that must be there and are not. */
export function secretFaults(
  config: Config,
  credentialsDirectory: string | undefined,
): readonly { readonly setting: string; readonly path: string; readonly error: unknown }[] {
  // Keys and tokens may be made yet, and how a key is opened is judged elsewhere; a file for what tells people must be there.
  const found = secretFiles(config).filter(
    ({ setting, path }) => existsSync(path) || /^(?:notify|otel)\./.test(setting),
  )
  return found.flatMap(({ setting, path }) => {
    try {
      const folder = credentialFolder.test(dirname(path)) ? dirname(path) : credentialsDirectory
      // The daemon takes credentials of these alone.
      const credentials = setting.startsWith('notify.') ? { credentialsDirectory: folder } : {}
      readSecretFile(path, { setting, checksFolder: !config.isPaper, ...credentials })
      return []
    } catch (error) {
      return [{ setting, path, error }]
    }
  })
}

/** Files that the configuration names, or that perpd makes, whose content nobody else may have. */
export function secretFiles({
  account,
  paper,
  control,
  notify,
  otel,
  isPaper,
}: Config): readonly { readonly setting: string; readonly path: string }[] {
  const named: readonly (readonly [string, string | undefined])[] = [
    ...(isPaper
      ? ([
          ['paper.keyFile', paper.keyFile],
          ['paper.ownerKeyFile', paper.ownerKeyFile],
        ] as const)
      : ([
          ['account.keystore', account.keystore],
          ['account.keyFile', account.keyFile],
          ['account.remoteSignerTokenFile', account.remoteSignerTokenFile],
        ] as const)),
    ['control.tokenFile', control.tokenFile],
    ['control.tokenFile', `${control.tokenFile}.read`],
    ['control.signalSecretFile', control.signalSecretFile],
    ['notify.heartbeatUrlFile', notify.heartbeatUrlFile],
    ['otel.headersFile', otel.headersFile],
    ...notify.sinks.flatMap((sink) => {
      const written: Readonly<Partial<Record<string, unknown>>> = sink
      return secretFields.flatMap((field): readonly (readonly [string, string])[] => {
        const path = written[field]
        return typeof path === 'string' ? [[`notify.sinks (${sink.name}.${field})`, path]] : []
      })
    }),
  ]
  return named.flatMap(([setting, path]) => (path === undefined ? [] : [{ setting, path }]))
}
