/** The `exit` and `protect` blocks of a new strategy file: those of the kind's example, each field with its meaning. */
import { stringify } from 'yaml'
import type { z } from 'zod'
import { exitSchema } from '../../strategy/files/exitBlock.ts'
import { fieldsOf, wordsOf } from '../../strategy/files/fieldWords.ts'
import { protectSchema } from '../../strategy/files/protectBlock.ts'

/** Fields of a block as they are written. */
export type WrittenBlock = Readonly<Record<string, unknown>>

/** A line of a file, and the comment behind it. */
export type Line = readonly [text: string, comment: string]

/** The exits of a file whose kind perpd does not know: a kind's own stop-loss keeps this one away. */
export const usualExit: WrittenBlock = { stopLoss: { bps: 300 } }

/** Lines of both blocks, an empty one before each; none of a block that is undefined. */
export function blockLines(
  exit: WrittenBlock | undefined,
  protect: WrittenBlock | undefined,
): readonly Line[] {
  return [
    ...linesOf('exit:', 'come with every entry and rest at the venue; 100 bps = 1 %', exitSchema, exit),
    ...linesOf('protect:', 'keeps it from adding for a while', protectSchema, protect),
  ]
}

function linesOf(
  head: string,
  comment: string,
  schema: z.ZodType,
  block: WrittenBlock | undefined,
): readonly Line[] {
  if (block === undefined) return []
  const known = new Map(fieldsOf(schema))
  const lines = Object.entries(block).map(([name, value]): Line => {
    const field = known.get(name)
    const text = stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trimEnd()
    return [`  ${name}: ${text}`, field === undefined ? '' : (wordsOf(field).meaning ?? '')]
  })
  return [['', ''], [head, comment], ...lines]
}
