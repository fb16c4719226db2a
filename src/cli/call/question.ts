/** Questions at the terminal whose answers are shown. */
import { createInterface } from 'node:readline/promises'

/** Asks one question after the other; lines that were typed or pasted ahead answer the next ones. */
export interface Questions {
  /** The answer without its line break; undefined when the question was broken off (Ctrl-C, Ctrl-D). */
  ask(question: string): Promise<string | undefined>
  close(): void
}

/** Opens the terminal for questions, which go to standard error so that results can be piped. */
export function openQuestions(): Questions {
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  const ended = new Promise<undefined>((resolve) => lines.once('close', () => resolve(undefined)))
  return {
    async ask(question) {
      try {
        return await Promise.race([lines.question(question), ended])
      } catch (error) {
        // Ctrl-C or Ctrl-D in the place of an answer.
        if (error instanceof Error && error.name === 'AbortError') return undefined
        throw error
      }
    },
    close: () => lines.close(),
  }
}
