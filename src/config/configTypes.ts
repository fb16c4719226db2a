/** The configuration as the daemon uses it: typed, in the domain's units, frozen; paths are absolute. */
import type { typedConfig } from './typedConfig.ts'

type ReadonlyDeep<T> = T extends object ? { readonly [K in keyof T]: T[K] } : T

/** The effective configuration. Its fields are the settings (`sections/`), and what `typedConfig.ts` makes of several. */
export type Config = { readonly [K in keyof Sections]: ReadonlyDeep<Sections[K]> }

type Sections = ReturnType<typeof typedConfig>
