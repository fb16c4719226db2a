/**
 * The folder of strategy files of a world: what each file says, how it changes while the world runs, and what a daemon reads of it. A file is
 * a YAML value that goes through the schema of real files; its kind is the seeded strategy of that name.
 */
import { join } from 'node:path'
import type { Timeline } from '../../src/backtest/lab/timeline.ts'
import { exitSettingsOf } from '../../src/strategy/files/exitBlock.ts'
import { writtenFields } from '../../src/strategy/files/fileLife.ts'
import { fileSchema, limitsOf } from '../../src/strategy/files/fileSchema.ts'
import type { LoadedStrategy, LoadResult } from '../../src/strategy/files/load.ts'
import { StrategyFileError } from '../../src/strategy/files/problem.ts'
import { protectionsOf } from '../../src/strategy/files/protectBlock.ts'
import type { Random } from './random.ts'

/** A strategy file as YAML reads it. */
type FileText = Readonly<Record<string, unknown>>

/** The folder; it outlives the processes. */
export interface StrategyFolder {
  /** Changes with every change of a file. */
  readonly version: number
  /** What a daemon reads. */
  read(): LoadResult
  /** What runs by the files, whatever is broken. */
  whole(): readonly LoadedStrategy[]
  /** Whether the file of this path is gone. */
  isGone(path: string): boolean
  /** What was broken halfway is whole again: nobody starts a daemon over it. */
  mend(): void
}

/** Where the files of every world are. */
const folder = '/strategies'

/** What makes a folder. */
interface FolderParts {
  /** Chance of what the files say and of how they change. */
  readonly random: Random
  readonly timeline: Timeline
  /** The strategies whose files these are, with the limits of their first files. */
  readonly strategies: readonly LoadedStrategy[]
  /** What runs besides, and never changes. */
  readonly others: readonly LoadedStrategy[]
  /** Those that are sure to have exits. */
  readonly withExits: ReadonlySet<string>
  /** More changes come. */
  readonly isLively: boolean
  /** Many come. */
  readonly isCrowded: boolean
  /** Changes come until then, ms. */
  readonly spanMs: number
  /** Nothing changes any more. */
  readonly isOver: () => boolean
  readonly note: (text: string) => void
}

/** Makes the folder of a world, and lays out how it changes. */
export function createStrategyFolder(parts: FolderParts): StrategyFolder {
  const { random, timeline, spanMs, note, isOver, isLively, isCrowded } = parts
  const bases = new Map(parts.strategies.map((each) => [each.name, each]))
  const files = new Map<string, FileText>()
  let version = 1
  let isBroken = false

  for (const base of parts.strategies) {
    const limits = limitsText(base)
    files.set(base.name, {
      ...{ kind: base.strategy.kind, markets: [...base.symbols], cadenceSeconds: base.cadenceMs / 1000 },
      ...(Object.keys(limits).length === 0 ? {} : { limits }),
      ...(parts.withExits.has(base.name) || random.chance(0.5) ? { exit: exitText(random) } : {}),
      ...(random.chance(0.5) ? { protect: protectText(random) } : {}),
      onRemove: random.pick(['keep', 'reduce', 'close']),
    })
  }

  function change(text: string, run: () => void): void {
    if (isOver()) return
    run()
    version += 1
    note(`files ${text}`)
  }

  function changeOne(name: string): void {
    const file = files.get(name)
    if (file === undefined) return
    const isLast = files.size === 1
    const { exit, protect, limits: _, ...rest } = file
    const roll = random.next()
    if (roll < 0.5) {
      const next = {
        ...rest,
        ...(exit !== undefined || random.chance(0.3) ? { exit: exitText(random) } : {}),
        ...(protect !== undefined || random.chance(0.3) ? { protect: protectText(random) } : {}),
        ...(random.chance(0.5) ? { limits: { maxOrdersPerHour: random.int(4, 12) } } : {}),
        ...(random.chance(0.3) ? { onRemove: random.pick(['keep', 'reduce', 'close']) } : {}),
      }
      change(`${name} is another`, () => files.set(name, next))
    } else if (roll < 0.8) {
      // A folder without any file is a mistake, with which no daemon starts.
      if (isLast) return
      change(`${name} is removed`, () => files.delete(name))
      if (random.chance(0.6)) comeBack(name, file)
    } else if (roll < 0.9) {
      change(`${name} is disabled`, () => files.set(name, { ...file, enabled: false }))
      comeBack(name, file)
    } else {
      change('one is broken', () => {
        isBroken = true
      })
      timeline.after(random.int(1_000, 10_000), mend)
    }
  }

  function comeBack(name: string, file: FileText): void {
    timeline.after(random.int(3_000, 50_000), () => change(`${name} is back`, () => files.set(name, file)))
  }

  function mend(): void {
    if (!isBroken) return
    isBroken = false
    version += 1
    note('files are whole again')
  }

  const most = isLively ? 7 : 5
  const changes = isCrowded ? 2 * most : bases.size > 0 && random.chance(0.7) ? random.int(1, most) : 0
  for (let left = changes; left > 0; left -= 1) {
    timeline.after(random.int(8_000, spanMs), () => {
      changeOne(random.pick([...bases.keys()]))
      // Two files that are saved at once are taken over together.
      if (random.chance(0.4)) changeOne(random.pick([...bases.keys()]))
    })
  }

  function whole(): readonly LoadedStrategy[] {
    const enabled = [...files].filter(([, text]) => !isDisabled(text))
    return [
      ...enabled.map(([name, text]) => loadedOf(bases.get(name) as LoadedStrategy, text)),
      ...parts.others,
    ]
  }

  return {
    get version() {
      return version
    },
    read() {
      if (isBroken) return { strategies: [], disabled: [], problems: [broken()] }
      const disabled = [...files].filter(([, text]) => isDisabled(text)).map(([name]) => name)
      return { strategies: whole(), disabled, problems: [] }
    },
    whole,
    isGone: (path) => ![...files.keys()].some((name) => pathOf(name) === path),
    mend,
  }
}

