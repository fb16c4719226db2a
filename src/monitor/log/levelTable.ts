/** Which lines are written: a level for all, and levels of single components, changed while perpd runs. */
import { type ComponentLevel, type LogComponent, logComponents } from '../../domain/logLevels.ts'
import type { LineName } from '../events/eventRegister.ts'
import type { Level } from '../events/eventRow.ts'

/** Levels as the settings have them. */
export interface LogLevelSettings {
  /** Level of every component without its own. */
  readonly level: Level
  /** Levels of single components; when one is listed twice, the last counts. */
  readonly levels: readonly ComponentLevel[]
}

/** The levels in force, as they are shown. */
export interface LevelsInForce {
  /** Level of every component without its own. */
  readonly level: Level
  /** Every component with the level that holds for it; `isOwn` when it is not that of all. */
  readonly components: readonly (ComponentLevel & { readonly isOwn: boolean })[]
}

/** The levels in force. */
export interface LevelTable {
  /** Tells whether a line of this name and level is written. */
  isWritten(name: LineName, level: Level): boolean
  /** Sets the level of one component, or of all that have none of their own. */
  set(level: Level, component?: LogComponent): void
  /** Takes over what the settings say, and forgets what was set besides; true when that changes anything. */
  take(settings: LogLevelSettings): boolean
  /** The level of every component now. */
  inForce(): LevelsInForce
  /** `info; host debug, order warn`. */
  text(): string
}

const ranks: Readonly<Record<Level, number>> = { debug: 0, info: 1, warn: 2, error: 3 }

/** A table of levels. */
export function createLevelTable(initial: LogLevelSettings): LevelTable {
  let { level: all } = initial
  let own = ownOf(initial)
  const text = (): string => {
    const each = [...own].sort(([one], [other]) => one.localeCompare(other))
    return [all, ...(each.length === 0 ? [] : [each.map((pair) => pair.join(' ')).join(', ')])].join('; ')
  }
  return {
    isWritten(name, level) {
      const least = own.size === 0 ? all : (own.get(name.slice(0, name.indexOf('.'))) ?? all)
      return ranks[level] >= ranks[least]
    },
    set(level, component) {
      if (component === undefined) all = level
      else own.set(component, level)
    },
    take(settings) {
      const before = text()
      all = settings.level
      own = ownOf(settings)
      return text() !== before
    },
    inForce: () => ({
      level: all,
      components: logComponents.map((component) => {
        const level = own.get(component)
        return { component, level: level ?? all, isOwn: level !== undefined }
      }),
    }),
    text,
  }
}

function ownOf({ levels }: LogLevelSettings): Map<string, Level> {
  return new Map(levels.map(({ component, level }) => [component, level]))
}
