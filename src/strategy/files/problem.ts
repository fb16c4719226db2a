/** Problems of strategy files, each with file, line and column. */
import { defined } from '../../base/defined.ts'
import { BaseError } from '../../base/errors.ts'

/** A place in a file, both from 1. */
export interface Place {
  readonly line: number
  readonly column: number
}

/** One thing wrong with a strategy file or folder; the instance does not run until it is mended. */
export class StrategyFileError extends BaseError {
  /** Path of the file or folder, as it was reached. */
  readonly file: string
  readonly place: Place | undefined
  /** Dotted field, `size.usd`; absent when the whole file is meant. */
  readonly field: string | undefined

  constructor(problem: {
    readonly file: string
    readonly place?: Place | undefined
    readonly field?: string | undefined
    /** Description of the problem, as the end of a sentence that begins with the field or the file. */
    readonly what: string
    /** The offending value; shown as JSON, cut at 80 characters. */
    readonly value?: unknown
    readonly expected?: string | undefined
    readonly fix: string
    readonly cause?: unknown
  }) {
    const { file, place, field } = problem
    const where = place === undefined ? file : `${file}:${place.line}:${place.column}`
    const end = /[.?!]$/.test(problem.what) ? '' : '.'
    super(`${where}: ${field === undefined ? '' : `${field} `}${problem.what}${end}`, {
      code: 'STRATEGY_FILE_INVALID',
      facts: { field, value: shown(problem.value), expected: problem.expected },
      details: `fix: ${problem.fix}`,
      ...defined({ cause: problem.cause }),
    })
    this.file = file
    this.place = place
    this.field = field
  }
}

/** Reason why a file is not trusted: somebody else on this machine can change it. */
export interface Distrust {
  /** A whole clause, as `every user of this machine may write /srv/open`. */
  readonly what: string
  readonly fix: string
}

/** Returns the problem of a file that is not read, because it decides about trades and somebody else can change it. */
export function distrustProblem(file: string, { what, fix }: Distrust): StrategyFileError {
  return new StrategyFileError({ file, what: `not read: ${what}`, fix })
}

function shown(value: unknown): string | undefined {
  if (value === undefined) return undefined
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 80 ? `${text.slice(0, 79)}…` : text
}
