/** A price that hosts differ on: each host's statement, and the band within which a reduction is signed. */
import type { Usd } from '../../protocol/units.ts'

/** A price that hosts differ on; USD per whole index token. */
export interface ContestedPrice {
  /** The widest band of those that agree. */
  readonly lowest: Usd
  readonly highest: Usd
  readonly words: readonly {
    /** The oracle service's price, or the mark of the application API. */
    readonly kind: 'oracle' | 'mark'
    readonly host: string
    readonly price: Usd
    /** True where the band is made of it. */
    readonly isTaken: boolean
  }[]
}
