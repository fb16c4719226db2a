/** Commands of the command line as data: help, flags and arguments; the code that runs one is the command line's. */

/** Names that a shell completes from the running daemon. `orders` are the newest ones, ended or not; `open-orders` those that have not ended. */
export const liveSubjects = [
  'orders',
  'open-orders',
  'strategies',
  'tasks',
  'discrepancies',
  'markets',
] as const

/** One of them. */
export type LiveSubject = (typeof liveSubjects)[number]

/** A flag of one command; settings are flags of every command. */
export interface OwnFlag {
  readonly name: string
  /** The running daemon has names for its value. A flag of this name has the same in every command. */
  readonly among?: LiveSubject
  /** The values that it may have, for completion; absent: any. */
  readonly words?: readonly string[]
  /** Name of its value for the usage line; absent for a flag without value. */
  readonly value?: string
  /** The value may be left out; one that begins with a digit is accepted. */
  readonly isValueOptional?: true
  /** The command is refused without it. */
  readonly isNeeded?: true
  /** The setting that it stands for, with its value. */
  readonly setting?: string
  readonly doc: string
}

/** An argument of a command. */
export interface OwnArgument {
  readonly name: string
  /** The running daemon has names for it. */
  readonly among?: LiveSubject
  readonly doc: string
  readonly isOptional?: boolean
  /** Field of the command's body, or of its path, that it gives; its own name where absent. */
  readonly field?: string
}

/** A command's description. */
export interface CommandLine {
  readonly name: string
  /** One line for the list of commands. */
  readonly summary: string
  /** Further lines of its help. */
  readonly details?: string
  /** The first argument. `isMany`: it may be given several times; nothing stands behind it then. */
  readonly positional?: OwnArgument & { readonly isMany?: true }
  /** Those after the first one; each must be given. */
  readonly more?: readonly OwnArgument[]
  /** A flag gives the field of the body with its name in camel case. */
  readonly flags: readonly OwnFlag[]
  /** Whole command lines that a user may type; in the help, in docs/reference/commands.md, and tried by tests. */
  readonly examples: readonly [string, ...string[]]
  /** Help with one word as the first argument, by that word; the command itself is the same. */
  readonly helpOfWord?: Readonly<Record<string, CommandLine>>
  /** With `--yes` among its flags: only a person at a terminal is asked. A script that protects is not held up by a question. */
  readonly asksNoScript?: true
  /** Flags of another command that this one is mistaken for. */
  readonly elsewhere?: { readonly flags: readonly string[]; readonly command: string }
  /**
   * Flags that arguments beyond those above are taken for, in their order, to name the command that was meant. `initial` stands
   * where neither the flag nor an argument for it was given.
   */
  readonly stray?: readonly { readonly flag: string; readonly initial?: string }[]
  /** Flags of settings that it always has; those that are typed come behind them. */
  readonly sets?: readonly string[]
  /** It writes the settings file, and would omit settings that are none of its flags. */
  readonly takesNoSettings?: true
  /** A program reads what it prints: no line is folded. */
  readonly isForProgram?: true
  /** It only asks the running daemon: a problem of the configuration that leaves the way to it open does not stop it. */
  readonly isForRunning?: true
  /** It only reads the journal: a problem of the configuration that leaves open where that is does not stop it. */
  readonly isOfJournal?: true
}

/** Flags and arguments that several commands share. */
export const byFlag = {
  name: 'by',
  value: 'NAME',
  doc: 'your name for the journal; your user name when not given',
} as const
/** The name of the operator, where the user's own is not taken for it. */
export const namedBy = {
  name: 'by',
  value: 'NAME',
  doc: 'your name for the journal',
  isNeeded: true,
} as const
/** The answer as JSON. */
export const json = { name: 'json', doc: 'print JSON instead of text' } as const
/** Rows for a spreadsheet. */
export const csv = { name: 'csv', doc: 'print rows for a spreadsheet' } as const
/** Why, for the journal. */
export const reasonFlag = { name: 'reason', value: 'TEXT', doc: 'reason for the journal' } as const
/** The confirmation on the command line. */
export const yesFlag = { name: 'yes', doc: 'skip the confirmation' } as const
/** The same of a command that asks no script. */
export const yesAtTerminal = {
  name: 'yes',
  doc: 'skip the confirmation at a terminal; a script needs it only to take a stop-loss away or loosen it',
} as const
/** The id that an order by hand is carried out once by. */
const onceById = {
  name: 'id',
  value: 'ID',
  doc: 'a repeated command with the same id has no second effect; 4 to 40 letters, digits, . _ or -; random when not given',
} as const
/** An order is not followed. */
const noWait = { name: 'no-wait', doc: 'do not follow the order to its outcome' } as const
/** Flags of a command whose one order is followed to its outcome, after its own. */
export const orderFlags = [onceById, noWait, byFlag, json] as const
/** A token of the market's pool. */
export const collateralFlag = {
  name: 'collateral',
  value: 'SIDE',
  doc: "long or short: which token of the market's pool backs the position",
} as const
/** A market. */
export const marketName = {
  name: 'market',
  among: 'markets',
  doc: 'a market: its whole symbol, as "ETH/USD [WETH-USDC]", its address, or ETH where one market has it',
} as const
/** A side. */
export const directionName = { name: 'direction', doc: 'long or short' } as const
/** An order by its id. */
export const orderName = {
  name: 'intentId',
  among: 'open-orders',
  doc: "an order's id, or its first characters; perpd orders lists them",
} as const
/** A strategy by its name. */
export const strategyName = {
  name: 'NAME',
  among: 'strategies',
  doc: 'the strategy, as in perpd strategies',
  field: 'strategy',
} as const