function isDisabled(text: FileText): boolean {
  return text.enabled === false
}

/** The path of an instance's file. */
export function pathOf(name: string): string {
  return join(folder, `${name}.yaml`)
}

function broken(): StrategyFileError {
  return new StrategyFileError({ file: folder, what: 'is half written', fix: 'save it whole' })
}

/** The strategy as its file makes it. */
function loadedOf(base: LoadedStrategy, text: FileText): LoadedStrategy {
  const fields = fileSchema.parse(text)
  return {
    ...base,
    path: pathOf(base.name),
    limits: limitsOf(fields.limits),
    ...(fields.exit === undefined ? {} : { exits: exitSettingsOf(fields.exit) }),
    ...(fields.protect === undefined ? {} : { protect: protectionsOf(fields.protect) }),
    onRemove: fields.onRemove,
    written: writtenFields(text),
  }
}

/** The limits that a strategy begins with, as a file writes them. */
function limitsText({ limits }: LoadedStrategy): FileText {
  const { maxPositionSizeUsd, maxOrdersPerHour } = limits
  return {
    ...(maxPositionSizeUsd === undefined
      ? {}
      : { maxPositionSizeUsd: Number(maxPositionSizeUsd / 10n ** 30n) }),
    ...(maxOrdersPerHour === undefined ? {} : { maxOrdersPerHour }),
  }
}

/** Exits near enough that prices come to them within the run. */
function exitText(random: Random): FileText {
  const near = () => ({ bps: random.int(20, 120) })
  const hasStop = random.chance(0.8)
  const trails = random.chance(hasStop ? 0.3 : 0.5)
  const target = random.pick(['none', 'one', 'one', 'ladder', 'rest'] as const)
  const any = hasStop || trails || target !== 'none'
  return {
    ...(hasStop || !any ? { stopLoss: near() } : {}),
    ...(target === 'one' ? { takeProfit: near() } : {}),
    ...(target === 'ladder' ? { takeProfit: ladder(random, 10_000) } : {}),
    ...(target === 'rest' ? { takeProfit: ladder(random, 8_000) } : {}),
    ...(trails
      ? {
          trailingStop: {
            ...near(),
            ...(random.chance(0.5) ? { activation: { bps: random.int(5, 60) } } : {}),
          },
        }
      : {}),
    ...((hasStop || trails || !any) && random.chance(0.3)
      ? { breakEven: { after: { bps: random.int(10, 60) }, offsetBps: random.int(0, 8) } }
      : {}),
    ...(random.chance(0.2) ? { timeLimitSeconds: random.int(20, 120) } : {}),
    moveEverySeconds: random.pick([5, 10, 20]),
    moveStepUsd: random.pick([0, 0.1, 0.5]),
  }
}

/** Two targets that close so much of the order together. */
function ladder(random: Random, closedBps: number): readonly FileText[] {
  const first = random.int(2_000, closedBps - 2_000)
  const nearBps = random.int(15, 60)
  return [
    { bps: nearBps, shareBps: first },
    { bps: nearBps + random.int(10, 60), shareBps: closedBps - first },
  ]
}

function protectText(random: Random): FileText {
  const cools = random.chance(0.7)
  return {
    ...(cools ? { cooldownAfterExitSeconds: random.int(10, 60) } : {}),
    ...(!cools || random.chance(0.5)
      ? {
          stopsInWindow: {
            stops: random.int(1, 2),
            windowSeconds: random.int(30, 120),
            pauseSeconds: random.int(20, 90),
          },
        }
      : {}),
  }
}
