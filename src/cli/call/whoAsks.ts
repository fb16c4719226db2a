/** The person who gives a command: name, id of the order, and the confirmation at the terminal. */
import { randomBytes } from 'node:crypto'
import { userInfo } from 'node:os'
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

/** Tells whether an answer agrees: `y` or `yes`, in either case. */
export function isYes(answer: string): boolean {
  return /^y(?:es)?$/i.test(answer.trim())
}

/** `--id`, else a random one. */
export function idOf(flags: Call['flags']): string {
  const id = flags.get('id')
  return typeof id === 'string' ? id : randomBytes(6).toString('hex')
}
