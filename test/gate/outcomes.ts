/** A reporter that writes how each test file ended, and if a test of it needed a second attempt, to the file that GATE_OUTCOMES names. */
import { writeFileSync } from 'node:fs'
import { relative, sep } from 'node:path'
import type { Reporter, TestModule } from 'vitest/node'

/** The end of one test file. */
export interface Outcome {
  readonly file: string
  /** True: every test passed, and each at its first attempt. */
  readonly isClean: boolean
  /** Seconds of the clock. */
  readonly seconds: number
  /** Seconds of processors, its child processes included; for a file that did not come to its tests the clock's. */
  readonly processor: number
}

export default class Outcomes implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const path = process.env.GATE_OUTCOMES
    if (path === undefined) return
    const outcomes = modules.map((module): Outcome => {
      const tests = [...module.children.allTests()]
      const durationMs = module.diagnostic().duration
      return {
        file: relative(process.cwd(), module.moduleId).split(sep).join('/'),
        isClean:
          module.state() === 'passed' &&
          tests.every(
            (test) => test.result().state !== 'failed' && (test.diagnostic()?.retryCount ?? 0) === 0,
          ),
        seconds: Math.round(durationMs / 1_000),
        processor: Math.round((module.meta().processorMs ?? durationMs) / 1_000),
      }
    })
    writeFileSync(path, JSON.stringify(outcomes))
  }
}
