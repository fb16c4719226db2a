/** A question at the terminal whose answer is not shown. */
import type { ReadStream } from 'node:tty'
import { BaseError } from '../base/errors.ts'
import { Secret } from '../base/secret.ts'
import type { AskHidden } from './password.ts'

/** The question was broken off with Ctrl-C, or the terminal went away. */
export class PromptBroken extends BaseError {}

/** Longest answer, characters. */
const MAX_LENGTH = 4_096

/**
 * Asks at a terminal. Backspace and Ctrl-U edit, Enter or Ctrl-D end, Ctrl-C breaks off.
 *
 * @param input the terminal; its echo is off while a question stands.
 * @param write shows the question: to standard error, so that results can be piped.
 */
export function createHiddenPrompt(
  input: Pick<ReadStream, 'setRawMode' | 'on' | 'off' | 'resume' | 'pause'>,
  write: (text: string) => void,
): AskHidden {
  const decoder = new TextDecoder()
  // Text typed or pasted ahead belongs to the next question.
  let ahead = ''
  return (question) =>
    new Promise((resolve, reject) => {
      const typed: string[] = []
      const leave = (): void => {
        input.off('data', read)
        input.off('end', broken)
        input.setRawMode(false)
        input.pause()
        write('\n')
      }
      const broken = (): void => {
        leave()
        reject(
          new PromptBroken('The prompt was cancelled.', {
            code: 'PROMPT_BROKEN',
            details: 'Nothing was done.',
          }),
        )
      }
      /** Takes characters until one ends the question; true when one did. */
      const take = (text: string): boolean => {
        const characters = [...text]
        for (const [at, character] of characters.entries()) {
          if (character === '\r' || character === '\n' || character === '\u0004') {
            ahead = characters.slice(at + 1).join('')
            leave()
            resolve(new Secret(typed.join('')))
            return true
          }
          if (character === '\u0003') {
            broken()
            return true
          }
          if (character === '\u007f' || character === '\b') typed.pop()
          else if (character === '\u0015') typed.length = 0
          // Other control characters are keys that mean nothing here.
          else if (character >= ' ' && typed.length < MAX_LENGTH) typed.push(character)
        }
        return false
      }
      const read = (chunk: Buffer): void => void take(decoder.decode(chunk, { stream: true }))
      // Echo off first: what is typed the moment the question shows must not show.
      input.setRawMode(true)
      write(question)
      const waiting = ahead
      ahead = ''
      if (take(waiting)) return
      input.on('data', read)
      input.on('end', broken)
      input.resume()
    })
}
