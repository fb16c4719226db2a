/** Findings of the checks of `perpd doctor`, and the longest time that a check may take. */
import { BaseError } from '../../base/errors.ts'
import { systemClock } from '../../base/systemClock.ts'
import { CommandError } from '../../config/exit.ts'
import { span } from '../../monitor/text.ts'

/** Severity of a finding. */
export type Level = 'pass' | 'warn' | 'fail'

/** One line of the report. */
export interface Finding {
  /** Subject of the check: `disk`, `host api.example`. */
  readonly check: string
  readonly level: Level
  readonly statement: string
  /** Action to take; absent when there is nothing to do. */
  readonly remedy?: string
}

/** Longest a check may take, ms; what it asks has shorter limits of its own. */
const CHECK_MS = 15_000

/** A finding that is as it should be. */
export function pass(check: string, statement: string): Finding {
  return { check, level: 'pass', statement }
}

/** A finding that works and could be better. */
export function warn(check: string, statement: string, remedy: string): Finding {
  return { check, level: 'warn', statement, remedy }
}

/** A finding with which perpd would not run, or not trade. */
export function fail(check: string, statement: string, remedy: string): Finding {
  return { check, level: 'fail', statement, remedy }
}

/** The worst of the levels; `pass` of none. */
export function worstOf(findings: readonly Finding[]): Level {
  const has = (level: Level): boolean => findings.some((each) => each.level === level)
  return has('fail') ? 'fail' : has('warn') ? 'warn' : 'pass'
}

/**
 * Runs one check to its end or to its time. A fault of what is looked at is a finding; a mistake of ours is thrown.
 *
 * @param remedy for a fault that brings none, and for a check that did not end.
 */
export async function bounded(
  check: string,
  remedy: string,
  work: () => Promise<readonly Finding[]> | readonly Finding[],
  limitMs = CHECK_MS,
): Promise<readonly Finding[]> {
  const timer = new AbortController()
  const late = systemClock
    .sleep(limitMs, timer.signal)
    .then(() => [fail(check, `no answer within ${span(limitMs)}`, remedy)])
  try {
    return await Promise.race([Promise.resolve().then(work), late])
  } catch (error) {
    return [faultFinding(check, error, remedy)]
  } finally {
    timer.abort('answered')
  }
}

/** A fault as a finding: its sentence and facts, and its own advice where it has some. Throws what is no fault. */
export function faultFinding(check: string, error: unknown, remedy: string): Finding {
  if (error instanceof BaseError) {
    const facts = Object.entries(error.facts).flatMap(([name, value]) =>
      value === undefined ? [] : [`${name} ${String(value)}`],
    )
    return fail(
      check,
      [error.shortMessage, facts.join(', ')].filter(Boolean).join(' '),
      error.details ?? remedy,
    )
  }
  if (error instanceof CommandError) {
    const [statement = '', ...advice] = error.message.split('\n').map((line) => line.trim())
    return fail(check, statement, advice.length === 0 ? remedy : advice.join(' '))
  }
  if (error instanceof Error && 'syscall' in error) return fail(check, error.message, remedy)
  throw error
}
