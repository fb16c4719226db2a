/** The report of the control port on what a start of perpd would take. */

/** A setting as a start would take it. */
export interface StartSetting {
  readonly key: string
  /** Without what is secret in it. */
  readonly value: unknown
  /** `default`, `profile F`, `file F`, `env NAME` or `flag --x`. */
  readonly origin: string
  /** Value that this run started with, where it differs. */
  readonly running?: {
    readonly value: unknown
    /** `limits`: the command that applies limits takes it over too; `restart`: a start alone does. */
    readonly taken: 'limits' | 'restart'
  }
}

/** Settings, warnings and errors of a start. */
export interface StartReport {
  /** In the order of docs/reference/configuration.md; of this run where the configuration cannot be used as it is now. */
  readonly settings: readonly StartSetting[]
  /** Settings that are allowed but deserve attention, one sentence each. */
  readonly warnings: readonly string[]
  /** Why nothing would start; absent: it would. */
  readonly problems?: readonly string[]
}
