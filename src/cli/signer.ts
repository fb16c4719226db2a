/** Which key signs: paper makes its own and takes no other; live reads a raw key file, and only when the operator said so. */
import { existsSync } from 'node:fs'
import type { Signer } from '../domain/signer.ts'
import { KeyFileError, paperSigner, readKeyFile } from '../keys/local.ts'
import { startProblems } from './config/typed.ts'
import type { Config } from './config/types.ts'
import { CommandError, exitCodes } from './exit.ts'

/**
 * The signer of the configured account. In the paper profile the key is made when there is none yet.
 *
 * @throws CommandError with exit code 4 when the configuration names no key or does not accept a raw one; KeyFileError
 * when the file cannot be used.
 */
export function signerOf(config: Config): Signer {
  if (config.isPaper) return paperSigner(config.paper.keyFile)
  const [problem] = startProblems(config)
  if (problem !== undefined || config.account.keyFile === undefined) {
    throw new CommandError(
      `${problem ?? 'account.keyFile is not set'}\n  Nothing was started. Paper needs no key: npm start`,
      exitCodes.configuration,
    )
  }
  return readKeyFile(config.account.keyFile)
}

/** What would keep `signerOf` from giving a signer, without making a key; empty when nothing would. */
export function signerProblems(config: Config): readonly string[] {
  const problems = startProblems(config)
  if (problems.length > 0) return problems
  try {
    if (!config.isPaper) readKeyFile(config.account.keyFile ?? '')
    else if (existsSync(config.paper.keyFile)) readKeyFile(config.paper.keyFile, 'paper.keyFile')
    return []
  } catch (error) {
    if (!(error instanceof KeyFileError)) throw error
    return [error.message]
  }
}
