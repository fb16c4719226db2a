#!/usr/bin/env -S MALLOC_ARENA_MAX=2 node --disable-sigusr1 --max-semi-space-size=8 --heap-growing-percent=25
/** The command line: finds the command, hands it what it was given, and turns how it ends into an exit code. */
import { isatty } from 'node:tty'
import { defined } from '../base/defined.ts'
import { BaseError } from '../base/errors.ts'
import { visible } from '../base/shownText.ts'
import { systemClock } from '../base/systemClock.ts'
import { CommandError, exitCodeOf, exitCodes, exitMeanings } from '../config/exit.ts'
import type { ConfigSource, LoadedConfig } from '../config/loadConfig.ts'
import { didYouMean, nearest } from '../config/suggest.ts'
import { version } from '../config/version.ts'
import { hardenProcess } from '../daemon/hardening.ts'
import { takeKeySources } from '../daemon/signers/keySources.ts'
import type { AskHidden } from '../keys/password.ts'
import { createHiddenPrompt } from '../keys/prompt.ts'
import { threadsLeftBehind } from '../strategy/files/leftThreads.ts'
import type { AccountCommand, Arguments, Call, Command } from './call/command.ts'
import { commands } from './commandTable.ts'
import { groupedCommands } from './helpGroups.ts'
import { fitted, JOINED, screenWidth } from './output/screen.ts'
import { columns } from './output/table.ts'

/** Other words for a command: flags that every program has, and the list that people ask for by that word. */
const aliases: ReadonlyMap<string, string> = new Map([
  ['strategies list', 'strategies'],
  ['--version', 'version'],
  ['-v', 'version'],
])

const helpWords: readonly string[] = ['help', '--help', '-h']

/** Settings and arguments are loaded by the commands that have any: a short one is mostly loading. */
const loadSettings = () => import('../config/loadConfig.ts')
const loadArguments = () => import('./call/command.ts')
const nothingGiven: Arguments = { flags: new Map(), positionals: [], settings: [], wantsHelp: false }

/** ` Did you mean orders?`, or nothing. */
function suggestion(word: string): string {
  const known = commands.map(({ name }) => name)
  return didYouMean(word, word.startsWith('-') ? ['--help', '--version'] : known)
}

/** Finds the command meant when the first word of several commands is followed by an unknown second word. */
function secondWordMeant(name: string, word: string | undefined): string | undefined {
  if (word === undefined || word.startsWith('-')) return undefined
  const second = commands
    .filter((each) => each.name.startsWith(`${name} `))
    .map((each) => each.name.slice(name.length + 1))
  const meant = nearest(word, second)
  return meant === undefined ? undefined : `${name} ${meant}`
}

function help(): string {
  return `perpd ${version}: a daemon that trades GMX v2 perpetuals.\n\nusage: perpd <command> [flags]\n\n${groupedCommands(commands)}\n\nHelp and examples for a command: perpd <command> --help\nExit codes: ${exitMeanings.map(({ code, name }) => `${code} ${name}`).join(', ')}`
}

/**
 * Runs one command line.
 *
 * @param argv arguments after the program's name.
 */
