/**
 * The row of an operator's command, one file each in `commands/`: its body, its preview, its work and its words. The route of the control port, the
 * command of the command line, the form of the console and the reference pages derive from it.
 */

import type { z } from 'zod'
import type { Commander } from '../domain/accountRecords/tradingState.ts'
import type { CommandLine } from './commandLine.ts'
import type { OperatorAnswer } from './operatorAnswer.ts'
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

/** A field of a form in the console; its value is a text. */
export interface FormField {
  /** Name of the field in the form, and in the body where `gives` names no other. */
  readonly name: string
  readonly gives?: string
  readonly label: string
  /** Value at the beginning; empty where absent. */
  readonly value?: string
  readonly hint?: string
  readonly choices?: readonly { readonly value: string; readonly label: string }[]
  /** It is left out of the body while it is empty. */
  readonly isOptional?: true
  readonly isNumber?: true
  /** Most characters. */
  readonly most?: number
  /**
   * Form of the value in the body; absent: a text. `loosen`: true once that word was typed. `reduce`: `reduce` is true once that word was chosen, and
   * no leverage is given then. `own`: true once that word was chosen. `weights`: percents by market.
   */
  readonly as?: 'percent' | 'whole' | 'loosen' | 'reduce' | 'own' | 'weights'
}

/** A form of the console that sends a command. In its texts `{name}` stands for what the page knows of its subject. */
export interface CommandForm {
  readonly title: string
  /** Effects of the command, a sentence each. */
  readonly effects: readonly string[]
  readonly fields?: readonly FormField[]
  /** Fields of the body that the form gives itself. */
  readonly body?: Readonly<Record<string, unknown>>
  /** Words on the button that sends it. */
  readonly send: string
  /** Word that must be typed before it can be sent. */
  readonly typed?: string
  readonly isDanger?: true
  /** `first`: the preview must be seen before it is sent. `meanwhile`: the preview is shown, and nobody waits for it. */
  readonly preview?: 'first' | 'meanwhile'
  /** The section of the page that has a button for it; absent: the page places it itself. */
  readonly place?: 'limits' | 'strategies' | 'tasks'
  /** Words on that button. */
  readonly button?: string
}

/** The reason in a form. */
export const reasonField: FormField = { name: 'reason', label: 'Reason', isOptional: true, most: 200 }

/** Words of a form that applies what is tighter at once. */
interface TighteningWords {
  readonly title: string
  readonly button: string
  readonly send: string
  readonly place: 'limits' | 'strategies'
  /** A sentence. */
  readonly effect: string
}

/** The form of a command that applies what is tighter at once, and with `isLoosening` what is looser too, which is typed out to confirm it. */
export function tighteningForm({ effect, ...words }: TighteningWords, isLoosening = false): CommandForm {
  return {
    ...words,
    effects: [effect, ...(isLoosening ? ['Looser limits apply too: more may be lost from then on.'] : [])],
    body: { confirm: isLoosening },
    ...(isLoosening ? { typed: 'loosen' } : {}),
    preview: 'first',
  }
}

/** One command. `Command` holds its fields; `Context` is what it works on: an account, but for the commands of a fleet. */
export interface CommandRow<Command extends AnyCommand = AnyCommand, Context = OperatorContext> {
  /** Its name in the journal. */
  readonly type: Command['type']
  /** Path of its POST; `:intentId` is a field of the command. The role of every POST is `operate`. */
  readonly route: `/api/${string}`
  /** Fields of its body besides `by`, and besides `preview` where it has one. Unknown fields are refused. */
  readonly body: z.ZodType<object>
  /** Fields that the route itself gives. */
  readonly fixed?: Partial<Command>
  /** Shows its effects. Absent: it has no preview. */
  preview?(context: Context, command: Command, commander: Commander): Promise<OperatorAnswer>
  /** Carries it out. Throws what reading and the journal throw. */
  run(context: Context, command: Command, commander: Commander): Promise<OperatorAnswer>
  /** It writes its own records, and nothing where nothing changes. Absent: the command is recorded before it is carried out. */
  readonly isRecordedByItself?: true
  /** It is confirmed or shown, not both at once. */
  readonly isConfirmedOrPreviewed?: true
  /** A body, and further facts, for docs/reference/control-api.md. */
  readonly api: { readonly example: object; readonly note?: string }
  /** Forms of the console that send it, by their names in the page. */
  readonly forms?: Readonly<Record<string, CommandForm>>
  /** Commands of the command line that send it. */
  readonly cli: readonly CommandLine[]
}

/** A row of any context: its body, route and words. */
export type ReadRow = CommandRow<AnyCommand, never>

/** The name of the field that a route names; undefined: none. */
export function namedIn(route: string): string | undefined {
  return /:(\w+)/.exec(route)?.[1]
}
