/**
 * `perpd init`: begins a folder where a daemon that was installed as a package looks for its own: settings, strategy files, and what
 * an editor needs to know of the contract of kinds.
 */
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { reasonOf } from '../../base/errors.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import { ConfigError } from '../../config/loadConfig.ts'
import { shippedFiles, shippedFolder } from '../../daemon/ownFiles/shippedFiles.ts'
import type { BareCall } from '../call/command.ts'
import { openQuestions, type Questions } from '../call/question.ts'
import { editorFiles, gitIgnore, machineFiles, schemaFile } from './editorFiles.ts'
import { type Answer, type Choices, keyVariable, makeChoices } from './initChoices.ts'
import { chosenStrategy, settingsText, shippedText } from './initFiles.ts'

const shipped = fileURLToPath(new URL('../../../strategies/', import.meta.url))
const settingsSchema = fileURLToPath(new URL('../../../config/schema/settings.json', import.meta.url))

/**
 * Asks at a terminal, unless `--yes` is given, and writes `perpd.json`, the strategy files, and a `package.json` and a
 * `tsconfig.json` that let an editor find `#strategy`. A file that is there is left as it is and named, unless `--force` is given.
 * These may be committed and moved; the places of this machine's perpd are in `.perpd/`, which Git ignores and every `init` writes again.
 *
 * @throws CommandError for a flag or an answer that does not fit, and for a question that was broken off: nothing is written then
 */
export async function init(call: BareCall): Promise<number> {
  const { flags, cwd, keys, out, err, readSettings } = call
  const isAsked = keys.ask !== undefined && !flags.has('yes')
  const questions = isAsked ? openQuestions() : undefined
  let choices: Choices
  try {
    choices = await makeChoices(answerOf(call, questions))
  } finally {
    questions?.close()
  }
  write(call, choices)
  try {
    await readSettings()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    err(error.message)
    return exitCodes.configuration
  }
  for (const line of nextSteps(choices, cwd)) out(line)
  return exitCodes.ok
}

/** Answers by flags, then by the terminal, then by what is usual. An answer of a flag that does not fit ends it. */
function answerOf({ flags, err }: BareCall, questions: Questions | undefined): Answer {
  return async (flag, question, initial, read) => {
    const given = flags.get(flag)
    if (typeof given === 'string') return read(given)
    if (questions === undefined) return read(initial)
    for (;;) {
      const text = await questions.ask(`${question} [${initial}]: `)
      if (text === undefined)
        throw new CommandError('The questions were interrupted: nothing was written.', exitCodes.error)
      try {
        return read(text.trim() === '' ? initial : text.trim())
      } catch (error) {
        if (!(error instanceof CommandError)) throw error
        err(error.message)
      }
    }
  }
}

function write({ flags, cwd, out }: BareCall, choices: Choices): void {
  const usual = flags.has('force') ? 'w' : 'wx'
  const put = (name: string, text: string, mode = 0o644, flag = usual): void => {
    const path = join(cwd, name)
    try {
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, text, { flag, mode })
      out(`wrote ${name}`)
    } catch (error) {
      if (!(error instanceof Error) || !('syscall' in error)) throw error
      const { code, syscall } = error as NodeJS.ErrnoException
      if (code !== 'EEXIST' || syscall !== 'open') {
        throw new CommandError(
          `${path} cannot be written: ${reasonOf(error)}.\n  perpd init writes into the folder that it is started in; go to one of your own, and start it there.`,
          exitCodes.error,
        )
      }
      out(`${name} is there already; left as it is`)
    }
  }
  const folder = join(cwd, 'strategies')
  // The checkout's own folder has the checkout's.
  const isOwn = existsSync(folder) && realpathSync(folder) === realpathSync(shipped)
  // The file gets a mode that no other user can write to, because perpd refuses to read one that others may write.
  const schema = isOwn ? relative(cwd, settingsSchema) : schemaFile
  put('perpd.json', settingsText(choices, schema), 0o600)
  const chosen = chosenStrategy(choices)
  if (chosen !== undefined) put(`strategies/${chosen.name}`, chosen.text)
  if (isOwn) return
  for (const path of shippedFiles()) {
    const name = relative(shippedFolder, path)
    if (name !== chosen?.name) put(`strategies/${name}`, shippedText(shipped, name, choices))
  }
  put('.gitignore', gitIgnore)
  for (const [name, text] of Object.entries(editorFiles())) put(`strategies/${name}`, text)
  for (const [name, text] of Object.entries(machineFiles(readFileSync(settingsSchema, 'utf8'))))
    put(name, text, 0o644, 'w')
}

/** Lists the commands to type next. */
function nextSteps({ profile, key, isRpcSecret }: Choices, cwd: string): readonly string[] {
  if (profile === 'paper') return ['Next: perpd run']
  const isMissing = key !== undefined && key !== keyVariable && !existsSync(resolve(cwd, key))
  return [
    'Next, in this order:',
    ...(isMissing ? [`  perpd keys new --file ${key}`] : []),
    ...(key === keyVariable ? [`  give the key in ${keyVariable}, to perpd alone`] : []),
    ...(isRpcSecret
      ? ['  give the endpoint in PERPD__RPC__HTTP: its address may hold a key, and was written nowhere']
      : []),
    '  perpd doctor',
    '  perpd run',
    "A delegated key is safer than the account's own: docs/going-live.md",
  ]
}
