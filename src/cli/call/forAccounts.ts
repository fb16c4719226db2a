/** Runs a command for the accounts that `--account` names: one after the other, each under its name, or all together where a command does so. */
import { BaseError } from '../../base/errors.ts'
import { ALL_ACCOUNTS } from '../../config/accountNames.ts'
import { CommandError, exitCodeOf, exitCodes } from '../../config/exit.ts'
import { accountIn, type LoadedConfig } from '../../config/loadConfig.ts'
import { withAccount } from '../../monitor/namedAdvice.ts'
import { type AccountMode, accountFlag } from './accountModes.ts'
import type { AccountCommand, Call } from './command.ts'

/** Runs it. Resolves with the first exit code that is not 0: one account's fault keeps no other from its turn. */
export async function runForAccounts(
  command: AccountCommand,
  mode: AccountMode,
  call: Call,
): Promise<number> {
  const names = chosenNames(command, mode, call)
  const calls = names.map((name) => callOf(call, name))
  const [only] = calls
  if (only !== undefined && calls.length === 1) {
    // The first one answers for what all accounts have in common: nobody meant it.
    const isMeant = call.flags.has(accountFlag.name) || (mode !== 'any' && mode !== 'named-without-folder')
    return isMeant ? await codeOf(only, command.run) : await command.run(only)
  }
  if (call.flags.has('csv'))
    throw new CommandError(
      `--csv prints the rows of one account.\n  Name it: --account ${names[0]}`,
      exitCodes.configuration,
    )
  const together = command.together?.(calls)
  if (together !== undefined) return await together
  return call.flags.has('json') ? await asOneJson(command, calls) : await oneByOne(command, calls)
}

/** The accounts that a command is for. Throws CommandError where it must be said, ConfigError for a name that there is not. */
function chosenNames(
  { name: command }: AccountCommand,
  mode: AccountMode,
  { loaded, flags, positionals }: Call,
): readonly (string | undefined)[] {
  const all = loaded.accounts.map(({ name }) => name)
  const given = flags.get(accountFlag.name)
  if (typeof given === 'string' && given !== ALL_ACCOUNTS) {
    const named = [...new Set(given.split(',').map((name) => name.trim()))]
    for (const name of named) accountIn(loaded, name)
    return named
  }
  if (all.length === 0) return [undefined]
  const isRead = mode === 'each' || (mode === 'named-to-change' && positionals.length === 0)
  if (given === ALL_ACCOUNTS || isRead) return all
  // The folder of a run is no account's.
  const isOfFolder = mode === 'named-without-folder' && positionals.length > 0
  if (mode === 'any' || isOfFolder) return all.slice(0, 1)
  throw new CommandError(
    `perpd ${command} needs an account: ${all.join(', ')}.\n  Nothing was done. Name one or several, as --account ${all[0]}, or all: --account ${ALL_ACCOUNTS}`,
    exitCodes.configuration,
  )
}

/** The call for one account; undefined: the only one, which has no name. */
function callOf(call: Call, name: string | undefined): Call {
  if (name === undefined) return call
  const of = (loaded: LoadedConfig): LoadedConfig => accountIn(loaded, name)
  return { ...call, loaded: of(call.loaded), reload: () => of(call.reload()) }
}

/** The call with its account in the commands that it names to people. Rows for programs stay as they are. */
export function withNamedAdvice(call: Call): Call {
  const { accountName } = call.loaded.config
  const naming = (write: (text: string) => void) => (text: string) => write(withAccount(text, accountName))
  const isForProgram = call.flags.has('json') || call.flags.has('csv')
  return { ...call, err: naming(call.err), out: isForProgram ? call.out : naming(call.out) }
}

/** Name of the account of a call. */
export function accountNameOf({ loaded }: Call): string {
  return loaded.config.accountName ?? ''
}

async function oneByOne(command: AccountCommand, calls: readonly Call[]): Promise<number> {
  let code: number = exitCodes.ok
  for (const [at, call] of calls.entries()) {
    call.out(`${at === 0 ? '' : '\n'}account ${accountNameOf(call)}`)
    code = firstFault(code, await codeOf(call, command.run))
  }
  return code
}

/** Runs all at once, each line with the account's name before it. */
export async function atOnce(calls: readonly Call[], run: (call: Call) => Promise<number>): Promise<number> {
  const codes = calls.map((call) => {
    const named = (write: (text: string) => void) => (text: string) =>
      write(text.replaceAll(/^/gm, `${accountNameOf(call)}: `))
    const own = { ...call, out: named(call.out), err: named(call.err) }
    return codeOf(own, run)
  })
  return (await Promise.all(codes)).reduce(firstFault, exitCodes.ok)
}

/** One object with the answer of each account by its name; one that failed has its reason as `error`. */
async function asOneJson(command: AccountCommand, calls: readonly Call[]): Promise<number> {
  let code: number = exitCodes.ok
  const answers: Record<string, unknown> = {}
  for (const call of calls) {
    const texts: string[] = []
    let problem: string | undefined
    const own = { ...call, out: (text: string) => void texts.push(text) }
    const took = await codeOf(
      {
        ...own,
        err: (text) => {
          problem = text
        },
      },
      command.run,
    )
    answers[accountNameOf(call)] =
      texts.length === 0 && problem !== undefined ? { error: problem } : JSON.parse(texts.join('\n'))
    code = firstFault(code, took)
  }
  calls[0]?.out(JSON.stringify(answers, undefined, 2))
  return code
}

/** The exit code of one account's turn; its error is printed, and ends nothing else. */
async function codeOf(call: Call, run: (call: Call) => Promise<number>): Promise<number> {
  const own = withNamedAdvice(call)
  try {
    return await run(own)
  } catch (error) {
    if (!(error instanceof CommandError || error instanceof BaseError)) throw error
    own.err(error.message)
    return error instanceof CommandError ? error.exitCode : exitCodeOf(error)
  }
}

function firstFault(before: number, code: number): number {
  return before === exitCodes.ok ? code : before
}
