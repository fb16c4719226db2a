/**
 * Strategy files that are taken over while perpd runs: read and checked whole, then each change between two turns of its instance,
 * journaled before it holds. With anything wrong in any file nothing changes.
 */

import { resolve } from 'node:path'
import type { HasLimits, HasTrading } from '../account/accountParts.ts'
import type { ConfiguredLimits } from '../account/limitsInForce.ts'
import { type AppliedChange, changeText, type WaitingLimit, waitingLimits } from '../account/liveLimits.ts'
import { recordLimits } from '../account/recordedLimits.ts'
import { BaseError, reasonOf } from '../base/errors.ts'
import type { FieldChange, OnRemove } from '../domain/accountRecords/strategyEntry.ts'
import type { Commander } from '../domain/accountRecords/tradingState.ts'
import type { Instances } from '../engine/roster/instances.ts'
import {
  type ChangedStrategy,
  differencesOf,
  fieldText,
  isIdle,
  planRoster,
  type RosterPlan,
} from '../engine/roster/rosterPlan.ts'
import { setField } from '../engine/roster/setField.ts'
import type { HasEmit } from '../execution/context/executionParts.ts'
import type { WindDown } from '../running/windDown.ts'
import { changedFields } from '../strategy/files/fileLife.ts'
import { closeStrategies, type LoadedStrategy, type LoadResult } from '../strategy/files/load.ts'
import type { OperatorAnswer } from './operatorAnswer.ts'

/** Source of strategy files. */
export interface StrategyFiles {
  /** Reads and checks all of them, against the markets of the venue too; `texts` stand in the place of files, by path. Throws BaseError when they cannot be looked for. */
  read(texts?: ReadonlyMap<string, string>): Promise<LoadResult>
  /** Reads the present content of a file. Throws what the file system throws. */
  textOf(file: string): string
  /** Replaces a file's text, or writes a new file, whole or not at all. Throws what the file system throws. */
  replace(file: string, text: string): void
  /** Copies in which changes of files are written that ship with perpd; absent: there are none. */
  readonly copies?: {
    copyOf(file: string): string | undefined
    inPlaceOf(file: string): string
  }
  /** Tells whether a file is gone while its folder exists: a missing folder says nothing about its files. */
  isGone(file: string): boolean
}

/** Dependencies of a reload. */
export interface ReloadContext extends HasEmit, HasLimits, HasTrading {
  readonly files?: StrategyFiles
  readonly instances: Instances
  readonly windDown: WindDown
  /** False before the engine runs, and once it stops. */
  readonly isRunning: () => boolean
}

/** A change of one field in the file of a strategy. */
interface FieldChangeWish {
  readonly strategy: string
  /** Dotted: `params.fastCandles`. */
  readonly field: string
  /** As it is written in the file. */
  readonly value: string
  /** Written value that the requester expects in the file: another value is not overwritten. Absent: any value. */
  readonly was?: string
  /** True if looser limits take effect too. */
  readonly isConfirmed: boolean
  readonly isPreview?: boolean
}

/** The reload of strategy files. */
export interface Reloaded {
  /** Applies the content of the files, one reading after the other. Throws what the journal throws. */
  carryOut(
    asked: { readonly isConfirmed: boolean; readonly isPreview?: boolean },
    by: Commander,
  ): Promise<OperatorAnswer>
  /** Changes one field in the file of a strategy that runs or is switched off, and takes it over. Refuses as `setField` does, and as taking over does. */
  set(asked: FieldChangeWish, by: Commander): Promise<OperatorAnswer>
  /**
   * Settles the roster at a start. A strategy of the previous run ends by its removal rule if its file is gone, and stays if its file switches it
   * off. A wind-down ends if its strategy runs again, and the removal rules of the files are recorded.
   */
  begin(): Promise<void>
}

/** Limits of an answer that wait for a confirmation. */
function waitingOf(answer: OperatorAnswer): readonly WaitingLimit[] {
  return answer.ok ? (answer.waiting ?? []) : []
}

const starter: Commander = { by: 'the start', via: 'cli' }

