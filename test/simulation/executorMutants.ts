/** Bugs of tasks that make orders over time: each must be caught by the whole daemon's tier. */
import type { FirstMutant } from './mutants.ts'

function bug(name: string, firstSeed: number, file: string, find: string, replace: string): FirstMutant {
  return { name, tier: 'engine', firstSeed, patches: [{ file, find, replace }] }
}

const workers = 'src/running/executors.ts'
const step = 'src/tasks/executorStep.ts'

/** All of them. */
export const executorMutants: readonly FirstMutant[] = [
  bug(
    'a task forgets what it made before the start',
    10,
    workers,
    'if (made !== undefined) children.push(made)',
    `const born = ((journal as { bornMs?: number }).bornMs ??= clock.now())
      if (made !== undefined && made.intent.acceptedAtMs >= born) children.push(made)`,
  ),
  bug(
    'the budget of orders counts the next one alone',
    10,
    step,
    'if (use.orders + orders > budget.orders) {',
    'if (orders > budget.orders) {',
  ),
  bug(
    'a task ends while an order of it is on its way',
    47,
    step,
    'if (leaving.length === 0 && use.moving === 0) {',
    'if (use.moving >= 0) {',
  ),
]