export async function main(
  argv: readonly string[],
  world: {
    /** Environment. `main` removes a bare private key from it. */
    readonly env: Record<string, string | undefined>
    readonly cwd: string
    /** Options of Node that the process was started with; none when not given. */
    readonly execArgv?: readonly string[]
    /** Columns of the screen; without it lines are as long as they are. */
    readonly width?: number
    readonly out: (text: string) => void
    readonly err: (text: string) => void
    /** Asks at the terminal; absent when nobody sits at one. */
    readonly ask?: AskHidden
  },
): Promise<number> {
  // Some package managers hand on the dashes that ended their own flags.
  if (argv[0] === '--') return await main(argv.slice(1), world)
  const { width = Number.POSITIVE_INFINITY } = world
  const out = (text: string): void => world.out(fitted(text, width))
  const err = (text: string): void => world.err(fitted(text, width))
  const keys = takeKeySources(world.env, world.ask)
  // A command of two words goes before the one of its first word.
  const two = argv.slice(0, 2).join(' ')
  const isTwo = argv.length > 1 && (aliases.has(two) || commands.some((each) => each.name === two))
  const [given, ...rest] = isTwo ? [two, ...argv.slice(2)] : argv
  const name = given === undefined ? undefined : (aliases.get(given) ?? given)
  if (name === undefined || helpWords.includes(name)) {
    if (rest[0] !== undefined && !rest[0].startsWith('-')) return await main([...rest, '--help'], world)
    out(help())
    return name === undefined ? exitCodes.configuration : exitCodes.ok
  }
  const command = commands.find((each) => each.name === name)
  if (command !== undefined && !isTwo && (command.positional?.isOptional ?? true)) {
    const meant = secondWordMeant(command.name, rest[0])
    if (meant !== undefined) {
      err(`perpd has no command ${command.name} ${rest[0]}. Did you mean ${meant}?`)
      return exitCodes.configuration
    }
  }
  const family = commands.filter((each) => each.name.startsWith(`${name} `))
  if (command === undefined && family.length > 0) {
    const rows = family.map((each) => [each.name, each.summary])
    const isAsked = rest.length === 0 || rest.includes('--help') || rest.includes('-h')
    const meant = secondWordMeant(name, rest[0])
    const text = `perpd ${name} has these commands:\n\n${columns(rows, '  ')}`
    if (isAsked) out(text)
    else
      err(
        `perpd has no command ${rest[0]?.startsWith('-') === true ? `${name} without a second word` : `${name} ${rest[0]}`}.${meant === undefined ? '' : ` Did you mean ${meant}?`} ${text}`,
      )
    return isAsked ? exitCodes.ok : exitCodes.configuration
  }
  if (command === undefined) {
    err(
      `perpd has no command ${name}.${suggestion(name)}\nusage: perpd ${commands.map((each) => each.name.replaceAll(' ', JOINED)).join(' | ')}`,
    )
    return exitCodes.configuration
  }
  const ended = (code: number): number =>
    code === exitCodes.configuration ? (configurationExit(command, rest) ?? code) : code
  try {
    const { flags, positionals, settings, wantsHelp } =
      rest.length === 0 && command.positional === undefined
        ? nothingGiven
        : (await loadArguments()).parseArguments(command, rest)
    if (wantsHelp) {
      out((await loadArguments()).helpOf(command, positionals))
      return exitCodes.ok
    }
    const source = { argv: [...(command.sets ?? []), ...settings], env: world.env, cwd: world.cwd }
    const { cwd, env, execArgv = [] } = world
    // A program reads it: each row is one line.
    const shown = flags.has('csv') || command.isForProgram === true ? world.out : out
    const readSettings = async () => (await loadSettings()).loadConfig(source)
    const bare = { readSettings, flags, positionals, cwd, env, execArgv, keys, width, out: shown, err }
    if (command.isBare === true) return ended(await command.run(bare))
    const isTolerant = command.isForRunning === true || command.isOfJournal === true
    const loaded = await (isTolerant ? loadInSpite(command, source, err) : readSettings())
    const { loadConfig } = await loadSettings()
    return ended(await runChosen(command, { ...bare, loaded, settings, reload: () => loadConfig(source) }))
  } catch (error) {
    if (error instanceof CommandError) {
      err(error.message)
      return ended(error.exitCode)
    }
    if (error instanceof BaseError) {
      err(error.message)
      return ended(exitCodeOf(error))
    }
    // A refusal of the system is for the operator; any other error is a bug of perpd and is shown whole.
    if (!isSystemError(error)) throw error
    err(`A system call failed: ${error.message}\n  perpd stops.`)
    return exitCodes.error
  }
}

/** Runs a command for the accounts that it is for. One account without a name is usual: nothing more is loaded for it. */
async function runChosen(command: AccountCommand, call: Call): Promise<number> {
  const { accounts } = command
  if (accounts === undefined || (call.loaded.accounts.length === 0 && !call.flags.has('account')))
    return await command.run(call)
  return await (await import('./call/forAccounts.ts')).runForAccounts(command, accounts, call)
}

/** The configuration for a command that only asks the running daemon, or reads the journal; problems are told, and it goes on where it can. */
async function loadInSpite(
  { isOfJournal }: Command,
  source: ConfigSource,
  err: (text: string) => void,
): Promise<LoadedConfig> {
  const { ConfigError, loadConfig } = await loadSettings()
  try {
    return loadConfig(source)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const loaded = loadConfig(source, true)
    err(
      [
        isOfJournal === true
          ? 'The configuration has a problem; reading the journal anyway:'
          : 'The configuration has a problem; using the running daemon, which has its own settings:',
        ...error.problems.map((each) => `  ${each}`),
      ].join('\n'),
    )
    return loaded
  }
}

