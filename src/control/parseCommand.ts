/** Bodies of commands: the command each one is, by its row. Nothing that is not known is let through. */
import { z } from 'zod'
import { by } from '../base/bodyFields.ts'
import { defined } from '../base/defined.ts'
import { isObject } from '../base/isObject.ts'
import { type AnyCommand, namedIn, type ReadRow } from '../operator/commandRow.ts'
import type { OperatorCommand } from '../operator/commands/index.ts'
import { bodyProblem } from './bodyProblem.ts'

/** Longest body of a command, bytes. */
export const MAX_BODY_BYTES = 4_096

/** A command that was understood, and its author; or the fault of its body. */
export type Parsed<Command extends AnyCommand = OperatorCommand> =
  | { readonly ok: true; readonly command: Command; readonly by: string }
  | { readonly ok: false; readonly problem: string }

const signed = z.object({ by })
const previewed = z.object({ by, preview: z.boolean().default(false) })

/**
 * Reads the body of a command. `id` is the discrepancy or the order that its path names, whole or its first characters,
 * the market's symbol or address, or a strategy's name.
 */
export function parseCommand<Command extends AnyCommand = OperatorCommand>(
  row: ReadRow,
  body: unknown,
  id = '',
): Parsed<Command> {
  const hasPreview = row.preview !== undefined
  const { by: _, preview, ...rest } = isObject(body) ? body : {}
  const own = hasPreview || preview === undefined ? rest : { ...rest, preview }
  const fields = row.body.safeParse(isObject(body) ? own : body, { reportInput: true })
  const head = (hasPreview ? previewed : signed).safeParse(isObject(body) ? body : {}, { reportInput: true })
  const issues = [...(fields.error?.issues ?? []), ...(isObject(body) ? (head.error?.issues ?? []) : [])]
  if (!fields.success || !head.success) return { ok: false, problem: issues.map(bodyProblem).join('; ') }
  const { confirm, ...given } = fields.data as { readonly confirm?: boolean }
  const isPreview = 'preview' in head.data && head.data.preview
  if (row.isConfirmedOrPreviewed === true && confirm === true && isPreview)
    return { ok: false, problem: 'the body: confirm or preview, not both' }
  const named = namedIn(row.route)
  const command = {
    type: row.type,
    ...row.fixed,
    ...(named && { [named]: id }),
    ...given,
    ...defined({ isConfirmed: confirm, isPreview: isPreview || undefined }),
  }
  // The row's body has just made its fields.
  return { ok: true, command: command as unknown as Command, by: head.data.by }
}