/** Makes it over the running set. */
export function createReload(context: ReloadContext): Reloaded {
  const { trading, limits, emit, instances, windDown, files } = context
  const { accountJournal } = trading
  let turn: Promise<unknown> = Promise.resolve()

  async function carryOut(
    { isConfirmed, isPreview = false }: Parameters<Reloaded['carryOut']>[0],
    commander: Commander,
    texts?: ReadonlyMap<string, string>,
  ): Promise<OperatorAnswer> {
    if (files === undefined)
      return { ok: false, code: 'STRATEGIES_FIXED', reason: 'this run cannot reload strategy files' }
    if (!context.isRunning()) {
      return {
        ok: false,
        code: 'NOT_READY',
        reason: 'perpd does not run its strategies yet; retry once it is ready',
      }
    }
    const read = await readWhole(files, texts)
    if ('ok' in read) return read
    const plan = planRoster(instances.strategies(), read)
    const ofFiles = limitsOf(read)
    const changes = limits.compare(ofFiles, isConfirmed)
    // Said before anything is done: afterwards the plan's instances are others.
    const statement = statementOf(plan, changes)
    const told = {
      strategies: differencesOf(plan),
      waiting: waitingLimits(changes.filter(({ isApplied }) => !isApplied)),
    }
    if (isPreview) {
      await closeStrategies(read.strategies)
      return {
        ok: true,
        statement: isNothing(plan, changes) ? statement : `${statement}; nothing is changed`,
        ...told,
      }
    }
    if (!isNothing(plan, changes))
      await accountJournal.write({ ...reloaded, detail: statement, ...commander })
    await closeStrategies(plan.spare)
    limits.replace(ofFiles, isConfirmed)
    await apply(plan, commander)
    await endAbsent(() => read.disabled, commander)
    if (!isIdle(plan) || changes.some(({ isApplied }) => isApplied)) await recordLimits(context, commander)
    return { ok: true, statement, ...told }
  }

  /** The change is tried with all files first: an invalid result is refused before it is written. */
  async function set(
    { strategy, field, value, was, isConfirmed, isPreview = false }: FieldChangeWish,
    commander: Commander,
  ): Promise<OperatorAnswer> {
    if (files === undefined)
      return { ok: false, code: 'STRATEGIES_FIXED', reason: 'this run cannot change strategy files' }
    const found = await fileOf(strategy, files)
    if (found === undefined)
      return {
        ok: false,
        code: 'STRATEGY_NOT_RUNNING',
        reason: `no strategy ${strategy} runs, and no disabled file has that name (perpd strategies)`,
      }
    const path = files.copies?.inPlaceOf(found) ?? found
    const place = files.copies?.copyOf(path) ?? path
    try {
      const changed = setField(files.textOf(path), field, value)
      if (!changed.ok) return changed
      if (was !== undefined && changed.was !== was) {
        const stands = changed.was === undefined ? 'is left out' : `is ${changed.was}`
        const reason = `${field} ${stands} in ${path} now, not ${was}; check it again`
        return { ok: false, code: 'FIELD_CHANGED', reason }
      }
      const tried = await carryOut(
        { isConfirmed, isPreview: true },
        commander,
        new Map([[path, changed.text]]),
      )
      if (!tried.ok || isPreview) return tried
      // Once written it would hold from the next start on, whoever starts it.
      const looser = isConfirmed ? [] : await madeLooser(tried, commander)
      if (looser.length > 0)
        return {
          ok: false,
          code: 'LIMIT_LOOSER',
          reason: `${path} is unchanged: ${looser.join(', ')} would be looser than the limits in force. To loosen it: perpd strategies set ${strategy} ${field} ${value} --confirm`,
        }
      files.replace(place, changed.text)
    } catch (error) {
      if (!(error instanceof Error) || !('syscall' in error)) throw error
      const reason = `${place} cannot be written, and ${path} is unchanged: ${reasonOf(error)}; change it by hand, or give perpd write access`
      return { ok: false, code: 'FILE_NOT_WRITTEN', reason }
    }
    const answer = await carryOut({ isConfirmed }, commander)
    if (!answer.ok || place === path) return answer
    const statement = `${answer.statement}; written to ${place}, a copy that runs instead of ${path}, which ships with perpd and is unchanged`
    return { ...answer, statement }
  }

  /** Limits that wait for a confirmation with a change that was tried, and do not without it. */
  async function madeLooser(tried: OperatorAnswer, commander: Commander): Promise<readonly string[]> {
    const before = await carryOut({ isConfirmed: false, isPreview: true }, commander)
    const known = new Set(waitingOf(before).map((each) => JSON.stringify(each)))
    return waitingOf(tried)
      .filter((each) => !known.has(JSON.stringify(each)))
      .map(({ scope, limit }) => `${limit} of ${scope}`)
  }

  /** The file of an instance that runs, or that its file switches off; a file that cannot be read keeps no other from being found. */
  async function fileOf(strategy: string, from: StrategyFiles): Promise<string | undefined> {
    const running = instances.strategies().find(({ name }) => name === strategy)
    if (running !== undefined) return running.path
    try {
      const { strategies, disabledFiles } = await from.read()
      await closeStrategies(strategies)
      return disabledFiles?.get(strategy)
    } catch (error) {
      if (!(error instanceof BaseError)) throw error
      return undefined
    }
  }

  /** The limits in force with those of the files: the account's own are another command's. */
  function limitsOf({ strategies }: LoadResult): ConfiguredLimits {
    const own = strategies.map(({ name, limits: ofFile }) => [name, ofFile])
    return { ...limits.current(), strategies: { ...limits.current().strategies, ...Object.fromEntries(own) } }
  }

  async function apply(plan: RosterPlan, { by }: Commander): Promise<void> {
    for (const { now, fields } of plan.changed) {
      await instances.replace(now, () => write(now, 'changed', fields, by))
    }
    for (const was of plan.disabled) {
      await instances.remove(was.name, () => writeDisabled(was, by))
      limits.run(was.name, undefined)
    }
    for (const { name, path, onRemove } of plan.removed) {
      const removal = { strategy: name, file: resolve(path), onRemove, fields: [], by }
      await instances.remove(name, () => windDown.remove(removal))
      limits.run(name, undefined)
      emit({ type: 'strategy.changed', change: 'removed', ...removal })
    }
    for (const loaded of plan.added) {
      await windDown.takeOver(loaded.name, by)
      await write(loaded, 'added', [], by)
      limits.run(loaded.name, loaded.limits)
      instances.add(loaded)
    }
  }

  function writeDisabled(was: Written, by: string): Promise<void> {
    const fields = [{ field: 'enabled', from: was.written.enabled ?? 'true', to: 'false' }]
    return write(was, 'disabled', fields, by)
  }

  async function write(
    { name, path, onRemove, written }: Written,
    change: 'added' | 'changed' | 'disabled',
    fields: readonly FieldChange[],
    by: string,
  ): Promise<void> {
    const told = { strategy: name, file: resolve(path), change, onRemove, fields, by }
    await accountJournal.write({ kind: 'strategy.changed', ...told, written })
    emit({ type: 'strategy.changed', ...told })
  }

  /**
   * The instances that ran by the journal while their removal was to do something, and do not run: the file went, or switched it off, while perpd was down
   * or did not look. Written down, neither is taken for the other later.
   */
  async function endAbsent(
    disabled: () => readonly string[] | Promise<readonly string[]>,
    { by }: Commander,
  ): Promise<void> {
    const running = new Set(instances.strategies().map(({ name }) => name))
    const kept = [...(accountJournal.state().strategies ?? [])]
    const absent = kept.flatMap(([strategy, { ends, written = {} }]) =>
      ends === undefined || running.has(strategy) ? [] : [{ strategy, ends, written }],
    )
    const isGone = ({ ends }: (typeof absent)[number]) => files?.isGone(ends.file) === true
    for (const { strategy, ends } of absent.filter(isGone)) {
      const removal = { strategy, ...ends, fields: [], by }
      await windDown.remove(removal)
      emit({ type: 'strategy.changed', change: 'removed', ...removal })
    }
    const left = absent.filter((each) => !isGone(each))
    const names = left.length === 0 ? [] : await disabled()
    for (const { strategy, ends, written } of left.filter((each) => names.includes(each.strategy)))
      await writeDisabled({ name: strategy, path: ends.file, onRemove: ends.onRemove, written }, by)
  }

  async function begin(): Promise<void> {
    const running = new Map(instances.strategies().map((each) => [each.name, each]))
    await endAbsent(async () => (files === undefined ? [] : await disabledIn(files)), starter)
    for (const { name, path, onRemove, written } of running.values()) {
      await windDown.takeOver(name, starter.by)
      const { ends: kept, written: before } = accountJournal.state().strategies?.get(name) ?? {}
      const file = resolve(path)
      const isEndKept = (kept?.onRemove ?? 'keep') === onRemove && (kept === undefined || kept.file === file)
      const fields = before === undefined ? [] : changedFields(before, written)
      if (isEndKept && before !== undefined && fields.length === 0) continue
      // Limits have a separate line at a start.
      const told = fields.filter(({ field }) => !field.startsWith('limits.'))
      const entry = { strategy: name, file, onRemove, fields: told, by: starter.by } as const
      const change = told.length === 0 ? 'kept' : 'changed'
      await accountJournal.write({ kind: 'strategy.changed', ...entry, change, written })
      if (told.length > 0) emit({ type: 'strategy.changed', ...entry, change: 'changed' })
    }
  }

  /** One reading after the other. */
  function inTurn(work: () => Promise<OperatorAnswer>): Promise<OperatorAnswer> {
    const next = turn.then(work)
    turn = next.catch(() => undefined)
    return next
  }

  return {
    carryOut: (asked, commander) => inTurn(() => carryOut(asked, commander)),
    set: (asked, commander) => inTurn(() => set(asked, commander)),
    begin,
  }
}

