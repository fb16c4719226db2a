/** The set of instances as a value, and its next state when strategy files are read anew. Pure. */
import type { FieldChange, OnRemove } from '../../domain/accountRecords/strategyEntry.ts'
import { changedFields, livesOf } from '../../strategy/files/fileLife.ts'
import { fileSchema } from '../../strategy/files/fileSchema.ts'
import type { LoadedStrategy, LoadResult } from '../../strategy/files/load.ts'

/** An instance whose file differs from the running one. */
export interface ChangedStrategy {
  readonly was: LoadedStrategy
  readonly now: LoadedStrategy
  /** Never empty. */
  readonly fields: readonly FieldChange[]
}

/** Result of reading the files anew. */
export interface RosterPlan {
  readonly added: readonly LoadedStrategy[]
  readonly changed: readonly ChangedStrategy[]
  /**
   * Strategies changed in a field that needs a restart: the whole file waits, except for limits, which have a separate rule. Half of a file would be
   * a strategy that nobody wrote.
   */
  readonly waiting: readonly ChangedStrategy[]
  /** Those that run, and whose file says `enabled: false`. */
  readonly disabled: readonly LoadedStrategy[]
  /** Those that run, and whose file is gone. */
  readonly removed: readonly LoadedStrategy[]
  /** Strategies that were read and are not needed: the same ones run already, or they wait. */
  readonly spare: readonly LoadedStrategy[]
}

/** Compares the running strategies with the files; `files` have no problem. */
export function planRoster(running: readonly LoadedStrategy[], files: LoadResult): RosterPlan {
  const before = new Map(running.map((each) => [each.name, each]))
  const after = new Map(files.strategies.map((each) => [each.name, each]))
  const both = files.strategies.flatMap((now): readonly ChangedStrategy[] => {
    const was = before.get(now.name)
    if (was === undefined) return []
    return [{ was, now, fields: [...changedFields(was.written, now.written), ...changedSource(was, now)] }]
  })
  const differ = both.filter(({ fields }) => fields.length > 0)
  const waiting = differ.filter(({ fields }) => fields.some(needsRestart))
  const gone = running.filter(({ name }) => !after.has(name))
  return {
    added: files.strategies.filter(({ name }) => !before.has(name)),
    changed: differ.filter((each) => !waiting.includes(each)),
    waiting,
    disabled: gone.filter(({ name }) => files.disabled.includes(name)),
    removed: gone.filter(({ name }) => !files.disabled.includes(name)),
    spare: [...both.filter(({ fields }) => fields.length === 0), ...waiting].map(({ now }) => now),
  }
}

/** A difference between the running strategies and the files, for people. */
export interface StrategyDifference {
  readonly strategy: string
  /** As it was reached; of one that is gone, as it was. */
  readonly file: string
  /** `waiting`: for a restart. */
  readonly change: 'added' | 'changed' | 'waiting' | 'disabled' | 'removed'
  /** Field changes, in `changed` and `waiting` alone. */
  readonly fields: readonly FieldChange[]
  readonly onRemove: OnRemove
}

/** All differences of a plan. */
export function differencesOf(plan: RosterPlan): readonly StrategyDifference[] {
  const whole =
    (change: StrategyDifference['change']) =>
    ({ name, path, onRemove }: LoadedStrategy) => ({
      strategy: name,
      file: path,
      change,
      fields: [],
      onRemove,
    })
  const byField =
    (change: StrategyDifference['change']) =>
    ({ now, fields }: ChangedStrategy) => ({
      ...whole(change)(now),
      fields,
    })
  return [
    ...plan.added.map(whole('added')),
    ...plan.changed.map(byField('changed')),
    ...plan.waiting.map(byField('waiting')),
    ...plan.disabled.map(whole('disabled')),
    ...plan.removed.map(whole('removed')),
  ]
}

/** Tells whether nothing would be taken over. */
export function isIdle({ added, changed, disabled, removed }: RosterPlan): boolean {
  return added.length + changed.length + disabled.length + removed.length === 0
}

/** Describes a change: `size.usd 250 -> 300`. */
export function fieldText({ field, from = 'not set', to = 'not set' }: FieldChange): string {
  return `${field} ${from} -> ${to}`
}

/** The program of a kind of the user's own, which changes without its YAML file. */
function changedSource(was: LoadedStrategy, now: LoadedStrategy): readonly FieldChange[] {
  const [from, to] = [was.hosted?.sourceHash, now.hosted?.sourceHash]
  // A kind that is another one is a change of `kind`.
  if (from === undefined || to === undefined || from === to) return []
  return [{ field: now.hosted?.path ?? 'kind', from: from.slice(0, 8), to: to.slice(0, 8) }]
}

const lives = livesOf(fileSchema)

function needsRestart({ field }: FieldChange): boolean {
  return lives.get(field.split('.')[0] ?? field) === 'restart'
}
