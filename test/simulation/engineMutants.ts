/** Bugs of the engine and of risk, as patches of the source text: each must be caught by the whole daemon's tier. */
import { executorMutants } from './executorMutants.ts'
import { exitMutants } from './exitMutants.ts'
import type { FirstMutant } from './mutants.ts'

function one(name: string, firstSeed: number, file: string, find: string, replace: string): FirstMutant {
  return { name, tier: 'engine', hasPrices: false, firstSeed, patches: [{ file, find, replace }] }
}

const judge = 'src/engine/judging/judgeDecision.ts'
const book = 'src/risk/exposure/accountExposure.ts'
const room = 'src/risk/exposure/availableCapacity.ts'
const trading = 'src/account/halts/tradingHalts.ts'

/** Worlds whose processes end where something was just written. */
const lively = { hasPrices: true, isLively: true } as const

/** All of them. */
export const engineMutants: readonly FirstMutant[] = [
  one(
    'the reservation is not counted in admission',
    9,
    book,
    'reservedUsd: side.reservedUsd + reservedUsdOf(state, snapshot, journal),',
    'reservedUsd: side.reservedUsd,',
  ),
  one(
    'ticks of one moment share a room',
    16,
    'src/engine/judging/accept.ts',
    'const next = turn.then(work)',
    'const next = work()',
  ),
  one(
    'a halt is kept in memory alone',
    4,
    'src/account/halts/accountJournal.ts',
    'await journal.appendAccount(record)',
    "if (record.kind !== 'trading.state') await journal.appendAccount(record)",
  ),
  one(
    'the hourly budget is counted in memory alone',
    91,
    judge,
    'strategy: (accepted.strategies.get(name) ?? 0) + pending.length,',
    'strategy: orders.open.filter(({ intent }) => intent.strategy === name).length,',
  ),
  one(
    'the budget of a cause forgets what ended before the start',
    40,
    'src/account/watch/lookAtAccount.ts',
    'journal.endingsSince(nowMs - dayMs),',
    'journal.endingsSince(nowMs - dayMs).filter(({ cause }) => cause !== cause),',
  ),
  one(
    'the room is taken from the legacy field',
    3,
    'src/api/rows/capacityRow.ts',
    "availableLiquidity: usd30(fields.availableLiquidity, 'availableLiquidity'),",
    "availableLiquidity: usd30(fields.availableLiquidityLong ?? fields.availableLiquidity, 'availableLiquidity'),",
  ),
  one(
    'JIT liquidity counts whatever its status is',
    1,
    room,
    "capacity.jitDataStatus === 'available' ?",
    "capacity.jitDataStatus !== 'unrecognised' ?",
  ),
  one('no headroom is left', 6, room, 'capacityUsd - headroomUsd - side', 'capacityUsd - side'),
  one(
    'a lifted hold forgets what it was lifted for',
    280,
    'src/domain/accountRecords/tradingState.ts',
    'const lifted = { ...fold, halts: others, releasedAtMs: { ...fold.releasedAtMs, [key]: atMs } }',
    'if (haltKey(entry) === key) return { ...fold, halts: others }\n        const lifted = fold',
  ),
  one(
    'what was accepted before a halt is signed after it',
    292,
    trading,
    'if (intent.strategy === OPERATOR && !intentAddsRisk(intent)) return undefined',
    "if (intent.strategy !== '') return undefined",
  ),
  {
    name: 'a hold on one strategy reaches none',
    tier: 'engine',
    hasPrices: false,
    firstSeed: 10,
    patches: [
      {
        file: trading,
        find: 'const haltOn = (strategy?: string) => strictest(haltsOn(halts(), strategy))',
        replace:
          "const haltOn = (strategy?: string) => strictest(haltsOn(halts(), strategy === undefined ? undefined : ''))",
      },
      {
        file: judge,
        find: 'strictest(haltsOn(standstills.halts, name))',
        replace: "strictest(haltsOn(standstills.halts, ''))",
      },
    ],
  },
  one(
    'a discrepancy is reported at every pass',
    1,
    'src/domain/accountRecords/reconcile.ts',
    'if ((known !== undefined && !isBack) || met.has(discrepancyId)) return false',
    'if (met.has(discrepancyId)) return false',
  ),
  one(
    'a kill is done while orders are in flight',
    36,
    'src/tasks/killTask.ts',
    'orders + positions + inFlight + left.notFinal === 0',
    'orders + positions + left.notFinal === 0',
  ),
  one(
    'a breaker that lifts itself does not',
    2,
    'src/risk/breakers/circuitBreakers.ts',
    'return !trips.some((trip) => haltKey(trip) === haltKey(halt))',
    'return trips.length > 9 && haltKey(halt) === undefined',
  ),
  one(
    'a step of a task is written after the commit of its decision',
    4,
    'src/execution/takeEvents.ts',
    '      beside,\n    )',
    '      () => Promise.resolve().then(beside),\n    )',
  ),
  one(
    'the key of a decision is not made of its task',
    67,
    'src/tasks/taskKind.ts',
    'childKeyOf(taskId: string, step: string | number): string {',
    'childKeyOf(whole: string, step: string | number): string {\n  const taskId = whole.slice(0, 4)',
  ),
  one(
    'the end of a task is kept in memory alone',
    8,
    'src/account/halts/accountJournal.ts',
    'await journal.appendAccount(record)',
    "if (record.kind !== 'task.ended') await journal.appendAccount(record)",
  ),
  one(
    'a task takes a step that it does not write down',
    4,
    'src/tasks/taskRunner.ts',
    'child.decisionKey, () => write(changed))',
    'child.decisionKey, async () => void changed)',
  ),
  one(
    'a memory is written before what it remembers is accepted',
    2,
    'src/execution/takeEvents.ts',
    'const written = context.journal.appendTogether([...records, ...beside])',
    'await context.journal.appendTogether(beside)\n    const written = context.journal.appendTogether(records)',
  ),
  {
    ...one(
      'a memory is written after the commit of its acceptances',
      13,
      'src/execution/takeEvents.ts',
      'const written = context.journal.appendTogether([...records, ...beside])',
      'const written = context.journal.appendTogether(records).finally(() => context.journal.appendTogether(beside))',
    ),
    ...lively,
  },
  one(
    'a fill is told twice',
    2,
    'src/journal/ownEventLists.ts',
    'events: events.filter(({ seq }) => seq > record.throughSeq),',
    'events: events.filter(({ seq }) => seq >= record.throughSeq),',
  ),
  one(
    'a strategy goes on with the memory that its process began with',
    2,
    'src/account/halts/accountJournal.ts',
    'if (isWritten) state = records.reduce(applyAccountRecord, state)',
    "if (isWritten) state = records.filter(({ kind }) => kind !== 'strategy.remembered').reduce(applyAccountRecord, state)",
  ),
  one(
    'what a turn was denied is not kept',
    2,
    'src/engine/turn.ts',
    'const kept = { strategyKind: strategy.kind, version, memory, tickMs, throughSeq, denied }',
    'const kept = { strategyKind: strategy.kind, version, memory, tickMs, throughSeq, denied: denied.slice(9) }',
  ),
  one(
    'a fill that the chain took back stays told',
    4,
    'src/domain/accountRecords/ownEventsOf.ts',
    "events.push(told('unfilled', filled))",
    "events.push(told('filled', filled))",
  ),
  ...exitMutants,
  ...executorMutants,
]