/** The journal's entry of an instance. */
type Written = Pick<LoadedStrategy, 'name' | 'path' | 'onRemove' | 'written'>

const reloaded = { kind: 'operator.command', command: 'strategies.reloaded' } as const

/** All files, or why they cannot be used: with one that is wrong nothing is taken over. */
async function readWhole(
  files: StrategyFiles,
  texts?: ReadonlyMap<string, string>,
): Promise<LoadResult | Extract<OperatorAnswer, { readonly ok: false }>> {
  let read: LoadResult
  try {
    read = await files.read(texts)
  } catch (error) {
    if (!(error instanceof BaseError)) throw error
    return refused([reasonOf(error)])
  }
  if (read.problems.length === 0) return read
  await closeStrategies(read.strategies)
  return refused(read.problems.map(({ message }) => message))
}

/** Names of the files that switch their instance off; none where files cannot be used. */
async function disabledIn(files: StrategyFiles): Promise<readonly string[]> {
  const read = await readWhole(files)
  if ('ok' in read) return []
  await closeStrategies(read.strategies)
  return read.disabled
}

function refused(lines: readonly string[]): Extract<OperatorAnswer, { readonly ok: false }> {
  const reason = `the strategy files are invalid, running strategies are unchanged:\n${lines.join('\n')}`
  return { ok: false, code: 'STRATEGIES_INVALID', reason }
}

