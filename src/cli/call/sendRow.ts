/** Sends a command of an operator by its row: flags and arguments become the body, the answer is a sentence. */
import { isatty } from 'node:tty'
import { z } from 'zod'
import type { Typed } from '../../base/bodyFields.ts'
import { defined } from '../../base/defined.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import { ended } from '../../monitor/text.ts'
import type { CommandLine, OwnFlag } from '../../operator/commandLine.ts'
import { type CommandRow, namedIn, type ReadRow } from '../../operator/commandRow.ts'
import { type CommandName, commandRows } from '../../operator/commands/index.ts'
import { parseUnits } from '../../protocol/units.ts'
import type { Call } from './command.ts'
import { commandAnswer } from './daemonClient.ts'
import { dollarsFlag, percentFlag, placeFlag, timesFlag, wholeFlag } from './numberFlags.ts'
import { commander, confirm, idOf, isAgreed } from './whoAsks.ts'

/** A command with a preview asks the venue before it answers, ms. */
const PREVIEWED_MS = 60_000

/** Sends it; where it is confirmed, its preview is shown first. Throws CommandError. */
export async function sendRow(call: Call, name: CommandName, line: CommandLine): Promise<number> {
  const row: CommandRow = commandRows[name]
  const { flags, loaded, out, err } = call
  const { path, body } = requestOf(call, row, line)
  const send = (more: object) =>
    commandAnswer(loaded, path, { ...body, ...more }, row.preview === undefined ? undefined : PREVIEWED_MS)
  const isJson = flags.has('json')
  const isAsked = line.flags.some(({ name }) => name === 'yes') && row.preview !== undefined
  if (isAsked && line.asksNoScript === true) {
    const preview = async () => {
      const { statement, isLooser = false } = await send({ preview: true })
      return { text: ended(statement), isLooser }
    }
    if (!(await isAgreed(call, preview, flags.has('stop-loss')))) return exitCodes.error
  } else if (isAsked && !flags.has('yes')) {
    if (!isatty(0))
      throw new CommandError(
        'No terminal to confirm it; nothing was sent. To send it: --yes',
        exitCodes.error,
      )
    const show = isJson ? err : out
    show(ended((await send({ preview: true })).statement))
    if (!(await confirm())) {
      show('Nothing was sent.')
      return exitCodes.error
    }
  }
  const { statement } = await send(flags.has('dry-run') ? { preview: true } : {})
  out(isJson ? JSON.stringify({ statement }) : ended(statement))
  return exitCodes.ok
}

/** The path and the body of what was typed. Throws CommandError. */
export function requestOf(
  call: Call,
  row: ReadRow,
  { flags: known, positional, more = [] }: CommandLine,
): { readonly path: string; readonly body: Readonly<Record<string, unknown>> } {
  const { flags, positionals } = call
  const needed = known.find(
    ({ name, isNeeded }) => isNeeded === true && String(flags.get(name) ?? '').trim() === '',
  )
  if (needed !== undefined)
    throw new CommandError(
      needed.name === 'by' ? 'Give your name: --by YOUR_NAME' : `--${needed.name} is missing: ${needed.doc}`,
      exitCodes.configuration,
    )
  const shape = row.body instanceof z.ZodObject ? row.body.shape : {}
  const body: Record<string, unknown> = {}
  const given = [...(positional === undefined ? [] : [positional]), ...more]
  for (const [at, { name, field = name }] of given.entries()) {
    if (positionals[at] !== undefined) body[field] = positionals[at]
  }
  for (const flag of known) {
    const field = fieldOf(flag.name)
    const schema = shape[field]
    if (schema !== undefined && flags.has(flag.name)) body[field] = typedValue(flags, flag, schema, field)
  }
  if ('id' in shape) body.id = idOf(flags)
  const { [namedIn(row.route) ?? '']: subject = '', ...fields } = body
  return {
    path: row.route.replace(/:\w+/, encodeURIComponent(String(subject))),
    body: { ...fields, by: commander(call) },
  }
}

/** `--stop-loss` gives the field `stopLoss`. */
export function fieldOf(flag: string): string {
  return flag.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/** The value of a flag as its field has it. Throws CommandError where it does not fit. */
export function typedValue(
  flags: Call['flags'],
  { name, value }: OwnFlag,
  schema: z.core.$ZodType,
  field: string,
): unknown {
  if (value === undefined) return true
  const bare = innermost(schema)
  const typed = z.globalRegistry.get(bare)?.typed as Typed | undefined
  if (typed === 'dollars') return dollarsFlag(flags, name)
  if (typed === 'place') return placeFlag(flags, name)
  if (typed === 'times') return timesFlag(flags, name)
  if (typed === 'timesBps') return Number(parseUnits(timesFlag(flags, name) ?? '1', 4))
  if (typed === 'percent') return percentFlag(flags, name)
  if (!(bare instanceof z.ZodNumber)) return flags.get(name)
  const [, unit] = /(minutes|seconds)$/i.exec(field) ?? []
  return wholeFlag(flags, name, {
    least: Number(bare.minValue),
    most: Number(bare.maxValue),
    ...defined({ unit: unit === undefined ? undefined : ` of ${unit.toLowerCase()}` }),
  })
}

/** The schema of a field without its default, and without its being optional. */
function innermost(schema: z.core.$ZodType): z.core.$ZodType {
  const { def } = schema._zod
  if ('innerType' in def) return innermost(def.innerType as z.core.$ZodType)
  return 'in' in def ? innermost(def.in as z.core.$ZodType) : schema
}
