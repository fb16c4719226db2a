/** Bugs around the exits of strategy files, their protections and their reload: each must be caught by the whole daemon's tier. */
import type { FirstMutant } from './mutants.ts'

type Patch = readonly [file: string, find: string, replace: string]

function bug(name: string, firstSeed: number, ...patches: readonly Patch[]): FirstMutant {
  return {
    name,
    tier: 'engine',
    isLively: true,
    firstSeed,
    patches: patches.map(([file, find, replace]) => ({ file, find, replace })),
  }
}

const keeper = 'src/domain/exitKeeper.ts'
const part = 'src/exits/ownPartFacts.ts'
const plan = 'src/exits/filePlan.ts'
const sync = 'src/exits/syncExits.ts'
const judge = 'src/engine/judging/judgeDecision.ts'
const reload = 'src/operator/reloadStrategies.ts'

/** All of them. */
export const exitMutants: readonly FirstMutant[] = [
  bug('exits are as large as the whole position', 2, [
    part,
    'const ownUsd = minOf(part.sizeUsd, position.sizeInUsd)',
    'const ownUsd = position.sizeInUsd',
  ]),
  bug('a stop-loss is moved away from profit', 1, [
    plan,
    'if (!isNearer(direction, level, triggerPrice)) return undefined',
    'if (level === triggerPrice) return undefined',
  ]),
  bug('a stop-loss that was lost is placed anew at the first distance', 16, [
    plan,
    'const most = mostProtective(direction, [byFile, reached])',
    'const most = byFile',
  ]),
  bug('an exit is placed again while the first one is on its way', 4, [
    part,
    'if (isOnTheWay || isUnlisted || own.some(({ isChanging }) => isChanging)) return undefined',
    'if (own.some(({ isChanging }) => isChanging)) return undefined',
  ]),
  bug(
    'an entry comes before what another exit left over is cancelled',
    2,
    [sync, 'return [...leftOvers(kept), ...', 'return [...[], ...'],
    [judge, "return decision.kind === 'increase' && exits !== undefined", "return decision.kind === 'swap'"],
  ),
  bug('a stop-loss that is missing is not placed', 8, [
    keeper,
    'if (levels.length === 0 || !isWorth) return []',
    "if (levels.length === 0 || !isWorth || type === 'stop-loss') return []",
  ]),
  bug('a cooldown is kept in memory alone', 2, [
    'src/account/watch/lookAtAccount.ts',
    'settledTrack(journal.books(), name, parts.aheadStamps)',
    `((given) => ({
            ...given,
            exitsMs: new Map(
              [...given.exitsMs].filter(
                ([, atMs]) => atMs >= ((journal as { bornMs?: number }).bornMs ??= parts.execution.clock.now()),
              ),
            ),
          }))(settledTrack(journal.books(), name, parts.aheadStamps))`,
  ]),
  bug('stops are not counted', 2, [
    'src/books/bookMoves.ts',
    'isStop: isStop(state, child) ? true : undefined',
    'isStop: isStop(state, child) ? undefined : undefined',
  ]),
  bug('a file that went while perpd was down ends nothing', 6, [
    reload,
    'ends === undefined || running.has(strategy) ? [] :',
    'ends === undefined || running.size >= 0 ? [] :',
  ]),
  bug('a reload takes over half of the files', 19, [
    reload,
    'for (const { now, fields } of plan.changed) {',
    'for (const { now, fields } of plan.changed.slice(0, Math.ceil(plan.changed.length / 2))) {',
  ]),
  bug('a reload takes over files that are not valid', 11, [
    reload,
    'if (read.problems.length === 0) return read',
    'if (read.problems.length >= 0) return read',
  ]),
]