function isNothing(plan: RosterPlan, changes: readonly AppliedChange[]): boolean {
  return isIdle(plan) && plan.waiting.length === 0 && changes.length === 0
}

const removalText: Readonly<Record<OnRemove, string>> = {
  keep: 'its orders and position stay',
  reduce: 'its exits close its position',
  close: 'its parts of positions are closed',
}

/** Summarizes the result of a reading in one sentence. */
function statementOf(plan: RosterPlan, changes: readonly AppliedChange[]): string {
  if (isNothing(plan, changes)) return 'the running strategies match the files'
  const named = ({ now: { name }, fields }: ChangedStrategy) =>
    `${name} (${fields.map(fieldText).join(', ')})`
  const parts = [
    ['new', plan.added.map(({ name }) => name)],
    ['changed', plan.changed.map(named)],
    ['disabled', plan.disabled.map(({ name }) => name)],
    ['removed', plan.removed.map(({ name, onRemove }) => `${name} (${removalText[onRemove]})`)],
    ['waiting for a restart', plan.waiting.map(named)],
    [
      'looser, so they need a restart or perpd strategies reload --confirm',
      changes.filter(({ isApplied }) => !isApplied).map(changeText),
    ],
  ] as const
  const said = parts.flatMap(([what, names]) => (names.length === 0 ? [] : [`${what}: ${names.join(', ')}`]))
  return said.length === 0 ? `limits in force: ${changes.map(changeText).join(', ')}` : said.join('; ')
}