/** The code that `--configuration-exit` asks for; it holds for what is wrong in the other flags too. */
function configurationExit(command: Command, argv: readonly string[]): number | undefined {
  if (!command.flags.some(({ name }) => name === 'configuration-exit')) return undefined
  const [, code] = /(?:^|\0)--configuration-exit[=\0](\d{1,3})(?:\0|$)/.exec(argv.join('\0')) ?? []
  return code === undefined || Number(code) > 255 ? undefined : Number(code)
}

function isSystemError(error: unknown): error is Error {
  return error instanceof Error && 'syscall' in error
}

/** The end of a daemon waits this long for the reader of its last lines, ms. */
const LAST_LINES_MS = 2_000

/** EPIPE: the reader of a pipe is gone; EIO: the terminal is. */
function isReaderGone({ code }: NodeJS.ErrnoException): boolean {
  return code === 'EPIPE' || code === 'EIO'
}

/**
 * The folder that this process was started in. Where it was removed since, a command reaches its daemon all the same: paths are
 * then meant from where the shell says that it is. Undefined for what serves: its state would be kept where nobody looks for it.
 */
function workingFolder(serves: boolean): string | undefined {
  try {
    return process.cwd()
  } catch (error) {
    if (!isSystemError(error)) throw error
    if (serves) return undefined
    // Modules that load later ask for the folder too.
    process.chdir('/')
    return process.env.PWD ?? '/'
  }
}

/** Resolves when nothing that was written waits: a reader may be slower than the process. */
async function written(stream: NodeJS.WriteStream): Promise<void> {
  if (stream.writableLength > 0) await new Promise((resolve) => stream.write('', resolve))
}

/**
 * Runs the command line of this process, and ends the process with its exit code. An end that Node comes to by itself takes the
 * whole heap apart first: half a second of a core for a daemon.
 */
export async function runProcess(): Promise<void> {
  hardenProcess()
  const serves = ['run', 'standby', 'paper'].includes(process.argv[2] ?? '')
  let isLeaving = false
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (!isReaderGone(error)) throw error
    // Every further line fails too; a second signal would end a drain.
    if (isLeaving) return
    isLeaving = true
    // A reader such as `head` may leave early. A daemon continues without one: its log says so where it still can.
    if (!serves) process.exit(exitCodes.ok)
    // The terminal is gone, and its signal went to somebody else: nobody is left to watch.
    if (error.code === 'EIO') process.kill(process.pid, 'SIGTERM')
  })
  process.stderr.on('error', (error: NodeJS.ErrnoException) => {
    if (!isReaderGone(error)) throw error
  })
  const writeError = (text: string): void => void process.stderr.write(text)
  const cwd = workingFolder(serves)
  if (cwd === undefined) {
    writeError(
      'The current folder was removed.\n  Nothing was started. Change to an existing folder and start again.\n',
    )
    process.exit(exitCodes.configuration)
  }
  process.exitCode = await main(process.argv.slice(2), {
    env: process.env,
    cwd,
    execArgv: process.execArgv,
    width: screenWidth(process.env, process.stdout.columns),
    // Names from hosts and files reach the terminal with their control characters made visible.
    out: (text) => void process.stdout.write(`${visible(text)}\n`),
    err: (text) => writeError(`${visible(text)}\n`),
    ...defined({ ask: isatty(0) ? createHiddenPrompt(process.stdin, writeError) : undefined }),
  })
  if (threadsLeftBehind() === 0) {
    const all = Promise.all([process.stdout, process.stderr].map(written))
    // Whoever reads a command may take as long as they like; the end of a daemon waits for nobody.
    await (serves ? Promise.race([all, systemClock.sleep(LAST_LINES_MS)]) : all)
    process.exit()
  }
  writeError("perpd kills itself with SIGKILL: a strategy's thread hangs and cannot be stopped otherwise.\n")
  process.kill(process.pid, 'SIGKILL')
}

if (import.meta.main) await runProcess()
