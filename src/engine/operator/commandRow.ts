/**
 * The row of an operator's command, one file each in `commands/`: its body, its preview, its work and its words. The route of the control port, the
 * command of the command line, the form of the console and the reference pages derive from it.
 */
import type { z } from 'zod'
import type { CommandLine } from './commandLine.ts'
import type { Commander, OperatorAnswer } from './operatorAnswer.ts'
import type { OperatorContext } from './operatorContext.ts'

/** A command of any row. */
export interface AnyCommand {
  readonly type: string
  /** True for a preview: nothing changes, and nothing is written. */
  readonly isPreview?: boolean
}

type Flat<T> = { readonly [Name in keyof T]: T[Name] }
/** `confirm` of a body is `isConfirmed` in code. A body without fields adds none. */
type Confirmed<Fields> = Fields extends { confirm: boolean }
  ? Omit<Fields, 'confirm'> & { readonly isConfirmed: boolean }
  : Fields extends Record<string, never>
    ? unknown
    : Fields

/** The command of a row: the fields of its body, and those that its path names. */
export type CommandOf<Type extends string, Body extends z.ZodType, Named extends string = never> =
  z.output<Body> extends infer Fields
    ? Fields extends object
      ? Flat<
          { readonly type: Type; readonly isPreview?: boolean } & Confirmed<Fields> & Record<Named, string>
        >
      : never
    : never

/** One command. `Command` holds its fields. */
export interface CommandRow<Command extends AnyCommand = AnyCommand> {
  /** Its name in the journal. */
  readonly type: Command['type']
  /** Path of its POST; `:intentId` is a field of the command. The role of every POST is `operate`. */
  readonly route: `/api/${string}`
  /** Fields of its body besides `by`, and besides `preview` where it has one. Unknown fields are refused. */
  readonly body: z.ZodType<object>
  /** Fields that the route itself gives. */
  readonly fixed?: Partial<Command>
  /** Shows its effects. Absent: it has no preview. */
  preview?(context: OperatorContext, command: Command, commander: Commander): Promise<OperatorAnswer>
  /** Carries it out. Throws what reading and the journal throw. */
  run(context: OperatorContext, command: Command, commander: Commander): Promise<OperatorAnswer>
  /** It writes its own records, and nothing where nothing changes. Absent: the command is recorded before it is carried out. */
  readonly isRecordedByItself?: true
  /** It is confirmed or shown, not both at once. */
  readonly isConfirmedOrPreviewed?: true
  /** A body, and further facts, for docs/reference/control-api.md. */
  readonly api: { readonly example: object; readonly note?: string }
  /** Commands of the command line that send it. */
  readonly cli: readonly CommandLine[]
}

/** The name of the field that a route names; undefined: none. */
export function namedIn(route: string): string | undefined {
  return /:(\w+)/.exec(route)?.[1]
}
