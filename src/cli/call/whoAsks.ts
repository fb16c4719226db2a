/** The person who gives a command: name, id of the order, and the confirmation at the terminal. */
import { randomBytes } from 'node:crypto'
import { userInfo } from 'node:os'
import { isatty } from 'node:tty'
import { typedWhole } from '../../base/typedNumber.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import { wordsIn } from '../output/fitTable.ts'
import { SCREEN_COLUMNS } from '../output/screen.ts'
import type { Call } from './command.ts'
import { openQuestions } from './question.ts'

/** The commander's name: `--by`, else the user's; the number of a user without a name. */
export function commander({ flags }: Call): string {
  const by = flags.get('by')
  if (typeof by === 'string' && by.trim() !== '') return by.trim()
  try {
    return userInfo().username
  } catch {
    return `uid ${process.getuid?.()}`
  }
}

/** Asks at the terminal; anything but yes, or y, is no. */
export async function confirm(question = 'Send it?'): Promise<boolean> {
  const questions = openQuestions()
  try {
    return isYes((await questions.ask(`${question} Type y or yes: `)) ?? '')
  } finally {
    questions.close()
  }
}

/**
 * Shows at a terminal what a command would do, and asks. Without a terminal it is sent as it stands: a script that places a stop or closes is not held
 * up by a question. One that takes a stop-loss away, or loosens it, needs `--yes`. False: the person said no, and was told that nothing was sent.
 *
 * @param preview what it would do; undefined: it was done before, and nothing is asked
 * @param mayLoosen true for a command that may take a stop-loss away or loosen it; default false
 * @throws CommandError where a script would do that without `--yes`
 */
export async function isAgreed(
  { flags, out, err }: Call,
  preview: () => Promise<Shown | undefined>,
  mayLoosen = false,
): Promise<boolean> {
  const isScript = !isatty(0)
  if (flags.has('yes') || flags.has('dry-run') || (isScript && !mayLoosen)) return true
  const shown = await preview()
  if (shown === undefined) return true
  if (isScript) {
    if (!shown.isLooser) return true
    throw new CommandError(
      `${shown.text}\nNo terminal to confirm that a stop-loss is removed, or moved to where more is lost; nothing was sent. To send it: --yes`,
      exitCodes.error,
    )
  }
  const show = flags.has('json') ? err : out
  show(shown.text)
  if (await confirm()) return true
  show('Nothing was sent.')
  return false
}

/** The words of what a command would do. */
interface Shown {
  readonly text: string
  /** A stop-loss goes away, or moves to where more is lost. */
  readonly isLooser: boolean
}

/** Columns before a choice: its number. */
const CHOICE_INDENT = 5

/** Asks at the terminal for one of some choices by its number, or by its name where they have `names`; the place of the chosen one, undefined: none. */
export async function choose(
  question: string,
  choices: readonly string[],
  {
    names = [],
    width = SCREEN_COLUMNS,
  }: { readonly names?: readonly string[]; readonly width?: number } = {},
): Promise<number | undefined> {
  const questions = openQuestions()
  const lines = choices.flatMap((choice, at) =>
    wordsIn(choice, width - CHOICE_INDENT).map(
      (line, part) => `${part === 0 ? `  ${at + 1}  ` : ' '.repeat(CHOICE_INDENT)}${line}`,
    ),
  )
  try {
    const asked = names.length === 0 ? 'Type a number: ' : 'Type a number or a name: '
    const answer = ((await questions.ask(`${[question, ...lines].join('\n')}\n${asked}`)) ?? '').trim()
    const at = typedWhole(answer, 1, choices.length)
    if (at !== undefined) return at - 1
    const named = names.indexOf(answer.toLowerCase())
    return named === -1 ? undefined : named
  } finally {
    questions.close()
  }
}

/** Tells whether an answer agrees: `y` or `yes`, in either case. */
export function isYes(answer: string): boolean {
  return /^y(?:es)?$/i.test(answer.trim())
}

/** `--id`, else a random one. */
export function idOf(flags: Call['flags']): string {
  const id = flags.get('id')
  return typeof id === 'string' ? id : randomBytes(6).toString('hex')
}
